import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AppendMessageInput } from "../../../src/store/contract.ts";
import { EVERYTHING } from "../../../src/store/model.ts";
import { A, contextOf, excluded, messageIn, repairsIn, seen, T, U } from "../../support/context.ts";
import { refusalOf } from "../../support/refusal.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(() => {
  test = openTestStore();
});
afterEach(() => test.dispose());

const append = (...messages: readonly AppendMessageInput[]) => test.store.appendMessages({ sessionId: "s", messages });
const snapshot = (compactedThroughSequence: number, expectedVersion: number) =>
  test.store.createSnapshot({ sessionId: "s", summary: "so far", compactedThroughSequence, expectedVersion });

async function raw(): Promise<readonly string[]> {
  const page = await test.within({}).listMessages({ sessionId: "s", page: { first: 1_000 }, select: EVERYTHING });
  return (page?.nodes ?? []).map((message) => message.payload ?? "damaged");
}

async function view() {
  const { nodes, repairs } = await contextOf(test.within({}));
  return { seen: seen(nodes), repairs: repairsIn(repairs) };
}

describe("a context", () => {
  it("A1: an unanswered call is answered as failed, until its result is there; the log is not touched", async () => {
    await append(U("deploy?"), A("", "c1"));
    const before = await raw();
    expect(await view()).toEqual({ seen: [1, 2, "c1"], repairs: ["MISSING_RESULT 2 c1"] });
    const result = (await contextOf(test.store)).nodes[2];
    expect(result).toMatchObject({ sequence: null, id: null });
    expect(result && messageIn(result)).toMatchObject({
      role: "TOOL",
      toolCallId: "c1",
      name: "tool-c1",
      success: false,
      text: "No result was recorded for this call. It may have run.",
      attributes: { synthesized: true },
      includeInContext: true,
    });
    expect(await raw()).toEqual(before);
    await append(T("c1"));
    expect(await view()).toEqual({ seen: [1, 2, 3], repairs: [] });
  });

  it("A2: a gap in a parallel batch is filled in call order, later by the real result", async () => {
    await append(A("", "c1", "c2", "c3"), T("c1"), T("c3"));
    expect(await view()).toEqual({ seen: [1, 2, "c2", 3], repairs: ["MISSING_RESULT 1 c2"] });
    await append(T("c2"));
    expect(await view()).toEqual({ seen: [1, 2, 4, 3], repairs: [] });
  });

  it("A3: a line between call and result moves the result up", async () => {
    await append(A("", "c1"), U("still there?"), T("c1"));
    expect(await view()).toEqual({ seen: [1, 3, 2], repairs: ["LATE_RESULT 3 c1"] });
    expect((await raw()).map((payload) => JSON.parse(payload).role)).toEqual(["ASSISTANT", "USER", "TOOL"]);
  });

  it("A4: a result before its call does not answer it", async () => {
    await append(T("c1"), A("", "c1"));
    expect(await view()).toEqual({ seen: [2, "c1"], repairs: ["ORPHAN_RESULT 1 c1", "MISSING_RESULT 2 c1"] });
  });

  it("A5: a call id used again is another call, and a second result is a duplicate", async () => {
    await append(A("", "call_0"), T("call_0"), A("", "call_0"));
    expect(await view()).toEqual({ seen: [1, 2, 3, "call_0"], repairs: ["MISSING_RESULT 3 call_0"] });
    await append(T("call_0", "first"), T("call_0", "second"));
    expect(await view()).toEqual({ seen: [1, 2, 3, 4], repairs: ["DUPLICATE_RESULT 5 call_0"] });
    expect(await raw()).toHaveLength(5);
  });

  it("A6: the filter comes first, pairing second", async () => {
    await append(A("", "c1", "c2"), T("c1"), excluded(T("c2")));
    await append(excluded(A("", "d1", "d2")), T("d1"), T("d2"));
    expect(await view()).toEqual({
      seen: [1, 2, "c2"],
      repairs: ["MISSING_RESULT 1 c2", "ORPHAN_RESULT 5 d1", "ORPHAN_RESULT 6 d2"],
    });
  });

  it("A7: a page never splits a batch, and knows of what comes after it", async () => {
    const ids = Array.from({ length: 30 }, (_, index) => `c${index + 1}`);
    await append(A("", ...ids), ...ids.map((id) => T(id)), U("next"), U("last"));
    const whole = seen((await contextOf(test.store)).nodes);
    const first = await contextOf(test.within({}), "s", { page: { first: 7 } });
    expect(seen(first.nodes)).toEqual(whole.slice(0, 31));
    expect(first.messages).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const middle = first.messages?.cursors[12] ?? "";
    const rest = await contextOf(test.within({}), "s", { page: { first: 7, after: middle } });
    expect(seen(rest.nodes)).toEqual([32, 33]);
    expect(rest.messages).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const back = await contextOf(test.within({}), "s", { page: { last: 1, before: rest.messages?.startCursor ?? "" } });
    expect(seen(back.nodes)).toEqual(whole.slice(0, 31));
    expect(new Set(first.messages?.cursors).size).toBe(31);
  });

  it("A8: a boundary inside a batch is accepted, and what it cut off from its call is left out", async () => {
    await append(U("u"), A("", "b", "c"), T("b"), T("c"), A("ok"), T("x"));
    const before = await raw();
    await snapshot(3, 0);
    expect(await view()).toEqual({ seen: [5], repairs: ["ORPHAN_RESULT 4 c", "ORPHAN_RESULT 6 x"] });
    expect(await raw()).toEqual(before);
  });

  it("A9: what was appended while a summary was made follows it, and of two summaries one wins", async () => {
    await append(...Array.from({ length: 40 }, (_, index) => U(`line ${index}`)));
    const { lastSequence, snapshotVersion } = await contextOf(test.store);
    await append(...Array.from({ length: 5 }, (_, index) => U(`late ${index}`)));
    const before = await raw();
    const both = await Promise.all([
      refusalOf(snapshot(lastSequence, snapshotVersion)),
      refusalOf(snapshot(lastSequence, snapshotVersion)),
    ]);
    expect(both).toEqual(["accepted", "CONFLICT STALE_VERSION"]);
    expect(await view()).toEqual({ seen: [41, 42, 43, 44, 45], repairs: [] });
    expect(await raw()).toEqual(before);
  });

  it("A10: snapshot, messages and last sequence are one view while both grow", async () => {
    let grown = false;
    const writer = async () => {
      for (let version = 0; version < 25; version++) {
        const { session } = await append(U("a"), U("b"), U("c"));
        await snapshot(session.lastSequence - 1, version);
      }
      grown = true;
    };
    const reader = async () => {
      let reads = 0;
      while (!grown || reads < 200) {
        const found = await test.within({}).readContext({ sessionId: "s", page: {} });
        reads++;
        if (found !== null) {
          const boundary = found.snapshot?.compactedThroughSequence ?? 0;
          const sequences = found.messages?.nodes.map((node) => node.sequence);
          const expected = Array.from({ length: found.lastSequence - boundary }, (_, index) => boundary + 1 + index);
          expect(sequences).toEqual(expected);
          expect(found.snapshotVersion).toBe(found.snapshot?.version ?? 0);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([writer(), reader()]);
  });

  it("A13: an empty assistant message is left out, an empty result stays", async () => {
    await append(A(""), { message: { assistant: { text: "", reasoning: "only thought" } } });
    await append({ message: { assistant: { parts: [{ text: "" }] } } }, { message: { assistant: {} } });
    await append({ message: { assistant: { text: "", replayBlocks: ["{}"] } } });
    await append(A("", "c1", "c2"), T("c1", ""), { message: { tool: { toolCallId: "c2", name: "n", parts: [] } } });
    expect(await view()).toEqual({ seen: [5, 6, 7, 8], repairs: [] });
  });

  it("A16: every complete batch after a boundary is there, none replaced by a made-up failure", async () => {
    for (let turn = 1; turn <= 40; turn++) {
      await append(U("go"), A("", "call_0", "call_1"), T("call_1", `b${turn}`), T("call_0", `a${turn}`));
    }
    await snapshot(80, 0);
    const { nodes, repairs } = await contextOf(test.store);
    expect(repairs).toEqual([]);
    expect(nodes).toHaveLength(80);
    expect(nodes.every((node) => node.sequence !== null && node.sequence > 80)).toBe(true);
    expect(nodes.slice(2, 4).map((node) => messageIn(node).text)).toEqual(["a21", "b21"]);
  });
});
