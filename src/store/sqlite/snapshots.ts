import { unavailable } from "../../errors.ts";
import type { CreateSnapshotInput } from "../contract.ts";
import type { ContextSnapshot } from "../model.ts";
import type { Page, PageRequest } from "../page.ts";
import type { ReadScope, WriteScope } from "./scope.ts";

export function createSnapshot(_scope: WriteScope, _input: CreateSnapshotInput): ContextSnapshot {
  throw unavailable("not built yet");
}
export function latestSnapshot(_scope: ReadScope, _sessionId: string): ContextSnapshot | null {
  throw unavailable("not built yet");
}
export function listSnapshots(_scope: ReadScope, _sessionId: string, _page: PageRequest): Page<ContextSnapshot> | null {
  throw unavailable("not built yet");
}
