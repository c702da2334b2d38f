import { graphql } from "./document.ts";

// The records of the store, as fragments: every field that the API has of them.

export const UsageFields = graphql(`
  fragment UsageFields on TokenUsage { inputTokens outputTokens cacheReadTokens cacheWriteTokens reasoningTokens }
`);

export const SessionFields = graphql(
  `
  fragment SessionFields on Session {
    id parentSessionId sessionType title agentName userId metadata messageCount lastSequence createdAt updatedAt
    usage { ...UsageFields }
  }
`,
  [UsageFields],
);

/** Needs the variables $text, $payload, $metadata and $tags: the columns that cost. */
export const MessageFields = graphql(
  `
  fragment MessageFields on RawMessage {
    id sessionId sequence requestId runId turn role toolName byteSize createdAt
    text @include(if: $text)
    payload @include(if: $payload)
    metadata @include(if: $metadata)
    tags @include(if: $tags)
    usage { ...UsageFields }
    timing {
      startedAt completedAt durationNs
      reasoning { startedAt completedAt durationNs }
      content { startedAt completedAt durationNs }
    }
  }
`,
  [UsageFields],
);

export const PageFields = graphql(`
  fragment PageFields on PageInfo { hasNextPage hasPreviousPage startCursor endCursor }
`);

export const SnapshotFields = graphql(
  `
  fragment SnapshotFields on ContextSnapshot {
    id sessionId version summary attributes compactedThroughSequence createdAt
    usage { ...UsageFields }
  }
`,
  [UsageFields],
);

export const RunFields = graphql(
  `
  fragment RunFields on Run {
    id sessionId requestId agentName status phase turn activeTool lastEventIndex
    cancelRequestedAt startedAt updatedAt leaseExpiresAt completedAt
    error { name message }
    usage { ...UsageFields }
  }
`,
  [UsageFields],
);

export const RunEventFields = graphql(`
  fragment RunEventFields on RunEvent {
    runId index sessionId requestId type phase turn messageId delta name payload occurredAt
    toolCall { id name }
  }
`);

export const ContextFields = graphql(
  `
  fragment ContextFields on SessionContext {
    snapshotVersion lastSequence
    session { ...SessionFields }
    snapshot { ...SnapshotFields }
    repairs { kind sequence toolCallId }
  }
`,
  [SessionFields, SnapshotFields],
);

export const ContextMessagesFields = graphql(
  `
  fragment ContextMessagesFields on ContextMessageConnection {
    edges { cursor node { sequence id payload } }
    pageInfo { ...PageFields }
  }
`,
  [PageFields],
);
