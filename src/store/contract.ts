import type { JsonObject } from "../json.ts";
import type { Instant } from "../time.ts";
import type {
  AgentPhase,
  ContextMessage,
  ContextRepair,
  ContextSnapshot,
  Generation,
  ImageDetail,
  MessageRole,
  RawMessage,
  RawMessageSelection,
  Run,
  RunEvent,
  RunEventType,
  RunOutcome,
  RunStatus,
  Session,
  SessionChangeKind,
  SessionId,
  TenantUsage,
  UsageBucket,
  UsageDimension,
  UsageInterval,
  UserId,
} from "./model.ts";
import type { Maybe, Page, PageRequest } from "./page.ts";
import type { ReadBudget } from "./read-budget.ts";

/**
 * What a caller can reach within its tenant. `userId`: only this end user's sessions (and what hangs on them) exist.
 * Messages of roles that are not visible do not exist; roles that are not writable are refused (FORBIDDEN).
 */
export interface Reach {
  readonly userId: UserId | null;
  readonly visibleRoles: ReadonlySet<MessageRole>;
  readonly writableRoles: ReadonlySet<MessageRole>;
}

/** All of one tenant's data, before anybody in particular asks for it. */
export interface TenantStore {
  /** The store as one caller sees it. Nothing widens a reach again. */
  within(reach: Reach, budget?: ReadBudget): SessionStore;
}

/**
 * One tenant's sessions as one caller reaches them: whole operations, plain records, no engine. Every method may throw
 * UNAVAILABLE (the store can't be read or written now; a repeat is safe) and nothing but GatewayErrors. Ids come as
 * plain text: one that can't exist reads as missing. A promise of a write resolves only when it is on disk.
 * Numbers in brackets refer to docs/decisions.md, which settles what the API contract leaves open.
 */
export interface SessionStore {
  // ---- sessions

  /** In the order asked for; null for one that is missing or out of reach. */
  getSessions(ids: readonly string[]): Promise<readonly (Session | null)[]>;
  listSessions(request: ListSessions): Promise<Page<Session>>;
  /** CONFLICT ID_TAKEN where the id exists, out of reach or not, unless `allowExisting` and in reach [24, 26]. */
  createSession(input: CreateSessionInput): Promise<{ readonly session: Session; readonly created: boolean }>;
  /** NOT_FOUND; BAD_USER_INPUT without a single field. `undefined` leaves a field as it is, null clears it. */
  updateSession(input: UpdateSessionInput): Promise<Session>;
  /** Null where there was none. Gone for every reader when it resolves; rows are erased afterwards in slices [25]. */
  deleteSession(sessionId: string): Promise<SessionId | null>;
  deleteUserSessions(userId: string): Promise<readonly SessionId[]>;

  // ---- raw log

  /** See decisions 1–10 for the order of checks. NOT_FOUND for a deleted session; creates one never heard of. */
  appendMessages(input: AppendMessagesInput): Promise<AppendMessagesResult>;
  /** Null for a session that is missing; BAD_USER_INPUT for arguments, cursors of elsewhere among them. */
  listMessages(request: ListMessages): Promise<Page<RawMessage> | null>;
  lastMessage(
    sessionId: string,
    roles: Maybe<readonly MessageRole[]>,
    select: RawMessageSelection,
  ): Promise<RawMessage | null>;
  listRunMessages(runId: string, page: PageRequest, select: RawMessageSelection): Promise<Page<RawMessage> | null>;

  // ---- context

  /**
   * What a model would be given [12–15]. Null for a session that is not there: the caller decides between an empty
   * context and NOT_FOUND. FORBIDDEN unless all five roles are visible; UNAVAILABLE where a message in it is damaged.
   */
  readContext(request: ReadContext): Promise<ContextView | null>;
  createSnapshot(input: CreateSnapshotInput): Promise<ContextSnapshot>;
  latestSnapshot(sessionId: string): Promise<ContextSnapshot | null>;
  listSnapshots(sessionId: string, page: PageRequest): Promise<Page<ContextSnapshot> | null>;
  /** `removed` lists at most 1,000 messages, oldest first; `select` says which columns of them. */
  rewindSession(input: RewindSessionInput, select: RawMessageSelection): Promise<RewindResult>;

  // ---- runs [16–19]

  startRun(input: StartRunInput): Promise<Run>;
  recordRunEvents(input: RecordRunEventsInput): Promise<RecordRunEventsResult>;
  finishRun(input: FinishRunInput): Promise<RunEnding>;
  requestRunCancel(runId: string): Promise<Run>;
  getRuns(ids: readonly string[]): Promise<readonly (Run | null)[]>;
  /** Runs of one session (null where it is missing), or of all where `sessionId` is left out; newest first. */
  listRuns(request: ListRuns): Promise<Page<Run> | null>;
  /** The run that holds the session's lease; never an ABANDONED one. */
  activeRun(sessionId: string): Promise<Run | null>;
  latestRun(sessionId: string): Promise<Run | null>;
  listRunEvents(runId: string, page: PageRequest): Promise<Page<RunEvent> | null>;

  // ---- counters

  listUsage(request: ListUsage): Promise<Page<UsageBucket>>;
  tenantUsage(): Promise<TenantUsage>;

  // ---- tails: what streams read. All are cheap where nothing is new.

  /** Where the session's log, events and changes end now; null where it is missing. */
  mark(sessionId: string): Promise<SessionMark | null>;
  /** Ascending, at most `limit` rows and a page's bytes; null once this generation is gone. */
  messagesAfter(tail: Tail, select: RawMessageSelection): Promise<readonly RawMessage[] | null>;
  /** Stored run events of a session by position (ascending over all its runs); null once this generation is gone. */
  runEventsAfter(tail: Tail): Promise<readonly PositionedRunEvent[] | null>;
  /** The newest change number of the tenant. */
  lastChangeNumber(): Promise<number>;
  /** Sessions and tombstones whose latest change is after `changeNumber`, ascending by it; one entry a session. */
  changesAfter(changeNumber: number, limit: number): Promise<readonly SessionChangeEntry[]>;
  /** Sessions with a run whose lease ran out in (after, through] without an end or renewal. */
  leasesExpired(after: Instant, through: Instant): Promise<readonly SessionId[]>;

  // ---- moving

  /** Every record with its ids, times and versions, in order; FORBIDDEN for a narrowed reach. Never part of the API. */
  dump(): AsyncIterable<DumpRecord>;
  /** Puts dumped records into an empty store, exactly; BAD_USER_INPUT where it is not empty or a record is wrong. */
  load(records: AsyncIterable<DumpRecord>): Promise<void>;
}

export interface ListSessions {
  readonly filter?: Maybe<SessionFilter>;
  readonly orderBy?: Maybe<SessionOrder>;
  readonly page: PageRequest;
}
export interface SessionOrder {
  readonly field: "UPDATED_AT" | "CREATED_AT";
  readonly direction: "ASC" | "DESC";
}
/** Null and undefined are not given; an empty list matches nothing [23]. */
export interface SessionFilter {
  readonly sessionTypes?: Maybe<readonly number[]>;
  readonly agentNames?: Maybe<readonly string[]>;
  readonly userIds?: Maybe<readonly string[]>;
  readonly parentSessionId?: Maybe<string>;
  readonly root?: Maybe<boolean>;
  readonly running?: Maybe<boolean>;
  readonly titleContains?: Maybe<string>;
  readonly updatedAfter?: Maybe<Instant>;
  readonly updatedBefore?: Maybe<Instant>;
  readonly createdAfter?: Maybe<Instant>;
  readonly createdBefore?: Maybe<Instant>;
}

// Inputs mirror the contract's inputs by the same names, so that a refusal's path is the client's own.

export interface CreateSessionInput {
  readonly id?: Maybe<string>;
  readonly parentSessionId?: Maybe<string>;
  readonly sessionType?: Maybe<number>;
  readonly title?: Maybe<string>;
  readonly agentName?: Maybe<string>;
  readonly userId?: Maybe<string>;
  readonly metadata?: Maybe<JsonObject>;
  readonly allowExisting?: Maybe<boolean>;
}
export interface UpdateSessionInput {
  readonly sessionId: string;
  readonly title?: Maybe<string>;
  readonly agentName?: Maybe<string>;
  readonly userId?: Maybe<string>;
  readonly metadata?: Maybe<JsonObject>;
}
export interface SessionAttributesInput {
  readonly parentSessionId?: Maybe<string>;
  readonly sessionType?: Maybe<number>;
  readonly title?: Maybe<string>;
  readonly agentName?: Maybe<string>;
  readonly userId?: Maybe<string>;
  readonly metadata?: Maybe<JsonObject>;
}

export interface AppendMessagesInput {
  readonly sessionId: string;
  readonly requestId?: Maybe<string>;
  readonly messages: readonly AppendMessageInput[];
  readonly expectedLastSequence?: Maybe<number>;
  readonly runId?: Maybe<string>;
  readonly session?: Maybe<SessionAttributesInput>;
}
export interface AppendMessageInput {
  readonly id?: Maybe<string>;
  readonly turn?: Maybe<number>;
  readonly message: MessageInput;
  readonly timing?: Maybe<MessageTimingInput>;
  readonly usage?: Maybe<TokenUsageInput>;
  readonly metadata?: Maybe<JsonObject>;
  readonly tags?: Maybe<JsonObject>;
}
/** Exactly one member is given. */
export interface MessageInput {
  readonly system?: Maybe<TextMessageInput>;
  readonly user?: Maybe<UserMessageInput>;
  readonly assistant?: Maybe<AssistantMessageInput>;
  readonly tool?: Maybe<ToolMessageInput>;
  readonly agent?: Maybe<TextMessageInput>;
  readonly payload?: Maybe<string>;
}
interface MessageNotes {
  readonly attributes?: Maybe<JsonObject>;
  readonly includeInContext?: Maybe<boolean>;
}
export interface TextMessageInput extends MessageNotes {
  readonly text: string;
}
export interface UserMessageInput extends MessageNotes {
  readonly text?: Maybe<string>;
  readonly parts?: Maybe<readonly ContentPartInput[]>;
}
export interface AssistantMessageInput extends MessageNotes {
  readonly text?: Maybe<string>;
  readonly parts?: Maybe<readonly ContentPartInput[]>;
  readonly reasoning?: Maybe<string>;
  readonly toolCalls?: Maybe<readonly ToolCallInput[]>;
  readonly provider?: Maybe<string>;
  readonly model?: Maybe<string>;
  readonly replayBlocks?: Maybe<readonly string[]>;
}
export interface ToolMessageInput extends MessageNotes {
  readonly toolCallId: string;
  readonly name: string;
  readonly text?: Maybe<string>;
  readonly parts?: Maybe<readonly ContentPartInput[]>;
  readonly success?: Maybe<boolean>;
}
export interface ToolCallInput {
  readonly id: string;
  readonly name: string;
  readonly arguments?: Maybe<string>;
}
/** Exactly one member is given. */
export interface ContentPartInput {
  readonly text?: Maybe<string>;
  readonly image?: Maybe<ImagePartInput>;
  readonly file?: Maybe<FilePartInput>;
}
export interface ImagePartInput {
  readonly url?: Maybe<string>;
  readonly data?: Maybe<string>;
  readonly mediaType?: Maybe<string>;
  readonly detail?: Maybe<ImageDetail>;
  readonly altText?: Maybe<string>;
}
export interface FilePartInput {
  readonly url?: Maybe<string>;
  readonly data?: Maybe<string>;
  readonly mediaType: string;
  readonly name?: Maybe<string>;
}
export interface StreamTimingInput {
  readonly startedAt: Instant;
  readonly completedAt: Instant;
  readonly durationNs: number;
}
export interface MessageTimingInput extends StreamTimingInput {
  readonly reasoning?: Maybe<StreamTimingInput>;
  readonly content?: Maybe<StreamTimingInput>;
}
export interface TokenUsageInput {
  readonly inputTokens?: Maybe<number>;
  readonly outputTokens?: Maybe<number>;
  readonly cacheReadTokens?: Maybe<number>;
  readonly cacheWriteTokens?: Maybe<number>;
  readonly reasoningTokens?: Maybe<number>;
}
export interface AppendMessagesResult {
  readonly session: Session;
  /** The stored record of each message given, in that order, with every column. */
  readonly messages: readonly RawMessage[];
  readonly duplicates: number;
}

export interface ListMessages {
  readonly sessionId: string;
  readonly afterSequence?: Maybe<number>;
  readonly throughSequence?: Maybe<number>;
  readonly roles?: Maybe<readonly MessageRole[]>;
  readonly requestId?: Maybe<string>;
  readonly page: PageRequest;
  readonly select: RawMessageSelection;
}

export interface ReadContext {
  readonly sessionId: string;
  readonly throughSequence?: Maybe<number>;
  /** Left out where the messages are not wanted: then `messages` is null and no body is read. */
  readonly page?: PageRequest;
  /** A view that was taken before; every field answers from it. Left out: now, or as throughSequence says. */
  readonly pin?: ContextPin;
}
/** Names one immutable view of a context [14]. */
export interface ContextPin {
  readonly generation: Generation;
  readonly lastSequence: number;
  /** How many snapshots and rewinds of the session had been stored. */
  readonly edits: number;
}
export interface ContextView {
  readonly session: Session;
  readonly pin: ContextPin;
  readonly snapshot: ContextSnapshot | null;
  readonly snapshotVersion: number;
  readonly lastSequence: number;
  readonly repairs: readonly ContextRepair[];
  readonly messages: Page<ContextMessage> | null;
}

export interface CreateSnapshotInput {
  readonly id?: Maybe<string>;
  readonly sessionId: string;
  readonly summary: string;
  readonly usage?: Maybe<TokenUsageInput>;
  readonly runId?: Maybe<string>;
  readonly attributes?: Maybe<JsonObject>;
  readonly compactedThroughSequence: number;
  readonly expectedVersion: number;
}
export interface RewindSessionInput {
  readonly id?: Maybe<string>;
  readonly sessionId: string;
  readonly throughSequence: number;
  readonly expectedLastSequence: number;
}
export interface RewindResult {
  readonly session: Session;
  readonly removed: readonly RawMessage[];
}

export interface StartRunInput {
  readonly id?: Maybe<string>;
  readonly sessionId: string;
  readonly requestId?: Maybe<string>;
  readonly agentName?: Maybe<string>;
  readonly leaseSeconds?: Maybe<number>;
  readonly session?: Maybe<SessionAttributesInput>;
}
export interface RecordRunEventsInput {
  readonly runId: string;
  readonly events: readonly RunEventInput[];
  readonly firstIndex?: Maybe<number>;
}
export interface RunEventInput {
  readonly type: RunEventType;
  readonly phase: AgentPhase;
  readonly turn?: Maybe<number>;
  readonly toolCall?: Maybe<{ readonly id: string; readonly name: string }>;
  readonly messageId?: Maybe<string>;
  readonly delta?: Maybe<string>;
  readonly name?: Maybe<string>;
  readonly payload?: Maybe<JsonObject>;
  readonly occurredAt?: Maybe<Instant>;
}
export interface RecordRunEventsResult {
  readonly run: Run;
  /** What this call added, deltas included, in order; those recorded before are not in it. */
  readonly recorded: readonly RunEvent[];
}
export interface FinishRunInput {
  readonly runId: string;
  readonly status: RunOutcome;
  readonly error?: Maybe<{ readonly name: string; readonly message: string }>;
}
export interface RunEnding {
  readonly run: Run;
  /** False where it had ended before: nothing changed. */
  readonly ended: boolean;
}
export interface RunFilter {
  readonly statuses?: Maybe<readonly RunStatus[]>;
  readonly agentNames?: Maybe<readonly string[]>;
  readonly userIds?: Maybe<readonly string[]>;
  readonly requestId?: Maybe<string>;
  readonly startedAfter?: Maybe<Instant>;
  readonly startedBefore?: Maybe<Instant>;
}
export interface ListRuns {
  readonly sessionId?: string;
  readonly filter?: Maybe<RunFilter>;
  readonly page: PageRequest;
}

export interface ListUsage {
  readonly from: Instant;
  readonly to: Instant;
  readonly interval?: Maybe<UsageInterval>;
  readonly groupBy?: Maybe<readonly UsageDimension[]>;
  readonly page: PageRequest;
}

export interface SessionMark {
  readonly generation: Generation;
  readonly lastSequence: number;
  /** Position of its newest stored run event; 0 without one. */
  readonly lastEventPosition: number;
  readonly changeNumber: number;
}
export interface Tail {
  readonly sessionId: string;
  readonly generation: Generation;
  /** Exclusive: a sequence, or a position of run events. */
  readonly after: number;
  readonly limit: number;
}
export interface PositionedRunEvent {
  readonly position: number;
  readonly event: RunEvent;
}
export interface SessionChangeEntry {
  readonly changeNumber: number;
  readonly sessionId: SessionId;
  readonly kind: SessionChangeKind;
  /** The session after the change; of a deleted one what its tombstone still knows, for filters alone. */
  readonly session: Session | null;
  readonly tombstone: Tombstone | null;
}
/** Attributes are null once the tombstone is older than ten minutes. */
export interface Tombstone {
  readonly sessionId: SessionId;
  readonly deletedAt: Instant;
  readonly attributes: TombstoneAttributes | null;
}
export interface TombstoneAttributes {
  readonly parentSessionId: SessionId | null;
  readonly sessionType: number;
  readonly title: string | null;
  readonly agentName: string | null;
  readonly userId: UserId | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** One line of a dump; `record` holds the store's own columns by name, JSON-safe. */
export interface DumpRecord {
  readonly kind: DumpKind;
  readonly record: JsonObject;
}
export const DUMP_KINDS = [
  "header",
  "session",
  "message",
  "snapshot",
  "rewind",
  "run",
  "runEvent",
  "usage",
  "tombstone",
] as const;
export type DumpKind = (typeof DUMP_KINDS)[number];
