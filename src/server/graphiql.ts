import type { IncomingMessage, ServerResponse } from "node:http";
import { renderGraphiQL } from "@graphql-yoga/render-graphiql";

/** Answers a browser's GET with the GraphiQL page. */
export type GraphiqlPage = (response: ServerResponse) => void;

/** Only a GET of somebody who wants a page and asks no query. */
export function wantsPage(request: IncomingMessage, search: string): boolean {
  const accept = request.headers.accept ?? "";
  return request.method === "GET" && accept.includes("text/html") && !new URLSearchParams(search).has("query");
}

/**
 * The page holds all of its scripts and asks no other host for anything. It is public: what it asks needs the key
 * that its reader types into the headers pane.
 */
export function createGraphiqlPage(): GraphiqlPage {
  let page: Buffer | null = null;
  return (response) => {
    page ??= Buffer.from(
      renderGraphiQL({
        title: "Agent session gateway",
        endpoint: "/graphql",
        headers: JSON.stringify({ authorization: "Bearer " }, null, 2),
        defaultQuery: "query Viewer {\n  viewer {\n    __typename\n  }\n}\n",
        subscriptionsProtocol: "GRAPHQL_SSE",
      }),
    );
    response.setHeader("X-Frame-Options", "DENY");
    response.setHeader("Cache-Control", "no-cache");
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Content-Length": page.byteLength });
    response.end(page);
  };
}
