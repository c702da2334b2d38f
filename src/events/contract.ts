import type { SessionFilter } from "../store/contract.ts";
import type {
  RawMessage,
  RawMessageSelection,
  RunEvent,
  Session,
  SessionChangeKind,
  SessionId,
} from "../store/model.ts";
import type { Maybe } from "../store/page.ts";

export interface SessionChange {
  readonly kind: SessionChangeKind;
  readonly sessionId: SessionId;
  readonly session: Session | null;
}
export type SessionFeedItem =
  | { readonly type: "RawMessage"; readonly message: RawMessage }
  | { readonly type: "RunEvent"; readonly event: RunEvent }
  | { readonly type: "SessionChange"; readonly change: SessionChange };

export interface RunDraft {
  readonly messageId: string | null;
  readonly turn: number;
  readonly text: string;
  readonly reasoning: string;
}

/**
 * The live side of one tenant as one caller reaches it. Each method resolves once the stream is accepted: what is "new"
 * counts from that moment. Iterators end by themselves (session deleted), by `return()`, which frees every listener and
 * timer at once without another event, or with a GatewayError when the credential dies. A slow reader costs a bounded
 * ring: stored things are read from the store again, the oldest deltas are lost.
 */
export interface Feed {
  /** NOT_FOUND; BAD_USER_INPUT for an afterSequence beyond the last. */
  rawMessages(request: {
    readonly sessionId: string;
    readonly afterSequence?: Maybe<number>;
    readonly select: RawMessageSelection;
  }): Promise<AsyncIterableIterator<RawMessage>>;
  /** Accepted and silent where the session is missing. */
  sessionChanges(request: {
    readonly sessionId?: Maybe<string>;
    readonly filter?: Maybe<SessionFilter>;
  }): Promise<AsyncIterableIterator<SessionChange>>;
  runEvents(request: {
    readonly sessionId: string;
    readonly runId?: Maybe<string>;
    readonly afterIndex?: Maybe<number>;
  }): Promise<AsyncIterableIterator<RunEvent>>;
  session(request: {
    readonly sessionId: string;
    readonly afterSequence?: Maybe<number>;
    readonly deltas: boolean;
    readonly select: RawMessageSelection;
  }): Promise<AsyncIterableIterator<SessionFeedItem>>;
  /** What has streamed of the message being generated; null where nothing has, or this process has not seen it. */
  draft(runId: string): RunDraft | null;
}
