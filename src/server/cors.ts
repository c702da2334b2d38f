import type { IncomingMessage, ServerResponse } from "node:http";

const PREFLIGHT_SECONDS = 600;

/** Whether a page of this origin may use the API: the server's own origin, and what is configured. */
export type OriginCheck = (origin: string, host: string | undefined) => boolean;

/** `*` in the list lets every origin in; credentials travel in a header, never in a cookie, so that nothing leaks. */
export function createOriginCheck(corsOrigins: readonly string[]): OriginCheck {
  const listed = new Set(corsOrigins);
  return (origin, host) => {
    if (listed.has("*") || listed.has(origin)) return true;
    return host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  };
}

/** Adds what the browser wants to see to the answer; nothing for an origin that may not. */
export function addCorsHeaders(request: IncomingMessage, response: ServerResponse, allows: OriginCheck): void {
  response.setHeader("Vary", "Origin");
  const { origin, host } = request.headers;
  if (origin === undefined || !allows(origin, host)) return;
  response.setHeader("Access-Control-Allow-Origin", origin);
  response.setHeader("Access-Control-Expose-Headers", "Retry-After, X-Request-Id");
}

/** Answers a preflight; addCorsHeaders came before it and decided whether the origin may. */
export function answerPreflight(response: ServerResponse): void {
  if (response.hasHeader("Access-Control-Allow-Origin")) {
    response.setHeader("Access-Control-Allow-Methods", "GET, POST");
    response.setHeader("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Tenant-Id");
    response.setHeader("Access-Control-Max-Age", String(PREFLIGHT_SECONDS));
  }
  response.writeHead(204).end();
}
