import { unavailable } from "../../errors.ts";
import type { AppendMessagesInput, AppendMessagesResult, ListMessages, Tail } from "../contract.ts";
import type { MessageRole, RawMessage, RawMessageSelection } from "../model.ts";
import type { Maybe, Page, PageRequest } from "../page.ts";
import type { ReadScope, WriteScope } from "./scope.ts";

export function appendMessages(_scope: WriteScope, _input: AppendMessagesInput): AppendMessagesResult {
  throw unavailable("not built yet");
}
export function listMessages(_scope: ReadScope, _request: ListMessages): Page<RawMessage> | null {
  throw unavailable("not built yet");
}
export function lastMessage(
  _scope: ReadScope,
  _sessionId: string,
  _roles: Maybe<readonly MessageRole[]>,
  _select: RawMessageSelection,
): RawMessage | null {
  throw unavailable("not built yet");
}
export function listRunMessages(
  _scope: ReadScope,
  _runId: string,
  _page: PageRequest,
  _select: RawMessageSelection,
): Page<RawMessage> | null {
  throw unavailable("not built yet");
}
export function messagesAfter(
  _scope: ReadScope,
  _tail: Tail,
  _select: RawMessageSelection,
): readonly RawMessage[] | null {
  throw unavailable("not built yet");
}
