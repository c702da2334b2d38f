import fc from "fast-check";
import { expect, it } from "vitest";
import type { AppendMessageInput, ContextView } from "../../../src/store/contract.ts";
import { type ContextMessage, EVERYTHING, type Message, type RawMessage } from "../../../src/store/model.ts";
import { A, contextOf, excluded, messageIn, seen, T, U } from "../../support/context.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

const ids = ["a", "b", "c"];
const anyMessage: fc.Arbitrary<AppendMessageInput> = fc
  .tuple(
    fc.oneof(
      fc.constant(U("line")),
      fc.constant(A("")),
      fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 3 }).map((calls) => A("text", ...calls)),
      fc.constantFrom(...ids).map((id) => T(id)),
    ),
    fc.integer({ min: 0, max: 9 }),
  )
  .map(([message, chance]) => (chance === 0 ? excluded(message) : message));
/** `place` is a share of the log; what is refused where it falls is no edit. */
type Step =
  | { readonly kind: "append"; readonly messages: readonly AppendMessageInput[] }
  | { readonly kind: "snapshot" | "rewind"; readonly place: number }
  | { readonly kind: "clear" };
const place = fc.double({ min: 0, max: 1, noNaN: true });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant("append"),
      messages: fc.array(anyMessage, { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("snapshot"), place }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("rewind"), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear") }) },
) as fc.Arbitrary<Step>;

/** A second, plain account of what a context holds before pairing: which sequences are still in it. */
class Account {
  version = 0;
  versions = 0;
  boundary = 0;
  last = 0;
  readonly hidden = new Set<number>();
  hideAfter(through: number): readonly number[] {
    const gone: number[] = [];
    for (let sequence = through + 1; sequence <= this.last; sequence++) {
      if (sequence > this.boundary && !this.hidden.has(sequence)) gone.push(sequence);
      this.hidden.add(sequence);
    }
    return gone;
  }
}

async function take(test: TestStore, account: Account, step: Step): Promise<void> {
  const store = test.within({});
  if (step.kind === "append") {
    const { session } = await store.appendMessages({ sessionId: "s", messages: step.messages });
    account.last = session.lastSequence;
  } else if (step.kind === "snapshot") {
    const through = Math.ceil(step.place * account.last);
    if (through <= account.boundary) return;
    const input = { sessionId: "s", summary: "x", compactedThroughSequence: through, expectedVersion: account.version };
    account.version = (await store.createSnapshot(input)).version;
    expect(account.version).toBe(++account.versions);
    account.boundary = through;
  } else {
    const share = step.kind === "clear" ? 0 : step.place;
    const floor = step.kind === "clear" ? 0 : account.boundary;
    const throughSequence = floor + Math.floor(share * (account.last - floor));
    const input = { sessionId: "s", throughSequence, expectedLastSequence: account.last };
    const { removed } = await store.rewindSession(input, { ...EVERYTHING, payload: false });
    expect(removed.map((message) => message.sequence)).toEqual(account.hideAfter(throughSequence));
    if (throughSequence === 0) {
      account.version = 0;
      account.boundary = 0;
    }
  }
}

/** The pairing oracle: one result for each call right behind it, in call order, and no result elsewhere. */
function checkPairing(messages: readonly ContextMessage[]): void {
  const open: string[] = [];
  for (const message of messages.map(messageIn)) {
    if (message.role === "TOOL") expect(message.toolCallId).toBe(open.shift());
    else {
      expect(open).toEqual([]);
      if (message.role === "ASSISTANT") open.push(...message.toolCalls.map((call) => call.id));
    }
  }
  expect(open).toEqual([]);
}

function checkContent(
  view: ContextView,
  nodes: readonly ContextMessage[],
  account: Account,
  log: readonly RawMessage[],
) {
  const bySequence = new Map(log.map((entry) => [entry.sequence, entry]));
  const kept = log.filter((entry) => {
    const message = JSON.parse(entry.payload ?? "") as Message;
    if (entry.sequence <= account.boundary || account.hidden.has(entry.sequence)) return false;
    if (message.role === "ASSISTANT" && message.toolCalls.length === 0 && message.text === "") return false;
    return message.includeInContext;
  });
  for (const node of nodes) {
    if (node.sequence !== null) expect(node.payload).toBe(bySequence.get(node.sequence)?.payload);
  }
  const stored = seen(nodes).filter((item) => typeof item === "number");
  const leftOut = view.repairs
    .filter((repair) => /ORPHAN|DUPLICATE/.test(repair.kind))
    .map((repair) => repair.sequence);
  expect([...stored, ...leftOut].sort((left, right) => left - right)).toEqual(kept.map((entry) => entry.sequence));
  const missing = view.repairs.filter((repair) => repair.kind === "MISSING_RESULT").map((repair) => repair.toolCallId);
  expect(missing).toEqual(seen(nodes).filter((item) => typeof item === "string"));
  const moved = stored.filter((sequence, index) => stored.slice(0, index).some((earlier) => earlier > sequence));
  if (moved.length > 0 && !view.repairs.some((repair) => repair.kind === "LATE_RESULT")) {
    // Without a repair only the results of one batch may have changed places.
    expect(moved.every((sequence) => bySequence.get(sequence)?.role === "TOOL")).toBe(true);
  }
}

/** No call that has a result in the kept log is answered by a made-up one. */
function checkNothingHidden(nodes: readonly ContextMessage[], view: ContextView): void {
  const messages = nodes.map(messageIn);
  for (const repair of view.repairs.filter((found) => found.kind === "DUPLICATE_RESULT")) {
    const heads = nodes.filter((node, index) => {
      const message = messages[index];
      const calls = message?.role === "ASSISTANT" ? message.toolCalls.map((call) => call.id) : [];
      return node.sequence !== null && node.sequence < repair.sequence && calls.includes(repair.toolCallId);
    });
    const head = nodes.indexOf(heads.at(-1) ?? { sequence: null, id: null, payload: "" });
    const answer = messages.findIndex(
      (message, index) => index > head && message.role === "TOOL" && message.toolCallId === repair.toolCallId,
    );
    expect(nodes[answer]?.sequence ?? Number.POSITIVE_INFINITY).toBeLessThan(repair.sequence);
  }
}

async function checkPages(test: TestStore, pinned: ContextView, whole: readonly ContextMessage[], rows: number) {
  for (const forward of [true, false]) {
    const walked: ContextMessage[] = [];
    let cursor: string | null = null;
    for (;;) {
      const page = forward ? { first: rows, after: cursor } : { last: rows, before: cursor };
      const found = await contextOf(test.within({}), "s", cursor === null ? { page, pin: pinned.pin } : { page });
      if (forward) walked.push(...found.nodes);
      else walked.unshift(...found.nodes);
      expect(forward ? found.messages?.hasPreviousPage : found.messages?.hasNextPage).toBe(cursor !== null);
      if (!(forward ? found.messages?.hasNextPage : found.messages?.hasPreviousPage)) break;
      expect(found.nodes.length).toBeGreaterThanOrEqual(rows);
      cursor = (forward ? found.messages?.endCursor : found.messages?.startCursor) ?? null;
    }
    expect(walked).toEqual(whole);
  }
}

it("for any log, snapshots and rewinds: paired, explained, unchanged, and joined pages are the whole", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 6 }),
      async (steps, rows) => {
        const test = openTestStore();
        try {
          await test.store.createSession({ id: "s" });
          const account = new Account();
          let log: readonly RawMessage[] = [];
          const views: { readonly view: ContextView; readonly nodes: readonly ContextMessage[] }[] = [];
          for (const step of steps) {
            await take(test, account, step);
            const list = { sessionId: "s", page: { first: 1_000 }, select: EVERYTHING };
            const now = (await test.within({}).listMessages(list))?.nodes ?? [];
            expect(now.slice(0, log.length)).toEqual(log);
            log = now;
            const view = await contextOf(test.within({}));
            expect(view.snapshotVersion).toBe(account.version);
            checkPairing(view.nodes);
            checkContent(view, view.nodes, account, log);
            checkNothingHidden(view.nodes, view);
            views.push({ view, nodes: view.nodes });
          }
          for (const { view, nodes } of views) await checkPages(test, view, nodes, rows);
          await checkLookingBack(test, views);
        } finally {
          test.dispose();
        }
      },
    ),
    { numRuns: 25 },
  );
});

/** Looking back to a moment shows the last view that was taken before the next message. */
async function checkLookingBack(
  test: TestStore,
  views: readonly { readonly view: ContextView; readonly nodes: readonly ContextMessage[] }[],
): Promise<void> {
  const latest = new Map(views.map((found) => [found.view.lastSequence, found]));
  for (const [throughSequence, { view, nodes }] of latest) {
    const back = await contextOf(test.within({}), "s", { throughSequence });
    expect(back.nodes).toEqual(nodes);
    expect(back.repairs).toEqual(view.repairs);
    expect(back.snapshot).toEqual(view.snapshot);
  }
}
