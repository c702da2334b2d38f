import { existsSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { TenantId } from "../../../src/store/model.ts";
import { openConnection } from "../../../src/store/sqlite/open.ts";
import { openTenantFile, removeTenantFile } from "../../../src/store/sqlite/tenant-file.ts";
import { createUuidFactory } from "../../../src/uuid.ts";
import { refusalOf } from "../../support/refusal.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(() => {
  test = openTestStore();
});
afterEach(() => test.dispose());

const parts = { time: { wall: Date.now, monotonic: () => performance.now() }, newUuid: createUuidFactory() };

it("every setting holds after a write and after a reopen", async () => {
  const settings = () =>
    ["journal_mode", "synchronous", "foreign_keys", "secure_delete", "auto_vacuum", "page_size", "busy_timeout"].map(
      (name) => test.handle().connection.pragma(name),
    );
  const expected = ["wal", 2, 1, 1, 2, 4096, 0];
  await test.store.createSession({ id: "s" });
  expect(settings()).toEqual(expected);
  test.reopen();
  expect(settings()).toEqual(expected);
  await test.store.createSession({ id: "t" });
  expect(settings()).toEqual(expected);
});

it("a missing, empty, foreign, newer or other tenant's file is refused, and no file appears", async () => {
  const open = (change = {}) => refusalOf(() => openTenantFile({ ...test.file, ...change }, parts));
  expect(await open({ tenantId: "other" as TenantId })).toBe("UNAVAILABLE");
  expect(await open({ generation: 2 })).toBe("UNAVAILABLE");
  test.handle().connection.pragma("user_version = 99");
  expect(await open()).toBe("UNAVAILABLE");
  test.handle().connection.pragma("user_version = 1");
  const elsewhere = `${test.file.path}.other`;
  expect(await open({ path: elsewhere })).toBe("UNAVAILABLE");
  expect(existsSync(elsewhere)).toBe(false);
  writeFileSync(elsewhere, "not a database");
  expect(await open({ path: elsewhere })).toBe("UNAVAILABLE");
  truncateSync(elsewhere);
  expect(await open({ path: elsewhere })).toBe("UNAVAILABLE");
  rmSync(elsewhere);
});

it("removing takes the log and its index with the file", async () => {
  await test.store.createSession({ id: "s" });
  expect(existsSync(`${test.file.path}-wal`)).toBe(true);
  removeTenantFile(test.file.path);
  expect(["", "-wal", "-shm"].map((suffix) => existsSync(`${test.file.path}${suffix}`))).toEqual([false, false, false]);
});

it("a write waits while another connection holds the lock, and is refused by nobody", async () => {
  const other = openConnection(test.file.path, { create: false });
  other.sql("BEGIN IMMEDIATE").run();
  const write = test.store.createSession({ id: "s" });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await test.store.getSessions(["s"])).toEqual([null]);
  other.sql("COMMIT").run();
  other.close();
  expect((await write).created).toBe(true);
});

it("a refused write of a group takes no other down; closing commits what is queued", async () => {
  await test.store.createSession({ id: "taken" });
  const writes = ["a", "taken", "b"].map((id) => refusalOf(test.store.createSession({ id })));
  test.reopen();
  expect(await Promise.all(writes)).toEqual(["accepted", "CONFLICT ID_TAKEN", "accepted"]);
  expect((await test.store.getSessions(["a", "b"])).map((session) => session?.id)).toEqual(["a", "b"]);
});

it("a full disk ends the whole group as UNAVAILABLE, nothing of it is stored, and space cures it without a reopen", async () => {
  const { connection } = test.handle();
  const pages = Number(connection.pragma("page_count"));
  connection.pragma(`max_page_count = ${pages + 2}`);
  const big = "x".repeat(40_000);
  const writes = ["a", "b", "c"].map((id) =>
    refusalOf(test.store.appendMessages({ sessionId: id, messages: [{ message: { user: { text: big } } }] })),
  );
  expect(await Promise.all(writes)).toEqual(["UNAVAILABLE", "UNAVAILABLE", "UNAVAILABLE"]);
  expect(await test.store.getSessions(["a", "b", "c"])).toEqual([null, null, null]);
  connection.pragma("max_page_count = 1000000");
  expect((await test.store.createSession({ id: "a" })).created).toBe(true);
});

it("updatedAt does not go back when the wall clock does, across a reopen too", async () => {
  const before = (await test.store.createSession({ id: "s" })).session.updatedAt;
  test.time.wallMs -= 3_600_000;
  test.reopen();
  const after = (await test.store.updateSession({ sessionId: "s", title: "later" })).updatedAt;
  expect(after).toBeGreaterThanOrEqual(before);
});
