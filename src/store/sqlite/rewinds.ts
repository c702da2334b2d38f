import { unavailable } from "../../errors.ts";
import type { RewindResult, RewindSessionInput } from "../contract.ts";
import type { RawMessageSelection } from "../model.ts";
import type { WriteScope } from "./scope.ts";

export function rewindSession(
  _scope: WriteScope,
  _input: RewindSessionInput,
  _select: RawMessageSelection,
): RewindResult {
  throw unavailable("not built yet");
}
