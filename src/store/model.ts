import type { JsonObject } from "../json.ts";
import type { Instant } from "../time.ts";

// The nouns of the store. Names are the API contract's; `null` is the wire's absence.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type TenantId = Branded<"TenantId">;
export type SessionId = Branded<"SessionId">;
export type UserId = Branded<"UserId">;
export type RequestId = Branded<"RequestId">;
export type MessageId = Branded<"MessageId">;
export type RunId = Branded<"RunId">;
export type SnapshotId = Branded<"SnapshotId">;
export type KeyId = Branded<"KeyId">;

/**
 * One life of a session id: a session that is deleted and created again has another generation. Ascending within a
 * tenant, never used twice. What must not outlive a deletion (cursors, streams) holds one of these.
 */
export type Generation = number & { readonly [brand]: "Generation" };

export const MESSAGE_ROLES = ["SYSTEM", "USER", "ASSISTANT", "TOOL", "AGENT"] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];

export const IMAGE_DETAILS = ["AUTO", "LOW", "HIGH"] as const;
export type ImageDetail = (typeof IMAGE_DETAILS)[number];

export interface TextPart {
  readonly kind: "text";
  readonly text: string;
}
export interface ImagePart {
  readonly kind: "image";
  readonly url: string | null;
  readonly data: string | null;
  readonly mediaType: string | null;
  readonly detail: ImageDetail;
  readonly altText: string | null;
}
export interface FilePart {
  readonly kind: "file";
  readonly url: string | null;
  readonly data: string | null;
  readonly mediaType: string | null;
  readonly name: string | null;
}
export type ContentPart = TextPart | ImagePart | FilePart;

interface MessageBase {
  readonly text: string;
  readonly parts: readonly ContentPart[];
  readonly attributes: JsonObject;
  readonly includeInContext: boolean;
}
export interface SystemMessage extends MessageBase {
  readonly role: "SYSTEM";
}
export interface UserMessage extends MessageBase {
  readonly role: "USER";
}
export interface AgentMessage extends MessageBase {
  readonly role: "AGENT";
}
export interface AssistantMessage extends MessageBase {
  readonly role: "ASSISTANT";
  readonly reasoning: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly provider: string | null;
  readonly model: string | null;
  /** JSON texts, byte for byte as they came. */
  readonly replayBlocks: readonly string[];
}
export interface ToolMessage extends MessageBase {
  readonly role: "TOOL";
  readonly toolCallId: string;
  readonly name: string;
  readonly success: boolean;
}
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage | AgentMessage;

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, byte for byte as it came. */
  readonly arguments: string;
}

/** Every count saturates at 2^53 − 1. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}
export const NO_USAGE: TokenUsage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

export interface StreamTiming {
  readonly startedAt: Instant;
  readonly completedAt: Instant;
  readonly durationNs: number;
}
export interface MessageTiming extends StreamTiming {
  readonly reasoning: StreamTiming | null;
  readonly content: StreamTiming | null;
}

export interface Session {
  readonly id: SessionId;
  readonly generation: Generation;
  readonly parentSessionId: SessionId | null;
  readonly sessionType: number;
  readonly title: string | null;
  readonly agentName: string | null;
  readonly userId: UserId | null;
  readonly metadata: JsonObject;
  readonly messageCount: number;
  readonly lastSequence: number;
  readonly usage: TokenUsage;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** Tenant-wide change number of its latest change; of its creation. */
  readonly changeNumber: number;
  readonly createdChangeNumber: number;
}

/**
 * A stored message. `text`, `payload`, `metadata` and `tags` are there where the read selected them, else undefined.
 * `payload` is the whole message as JSON (message-codec reads it); null where the row is damaged on disk.
 */
export interface RawMessage {
  readonly id: MessageId;
  readonly sessionId: SessionId;
  readonly sequence: number;
  readonly requestId: RequestId;
  readonly runId: RunId | null;
  readonly turn: number | null;
  readonly role: MessageRole;
  readonly toolName: string | null;
  /** UTF-8 size of the payload. */
  readonly byteSize: number;
  readonly timing: MessageTiming;
  readonly usage: TokenUsage | null;
  readonly createdAt: Instant;
  readonly text: string | undefined;
  readonly payload: string | null | undefined;
  readonly metadata: JsonObject | undefined;
  readonly tags: JsonObject | undefined;
}

/** Which of the costly columns a read wants. */
export interface RawMessageSelection {
  readonly text: boolean;
  readonly payload: boolean;
  readonly metadata: boolean;
  readonly tags: boolean;
}
export const EVERYTHING: RawMessageSelection = Object.freeze({ text: true, payload: true, metadata: true, tags: true });

export interface ContextSnapshot {
  readonly id: SnapshotId;
  readonly sessionId: SessionId;
  readonly version: number;
  readonly summary: string;
  readonly attributes: JsonObject;
  readonly compactedThroughSequence: number;
  readonly usage: TokenUsage | null;
  readonly createdAt: Instant;
}

export const CONTEXT_REPAIR_KINDS = ["MISSING_RESULT", "LATE_RESULT", "ORPHAN_RESULT", "DUPLICATE_RESULT"] as const;
export type ContextRepairKind = (typeof CONTEXT_REPAIR_KINDS)[number];
export interface ContextRepair {
  readonly kind: ContextRepairKind;
  readonly sequence: number;
  readonly toolCallId: string;
}

export interface ContextMessage {
  /** Null for a synthesized result. */
  readonly sequence: number | null;
  readonly id: MessageId | null;
  readonly payload: string;
}

export const RUN_STATUSES = ["RUNNING", "COMPLETED", "FAILED", "CANCELLED", "ABANDONED"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export const RUN_OUTCOMES = ["COMPLETED", "FAILED", "CANCELLED"] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];
export const AGENT_PHASES = [
  "CREATED",
  "LOADING_CONTEXT",
  "READY",
  "COMPACTING",
  "GENERATING",
  "RUNNING_TOOL",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
] as const;
export type AgentPhase = (typeof AGENT_PHASES)[number];

export interface RunError {
  readonly name: string;
  readonly message: string;
}

export interface Run {
  readonly id: RunId;
  readonly sessionId: SessionId;
  readonly requestId: RequestId;
  readonly agentName: string | null;
  /** Derived at the moment of reading: ABANDONED is a question of time. */
  readonly status: RunStatus;
  readonly phase: AgentPhase;
  readonly turn: number;
  readonly activeTool: string | null;
  readonly error: RunError | null;
  readonly usage: TokenUsage;
  readonly lastEventIndex: number;
  readonly cancelRequestedAt: Instant | null;
  readonly startedAt: Instant;
  readonly updatedAt: Instant;
  readonly leaseExpiresAt: Instant;
  readonly completedAt: Instant | null;
}

export const RUN_EVENT_TYPES = [
  "RUN_STARTED",
  "PHASE_CHANGED",
  "TURN_STARTED",
  "TURN_COMPLETED",
  "MODEL_STARTED",
  "TEXT_DELTA",
  "REASONING_DELTA",
  "TOOL_CALL_DELTA",
  "MODEL_COMPLETED",
  "TOOL_STARTED",
  "TOOL_COMPLETED",
  "TOOL_FAILED",
  "COMPACTION_STARTED",
  "COMPACTION_COMPLETED",
  "CUSTOM",
  "RUN_COMPLETED",
  "RUN_FAILED",
  "RUN_CANCELLED",
] as const;
export type RunEventType = (typeof RUN_EVENT_TYPES)[number];

export interface ToolCallRef {
  readonly id: string;
  readonly name: string;
}

export interface RunEvent {
  readonly runId: RunId;
  readonly index: number;
  readonly sessionId: SessionId;
  readonly requestId: RequestId;
  readonly type: RunEventType;
  readonly phase: AgentPhase;
  readonly turn: number;
  readonly toolCall: ToolCallRef | null;
  readonly messageId: MessageId | null;
  readonly delta: string | null;
  readonly name: string | null;
  readonly payload: JsonObject | null;
  readonly occurredAt: Instant;
}

/** Deltas are passed on and never stored; all other events are stored. */
export function isDelta(type: RunEventType): boolean {
  return type === "TEXT_DELTA" || type === "REASONING_DELTA" || type === "TOOL_CALL_DELTA";
}

export const USAGE_INTERVALS = ["HOUR", "DAY", "MONTH"] as const;
export type UsageInterval = (typeof USAGE_INTERVALS)[number];
export const USAGE_DIMENSIONS = ["AGENT", "MODEL", "USER"] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

export interface UsageBucket {
  readonly startsAt: Instant;
  readonly agentName: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly userId: UserId | null;
  readonly messageCount: number;
  readonly runCount: number;
  readonly tokens: TokenUsage;
}

export interface TenantUsage {
  readonly sessionCount: number;
  readonly messageCount: number;
  readonly byteCount: number;
  readonly tokens: TokenUsage;
}

/** Null means no limit. */
export interface TenantLimits {
  readonly maxSessions: number | null;
  readonly maxMessages: number | null;
  readonly maxBytes: number | null;
  readonly requestsPerMinute: number | null;
}

export const SESSION_CHANGE_KINDS = ["CREATED", "UPDATED", "DELETED"] as const;
export type SessionChangeKind = (typeof SESSION_CHANGE_KINDS)[number];
