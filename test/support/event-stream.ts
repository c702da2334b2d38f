/** A subscription over text/event-stream, read with a queue: what came can be waited for, and what did not be seen. */
export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** The next event's data; null once the stream is complete. Rejects after so long without one. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of any shape
  next(milliseconds?: number): Promise<any>;
  /** Whether nothing at all comes for so long. */
  isSilent(milliseconds: number): Promise<boolean>;
  close(): void;
}

/** Opens one; resolves once the head of the answer is there. */
export async function openEventStream(
  url: string,
  key: string | null,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<EventStream> {
  const controller = new AbortController();
  const response = await fetch(url, {
    method: "POST",
    signal: controller.signal,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ query, variables }),
  });
  const queue: unknown[] = [];
  let wake = (): void => undefined;
  const push = (event: unknown): void => {
    queue.push(event);
    wake();
  };
  void readEvents(response, push);
  const arrival = async (milliseconds: number): Promise<boolean> => {
    if (queue.length > 0) return true;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      timer = setTimeout(resolve, milliseconds);
    });
    clearTimeout(timer);
    return queue.length > 0;
  };
  return {
    status: response.status,
    headers: response.headers,
    async next(milliseconds = 5_000) {
      if (!(await arrival(milliseconds))) throw new Error(`no event within ${milliseconds} ms`);
      return queue[0] === null ? null : queue.shift();
    },
    isSilent: async (milliseconds) => !(await arrival(milliseconds)),
    close: () => controller.abort(),
  };
}

async function readEvents(response: Response, push: (event: unknown) => void): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        if (/^event: complete/m.test(block)) push(null);
        const data = /^data: (.+)$/m.exec(block)?.[1];
        if (/^event: next/m.test(block) && data !== undefined) push(JSON.parse(data));
      }
    }
    if (text.startsWith("{")) push(JSON.parse(text));
  } catch {
    // The stream was cut: by the test itself, or by the server that goes down.
  }
  push(null);
}
