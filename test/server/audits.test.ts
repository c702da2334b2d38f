import { serverAudits } from "graphql-http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KEY, type ProbeServer, startServer } from "../support/server.ts";

/** Headers and all else as the audit gives them, and a key, without which there is no answer at all. */
const withKey: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set("authorization", KEY);
  return fetch(input, { ...init, headers });
};

describe("GraphQL over HTTP: the audits of graphql-http", () => {
  let server: ProbeServer | null = null;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(async () => {
    await server?.close();
  });

  const audits = serverAudits({ url: () => server?.graphql ?? "", fetchFn: withKey });

  it("are 61", () => {
    expect(audits).toHaveLength(61);
  });

  for (const audit of audits) {
    it(`${audit.id} ${audit.name}`, async () => {
      const result = await audit.fn();
      expect(result.status, "reason" in result ? result.reason : "").toBe("ok");
    });
  }
});
