import { unavailable } from "../../errors.ts";
import type { PositionedRunEvent, Tail } from "../contract.ts";
import type { RunEvent } from "../model.ts";
import type { Page, PageRequest } from "../page.ts";
import type { ReadScope } from "./scope.ts";

export function listRunEvents(_scope: ReadScope, _runId: string, _page: PageRequest): Page<RunEvent> | null {
  throw unavailable("not built yet");
}
export function runEventsAfter(_scope: ReadScope, _tail: Tail): readonly PositionedRunEvent[] | null {
  throw unavailable("not built yet");
}
