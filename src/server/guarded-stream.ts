import type { ExecutionResult } from "graphql";

type Step = IteratorResult<ExecutionResult, void>;
export type ResultStream = AsyncGenerator<ExecutionResult, void, void>;

/** What a stream is watched with. */
export interface StreamGuard {
  /** Aborts when the credential dies; its reason is the error that the client sees. */
  readonly ended: AbortSignal;
  /** An error of the iterator, or the reason of `ended`, as the stream's last result. */
  readonly asResult: (error: unknown) => ExecutionResult;
  readonly eachResult: (result: ExecutionResult) => ExecutionResult;
  /** Called exactly once, however the stream ends. */
  readonly onEnd: () => void;
}

/**
 * The same stream, except that an error is a last result instead of a throw, and that it ends at once when its
 * credential does: nothing that the source gives after that moment is passed on.
 */
export function guardStream(source: AsyncIterator<ExecutionResult>, guard: StreamGuard): ResultStream {
  const done: Step = { done: true, value: undefined };
  let over = false;
  let lastResult: ExecutionResult | null = null;
  let waiting: ((step: Step) => void) | null = null;
  const finish = () => {
    if (over) return;
    over = true;
    guard.ended.removeEventListener("abort", onAbort);
    guard.onEnd();
  };
  const answer = (step: Step) => {
    waiting?.(step);
    waiting = null;
  };
  const fail = (error: unknown) => {
    if (over) return;
    finish();
    const result = guard.asResult(error);
    if (waiting === null) lastResult = result;
    else answer({ done: false, value: result });
  };
  const onAbort = () => {
    fail(guard.ended.reason);
    // The source may wait for something that never comes; nobody waits for it here.
    Promise.resolve(source.return?.()).catch(() => {});
  };
  const onStep = (step: IteratorResult<ExecutionResult>) => {
    if (over) return;
    if (step.done !== true) return answer({ done: false, value: guard.eachResult(step.value) });
    finish();
    answer(done);
  };
  const stop = async (): Promise<Step> => {
    finish();
    answer(done);
    lastResult = null;
    await source.return?.();
    return done;
  };
  guard.ended.addEventListener("abort", onAbort);
  if (guard.ended.aborted) onAbort();
  return {
    next() {
      if (lastResult !== null) {
        const value = lastResult;
        lastResult = null;
        return Promise.resolve({ done: false, value });
      }
      if (over) return Promise.resolve(done);
      return new Promise((resolve) => {
        waiting = resolve;
        source.next().then(onStep, fail);
      });
    },
    return: stop,
    throw: stop,
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
