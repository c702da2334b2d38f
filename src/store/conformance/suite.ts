import { appendCases } from "./append-cases.ts";
import type { ConformanceCase } from "./case.ts";
import { contextCases } from "./context-cases.ts";
import { moveCases } from "./move-cases.ts";
import { pageCases } from "./page-cases.ts";
import { reachCases } from "./reach-cases.ts";
import { runCases } from "./run-cases.ts";
import { sessionCases } from "./session-cases.ts";

/** Every case that a SessionStore has to pass. No test runner is needed or known. */
export const CONFORMANCE_CASES: readonly ConformanceCase[] = [
  ...sessionCases,
  ...appendCases,
  ...pageCases,
  ...contextCases,
  ...runCases,
  ...reachCases,
  ...moveCases,
];
