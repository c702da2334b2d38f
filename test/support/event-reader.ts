/** What came over a server-sent event stream, in order; comments as event ":". */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

export interface EventReader {
  readonly response: Response;
  /** The next event that is no comment; null once the stream has ended, cleanly or not. */
  next(): Promise<StreamEvent | null>;
  readonly comments: () => number;
  close(): Promise<void>;
}

/** Opens a stream and reads it event by event. */
export async function openEvents(
  url: string,
  options: { readonly query: string; readonly authorization: string; readonly headers?: Record<string, string> },
): Promise<EventReader> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      ...{ authorization: options.authorization, "content-type": "application/json", accept: "text/event-stream" },
      ...options.headers,
    },
    body: JSON.stringify({ query: options.query }),
  });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let comments = 0;
  const next = async (): Promise<StreamEvent | null> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end === -1) {
        const chunk = await reader?.read().catch(() => undefined);
        if (chunk === undefined || chunk.done) return null;
        text += decoder.decode(chunk.value, { stream: true });
        continue;
      }
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      if (lines[0]?.startsWith(":")) {
        comments++;
        continue;
      }
      const field = (name: string) =>
        lines
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim();
      return { event: field("event") ?? "", data: field("data") ?? "" };
    }
  };
  return {
    response,
    next,
    comments: () => comments,
    close: async () => {
      await reader?.cancel().catch(() => {});
    },
  };
}
