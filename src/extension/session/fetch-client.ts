import type { TadaDocumentNode } from "gql.tada";
import { ERROR_CODES, type ErrorCode, type ErrorDetails, type FieldPath, GatewayError } from "../../errors.ts";
import { documentText, type Given } from "./document.ts";

/** Milliseconds that one request may take, its answer included. */
export const REQUEST_TIMEOUT_MILLISECONDS = 30_000;

/** A key or token, or what gives one for each request: tokens run out, a function can bring a new one. */
export type Credential = string | (() => string | Promise<string>);

export interface FetchClientOptions {
  /** The gateway's GraphQL address, e.g. http://127.0.0.1:4000/graphql. */
  readonly url: string;
  readonly apiKey: Credential;
  /** Sent along with each request, x-tenant-id for an operator's key. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMilliseconds?: number;
  readonly fetch?: typeof globalThis.fetch;
}

/** What an operation answered: its data as far as there is any, and one error for each field that was refused. */
export interface Answer<Data> {
  readonly data: Data | null;
  readonly errors: readonly FieldError[];
}

/** `root` is the name of the root field that refused; null where the operation as a whole was. */
export interface FieldError {
  readonly root: string | null;
  readonly error: GatewayError;
}

/** Sends typed documents to one gateway. */
export interface FetchClient {
  /** The data; throws the first error as a GatewayError. */
  ask<Data, Variables>(
    document: TadaDocumentNode<Data, Variables>,
    variables: Given<NoInfer<Variables>>,
    signal?: AbortSignal,
  ): Promise<Data>;
  /** As `ask`, with the errors of single root fields as values. Throws only where there is no data at all. */
  askEach<Data, Variables>(
    document: TadaDocumentNode<Data, Variables>,
    variables: Given<NoInfer<Variables>>,
    signal?: AbortSignal,
  ): Promise<Answer<Data>>;
}

/**
 * A client of its own for the one thing needed: POST with JSON. What does not reach the gateway, breaks off or takes
 * too long is UNAVAILABLE; refusals carry the gateway's code, the place in the input as `path`, and its facts.
 */
export function createFetchClient(options: FetchClientOptions): FetchClient {
  const askEach = async <Data, Variables>(
    document: TadaDocumentNode<Data, Variables>,
    variables: Given<Variables>,
    signal?: AbortSignal,
  ): Promise<Answer<Data>> => {
    const answer = await post(options, JSON.stringify({ query: documentText(document), variables }), signal);
    if (answer.data === null) throw answer.errors[0]?.error ?? strangeAnswer(options.url);
    // The document's type is what the gateway promises for it; each record's codec reads no more than that.
    return answer as Answer<Data>;
  };
  return {
    askEach,
    async ask(document, variables, signal) {
      const { data, errors } = await askEach(document, variables, signal);
      const refused = errors[0]?.error;
      if (refused !== undefined || data === null) throw refused ?? strangeAnswer(options.url);
      return data;
    },
  };
}

async function post(options: FetchClientOptions, body: string, signal?: AbortSignal): Promise<Answer<object>> {
  const { url, headers, fetch = globalThis.fetch } = options;
  const timeout = AbortSignal.timeout(options.timeoutMilliseconds ?? REQUEST_TIMEOUT_MILLISECONDS);
  const key = typeof options.apiKey === "string" ? options.apiKey : await options.apiKey();
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", authorization: `Bearer ${key}` },
      body,
      redirect: "error",
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    const what = timeout.aborted ? "did not answer in time" : `could not be reached (${causeOf(error)})`;
    throw new GatewayError("UNAVAILABLE", `The gateway at ${url} ${what}.`, { cause: error });
  }
  return readAnswer(url, response, text);
}

/** fetch says "fetch failed"; what failed stands in its cause. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause: unknown = error.cause;
  if (cause instanceof Error) {
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    return code !== "" && !cause.message.includes(code) ? `${code} ${cause.message}`.trim() : cause.message || code;
  }
  return error.message;
}

function readAnswer(url: string, response: Response, text: string): Answer<object> {
  const parsed = parseObject(text);
  const wireErrors = Array.isArray(parsed?.errors) ? parsed.errors : [];
  const retryAfter = secondsOf(response.headers.get("retry-after"));
  const errors = wireErrors.map((error) => fieldError(error, retryAfter));
  const data = parsed !== null && isObject(parsed.data) ? parsed.data : null;
  if (data !== null || errors.length > 0) return { data, errors };
  throw statusError(url, response.status, retryAfter);
}

/** An answer that is no GraphQL: of a proxy before the gateway, or of something else at that address. */
function statusError(url: string, status: number, retryAfter: number | null): GatewayError {
  const details: ErrorDetails = { status, ...(retryAfter === null ? {} : { retryAfter }) };
  if (status === 429) return new GatewayError("RATE_LIMITED", `Too many requests to ${url}.`, { details });
  if (status >= 500) return new GatewayError("UNAVAILABLE", `${url} answered with status ${status}.`, { details });
  if (status === 401) return new GatewayError("UNAUTHENTICATED", `${url} refused the key.`, { details });
  if (status === 403) return new GatewayError("FORBIDDEN", `${url} refused the request.`, { details });
  return new GatewayError("BAD_USER_INPUT", `There is no gateway at ${url} (status ${status}); check the url.`, {
    details,
  });
}

function strangeAnswer(url: string): GatewayError {
  return new GatewayError("UNAVAILABLE", `${url} answered without data and without an error.`);
}

function fieldError(wire: unknown, retryAfter: number | null): FieldError {
  const error = isObject(wire) ? wire : {};
  const path = Array.isArray(error.path) ? error.path : [];
  const extensions = isObject(error.extensions) ? error.extensions : {};
  const { code, field, ...facts } = extensions;
  const details: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (typeof value === "string" || typeof value === "number") details[name] = value;
  }
  if (retryAfter !== null) details.retryAfter ??= retryAfter;
  const message = typeof error.message === "string" ? error.message : "The gateway gave an error without a message.";
  return {
    root: typeof path[0] === "string" ? path[0] : null,
    error: new GatewayError(codeOf(code), message, { path: inputPath(field), details }),
  };
}

function codeOf(code: unknown): ErrorCode {
  return ERROR_CODES.find((known) => known === code) ?? "INTERNAL_SERVER_ERROR";
}

/** Relative to the operation's input, as the store's own errors are. */
function inputPath(field: unknown): FieldPath | null {
  if (!Array.isArray(field)) return null;
  const steps = field.filter((step) => typeof step === "string" || typeof step === "number");
  return steps[0] === "input" ? steps.slice(1) : steps;
}

/** Seconds to wait: the header's number, or the time until its date. */
function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d{1,9}$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
