export const GRAPHQL_RESPONSE = "application/graphql-response+json";
export const PLAIN_JSON = "application/json";
export const EVENT_STREAM = "text/event-stream";
export type JsonMediaType = typeof GRAPHQL_RESPONSE | typeof PLAIN_JSON;

/** What the client's Accept header lets us answer with. */
export interface Accepted {
  /** Null where it takes no JSON. */
  readonly json: JsonMediaType | null;
  readonly eventStream: boolean;
}

/** No header at all, and a header that takes anything, mean application/json. */
export function negotiate(accept: string | undefined): Accepted {
  if (accept === undefined || accept.trim() === "") return { json: PLAIN_JSON, eventStream: false };
  const ranges = accept
    .split(",")
    .map(parseRange)
    .filter(({ quality }) => quality > 0)
    .sort((left, right) => right.quality - left.quality);
  const json = ranges.map(({ type }) => jsonFor(type)).find((type) => type !== null) ?? null;
  return { json, eventStream: ranges.some(({ type }) => type === EVENT_STREAM) };
}

function jsonFor(type: string): JsonMediaType | null {
  if (type === GRAPHQL_RESPONSE) return GRAPHQL_RESPONSE;
  return type === PLAIN_JSON || type === "*/*" || type === "application/*" ? PLAIN_JSON : null;
}

function parseRange(range: string): { readonly type: string; readonly quality: number } {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return { type, quality: /^[01](\.\d{0,3})?$/.test(quality) ? Number(quality) : 0 };
}

/** Whether a request's body is JSON in UTF-8, which is all that we read. */
export function isJsonBody(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const [type, ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice(8)
    .replaceAll('"', "");
  return type === PLAIN_JSON && (charset === undefined || charset === "utf-8" || charset === "utf8");
}
