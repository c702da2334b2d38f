import { unavailable } from "../../errors.ts";
import type { ContextView, ReadContext } from "../contract.ts";
import type { ReadScope } from "./scope.ts";

export function readContext(_scope: ReadScope, _request: ReadContext): ContextView | null {
  throw unavailable("not built yet");
}
