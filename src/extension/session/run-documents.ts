import { graphql } from "./document.ts";
import {
  ContextFields,
  ContextMessagesFields,
  MessageFields,
  PageFields,
  RunEventFields,
  RunFields,
  SessionFields,
  SnapshotFields,
} from "./record-documents.ts";

// Contexts, snapshots and runs.

export const ReadContext = graphql(
  `
  query ReadContext(
    $sessionId: ID!, $throughSequence: Int, $messages: Boolean!, $count: Boolean!
    $first: Int, $after: String, $last: Int, $before: String
  ) {
    sessionContext(sessionId: $sessionId, throughSequence: $throughSequence) {
      ...ContextFields
      messages(first: $first, after: $after, last: $last, before: $before) @include(if: $messages) {
        ...ContextMessagesFields
        totalCount @include(if: $count)
      }
    }
  }
`,
  [ContextFields, ContextMessagesFields],
);

export const CreateSnapshot = graphql(
  `
  mutation CreateSnapshot($input: CreateSnapshotInput!) {
    createSnapshot(input: $input) { snapshot { ...SnapshotFields } }
  }
`,
  [SnapshotFields],
);

export const LatestSnapshot = graphql(
  `query LatestSnapshot($sessionId: ID!) { session(id: $sessionId) { latestSnapshot { ...SnapshotFields } } }`,
  [SnapshotFields],
);

export const ListSnapshots = graphql(
  `
  query ListSnapshots(
    $sessionId: ID!, $first: Int, $after: String, $last: Int, $before: String, $count: Boolean!
  ) {
    session(id: $sessionId) {
      snapshots(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor node { ...SnapshotFields } }
        pageInfo { ...PageFields }
        totalCount @include(if: $count)
      }
    }
  }
`,
  [SnapshotFields, PageFields],
);

export const RewindSession = graphql(
  `
  mutation RewindSession(
    $input: RewindSessionInput!, $text: Boolean!, $payload: Boolean!, $metadata: Boolean!, $tags: Boolean!
  ) {
    rewindSession(input: $input) { session { ...SessionFields } removed { ...MessageFields } }
  }
`,
  [SessionFields, MessageFields],
);

export const StartRun = graphql(
  `mutation StartRun($input: StartRunInput!) { startRun(input: $input) { run { ...RunFields } } }`,
  [RunFields],
);

/** A run's start and what its model is to be given, in one request. */
export const StartRunWithContext = graphql(
  `
  mutation StartRunWithContext($input: StartRunInput!, $first: Int!) {
    startRun(input: $input) {
      run {
        ...RunFields
        session { context { ...ContextFields messages(first: $first) { ...ContextMessagesFields } } }
      }
    }
  }
`,
  [RunFields, ContextFields, ContextMessagesFields],
);

export const RecordRunEvents = graphql(
  `
  mutation RecordRunEvents($input: RecordRunEventsInput!) {
    recordRunEvents(input: $input) { run { ...RunFields } recorded { ...RunEventFields } }
  }
`,
  [RunFields, RunEventFields],
);

export const FinishRun = graphql(
  `mutation FinishRun($input: FinishRunInput!) { finishRun(input: $input) { ended run { ...RunFields } } }`,
  [RunFields],
);

export const RequestRunCancel = graphql(
  `
  mutation RequestRunCancel($input: RequestRunCancelInput!) { requestRunCancel(input: $input) { run { ...RunFields } } }
`,
  [RunFields],
);

export const GetRun = graphql(`query GetRun($id: ID!) { run(id: $id) { ...RunFields } }`, [RunFields]);

export const ListRuns = graphql(
  `
  query ListRuns(
    $filter: RunFilter, $first: Int, $after: String, $last: Int, $before: String, $count: Boolean!
  ) {
    runs(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { ...RunFields } }
      pageInfo { ...PageFields }
      totalCount @include(if: $count)
    }
  }
`,
  [RunFields, PageFields],
);

export const ListSessionRuns = graphql(
  `
  query ListSessionRuns(
    $sessionId: ID!, $first: Int, $after: String, $last: Int, $before: String, $count: Boolean!
  ) {
    session(id: $sessionId) {
      runs(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor node { ...RunFields } }
        pageInfo { ...PageFields }
        totalCount @include(if: $count)
      }
    }
  }
`,
  [RunFields, PageFields],
);

export const ActiveRun = graphql(
  `query ActiveRun($sessionId: ID!) { session(id: $sessionId) { activeRun { ...RunFields } } }`,
  [RunFields],
);

export const LatestRun = graphql(
  `query LatestRun($sessionId: ID!) { session(id: $sessionId) { latestRun { ...RunFields } } }`,
  [RunFields],
);

export const ListRunEvents = graphql(
  `
  query ListRunEvents(
    $runId: ID!, $first: Int, $after: String, $last: Int, $before: String, $count: Boolean!
  ) {
    run(id: $runId) {
      events(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor node { ...RunEventFields } }
        pageInfo { ...PageFields }
        totalCount @include(if: $count)
      }
    }
  }
`,
  [RunEventFields, PageFields],
);

/**
 * Writes of one run in one request, in this order: its report, its messages, its end. A refusal of one hides nothing
 * of the others. What is not to be written is left out by its flag.
 */
export const WriteRun = graphql(
  `
  mutation WriteRun(
    $events: RecordRunEventsInput!, $report: Boolean!
    $messages: AppendMessagesInput!, $append: Boolean!
    $end: FinishRunInput!, $finish: Boolean!
  ) {
    recordRunEvents(input: $events) @include(if: $report) { run { id leaseExpiresAt cancelRequestedAt } }
    appendMessages(input: $messages) @include(if: $append) {
      messages { id sequence run { id leaseExpiresAt cancelRequestedAt } }
    }
    finishRun(input: $end) @include(if: $finish) { run { id } }
  }
`,
  [],
);
