import { GraphQLError } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badInput, conflict, GatewayError, rateLimited, unavailable } from "../../src/errors.ts";
import type { LogFields } from "../../src/log.ts";
import { toGraphQLError } from "../../src/schema/errors.ts";
import type { SessionStore } from "../../src/store/contract.ts";
import { onlyError, openTestApi, type TestApi } from "../support/schema.ts";

const logged: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
const note = (message: string, fields?: LogFields) => void logged.push({ message, fields });
const log = { debug: note, info: note, warn: note, error: note };
const map = (error: unknown) => toGraphQLError(error, { requestId: "r-1", log }).toJSON();

describe("toGraphQLError", () => {
  it("gives code, facts and place of an error of ours", () => {
    expect(map(badInput(["input", "messages", 3], "No."))).toEqual({
      message: "No.",
      extensions: { code: "BAD_USER_INPUT", field: ["input", "messages", 3] },
    });
    expect(map(conflict("STALE_SEQUENCE", "Late.", { lastSequence: 4 })).extensions).toEqual({
      code: "CONFLICT",
      reason: "STALE_SEQUENCE",
      lastSequence: 4,
    });
    expect(map(rateLimited("Slow.", 2.2)).extensions).toEqual({ code: "RATE_LIMITED", retryAfter: 3 });
    const placed = new GraphQLError("x", { path: ["a", 0], originalError: badInput(["first"], "No.") });
    expect(map(placed)).toEqual({
      message: "No.",
      path: ["a", 0],
      extensions: { code: "BAD_USER_INPUT", field: ["first"] },
    });
  });

  it("keeps the cause of an unavailable store for the log", () => {
    logged.length = 0;
    const answer = map(unavailable("Try again later.", new Error("SQLITE_FULL: /data/x.sqlite")));
    expect(JSON.stringify(answer)).not.toMatch(/SQLITE|data/);
    expect(JSON.stringify(logged)).toMatch(/SQLITE_FULL/);
  });

  it("masks all that is unknown, whatever was thrown, and logs it under the request id", () => {
    const unknown = [new Error("/secret"), "/secret", { secret: 1 }, null, undefined, 7];
    const internal = new GatewayError("INTERNAL_SERVER_ERROR", "/secret");
    for (const error of [
      ...unknown,
      internal,
      new GraphQLError("/secret", { path: ["a"], originalError: new Error("/secret") }),
    ]) {
      logged.length = 0;
      const { message, extensions } = map(error);
      expect(message).not.toMatch(/secret/);
      expect(extensions).toEqual({ code: "INTERNAL_SERVER_ERROR", requestId: "r-1" });
      expect(logged[0]?.fields?.requestId).toBe("r-1");
    }
  });

  it("lets no later mask take it for unknown", () => {
    expect(toGraphQLError(badInput([], "No."), { requestId: "r", log }).originalError).toBeUndefined();
  });
});

describe("an operation", () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await openTestApi();
  });
  afterAll(() => api.dispose());

  const failing = (error: unknown) => (store: SessionStore) => ({
    ...store,
    getSessions: async () => {
      throw error;
    },
    listSessions: async () => {
      throw error;
    },
  });

  it("is told what is wrong with its document and its variables", async () => {
    expect((await api.ask("{ nothing }")).codes).toEqual(["BAD_USER_INPUT"]);
    expect((await api.ask("{ session(id: 1.5) { id } }")).codes).toEqual(["BAD_USER_INPUT"]);
    const long = "x".repeat(100_000);
    const answer = await api.ask("query ($first: Int) { sessions(first: $first) { totalCount } }", {
      variables: { first: long },
    });
    expect(answer.codes).toEqual(["BAD_USER_INPUT"]);
    expect(answer.errors[0]?.message.length).toBeLessThan(2_100);
    expect(answer.errors[0]?.message).toMatch(/Int cannot represent/);
    const missing = await api.ask("query ($id: ID = null) { session(id: $id) { id } }", { variables: { id: null } });
    expect(missing.codes[0]).toMatch(/^BAD_USER_INPUT/);
  });

  it("keeps the response path beside the place in the input", async () => {
    const wrap = failing(badInput(["first"], "No."));
    const answer = await api.ask("{ mine: sessions { totalCount } }", { wrap });
    expect(answer.codes).toEqual(["BAD_USER_INPUT mine"]);
    expect(onlyError(answer).field).toEqual(["first"]);
  });

  it("masks what a resolver throws unknown", async () => {
    const wrap = failing(new Error("SQLITE_CORRUPT /data"));
    const answer = await api.ask(`{ session(id: "s") { id } viewer { kind } }`, { wrap });
    expect(answer.codes).toEqual(["INTERNAL_SERVER_ERROR session"]);
    expect(answer.data).toEqual({ session: null, viewer: { kind: "API_KEY" } });
    expect(JSON.stringify(answer.errors)).not.toMatch(/SQLITE/);
  });

  it("masks a value of ours that can't be written out", async () => {
    const wrap = (store: SessionStore): SessionStore => ({
      ...store,
      getSessions: async () => [{ ...(await store.createSession({})).session, sessionType: 0.5 }],
    });
    const answer = await api.ask(`{ session(id: "s") { sessionType } }`, { wrap });
    expect(answer.codes).toEqual(["INTERNAL_SERVER_ERROR session.sessionType"]);
  });
});
