import { graphql } from "./document.ts";
import { MessageFields, PageFields, SessionFields, UsageFields } from "./record-documents.ts";

// Sessions and their raw logs.

export const GetSession = graphql(`query GetSession($id: ID!) { session(id: $id) { ...SessionFields } }`, [
  SessionFields,
]);

export const ListSessions = graphql(
  `
  query ListSessions(
    $filter: SessionFilter, $orderBy: SessionOrder, $count: Boolean!
    $first: Int, $after: String, $last: Int, $before: String, $offset: Int
  ) {
    sessions(
      filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before, offset: $offset
    ) {
      edges { cursor node { ...SessionFields } }
      pageInfo { ...PageFields }
      totalCount @include(if: $count)
    }
  }
`,
  [SessionFields, PageFields],
);

export const CreateSession = graphql(
  `
  mutation CreateSession($input: CreateSessionInput!) {
    createSession(input: $input) { created session { ...SessionFields } }
  }
`,
  [SessionFields],
);

export const UpdateSession = graphql(
  `
  mutation UpdateSession($input: UpdateSessionInput!) {
    updateSession(input: $input) { session { ...SessionFields } }
  }
`,
  [SessionFields],
);

export const DeleteSession = graphql(`
  mutation DeleteSession($input: DeleteSessionInput!) { deleteSession(input: $input) { deletedSessionId } }
`);

export const ListMessages = graphql(
  `
  query ListMessages(
    $sessionId: ID!, $afterSequence: Int, $throughSequence: Int, $roles: [MessageRole!], $requestId: ID
    $first: Int, $after: String, $last: Int, $before: String, $offset: Int
    $count: Boolean!, $text: Boolean!, $payload: Boolean!, $metadata: Boolean!, $tags: Boolean!
  ) {
    session(id: $sessionId) {
      rawMessages(
        afterSequence: $afterSequence, throughSequence: $throughSequence, roles: $roles, requestId: $requestId
        first: $first, after: $after, last: $last, before: $before, offset: $offset
      ) {
        edges { cursor node { ...MessageFields } }
        pageInfo { ...PageFields }
        totalCount @include(if: $count)
      }
    }
  }
`,
  [MessageFields, PageFields],
);

export const LastMessage = graphql(
  `
  query LastMessage(
    $sessionId: ID!, $roles: [MessageRole!], $text: Boolean!, $payload: Boolean!, $metadata: Boolean!, $tags: Boolean!
  ) {
    session(id: $sessionId) { lastMessage(roles: $roles) { ...MessageFields } }
  }
`,
  [MessageFields],
);

export const ListRunMessages = graphql(
  `
  query ListRunMessages(
    $runId: ID!, $first: Int, $after: String, $last: Int, $before: String
    $count: Boolean!, $text: Boolean!, $payload: Boolean!, $metadata: Boolean!, $tags: Boolean!
  ) {
    run(id: $runId) {
      messages(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor node { ...MessageFields } }
        pageInfo { ...PageFields }
        totalCount @include(if: $count)
      }
    }
  }
`,
  [MessageFields, PageFields],
);

export const AppendMessages = graphql(
  `
  mutation AppendMessages(
    $input: AppendMessagesInput!, $text: Boolean!, $payload: Boolean!, $metadata: Boolean!, $tags: Boolean!
  ) {
    appendMessages(input: $input) { duplicates session { ...SessionFields } messages { ...MessageFields } }
  }
`,
  [SessionFields, MessageFields],
);

export const ListUsage = graphql(
  `
  query ListUsage(
    $from: DateTime!, $to: DateTime!, $interval: UsageInterval, $groupBy: [UsageDimension!]
    $first: Int, $after: String, $count: Boolean!
  ) {
    usage(from: $from, to: $to, interval: $interval, groupBy: $groupBy, first: $first, after: $after) {
      edges {
        cursor
        node { startsAt agentName provider model userId messageCount runCount tokens { ...UsageFields } }
      }
      pageInfo { ...PageFields }
      totalCount @include(if: $count)
    }
  }
`,
  [PageFields, UsageFields],
);

export const GetTenantUsage = graphql(
  `query GetTenantUsage { tenant { usage { sessionCount messageCount byteCount tokens { ...UsageFields } } } }`,
  [UsageFields],
);
