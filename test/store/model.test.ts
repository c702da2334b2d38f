import fc from "fast-check";
import { expect, it } from "vitest";
import type { AppendMessageInput, SessionStore } from "../../src/store/contract.ts";
import { EVERYTHING } from "../../src/store/model.ts";
import { refusalOf } from "../support/refusal.ts";
import { openTestStore } from "../support/store.ts";

// Random operations on the store and on a plain model of what the contract promises; both must agree after every step.

interface ModelSession {
  title: string | null;
  readonly messages: { readonly id: string; readonly text: string }[];
  tokens: number;
}
interface Model {
  readonly sessions: Map<string, ModelSession>;
  readonly deleted: Set<string>;
  tokens: number;
}
type Store = Pick<
  SessionStore,
  | "appendMessages"
  | "createSession"
  | "updateSession"
  | "deleteSession"
  | "getSessions"
  | "listSessions"
  | "listMessages"
  | "tenantUsage"
>;

interface Step {
  readonly kind: "append" | "create" | "title" | "delete" | "reopen";
  readonly session: string;
  readonly ids: readonly number[];
  readonly tokens: number;
  readonly stale: boolean;
}
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom("append", "append", "append", "create", "title", "delete", "reopen"),
    session: fc.constantFrom("a", "b", "c"),
    ids: fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 6 }),
    tokens: fc.integer({ min: 0, max: 9 }),
    stale: fc.boolean(),
  }) satisfies fc.Arbitrary<Step>,
  { maxLength: 30 },
);

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const messageOf = (number: number, tokens: number): AppendMessageInput => ({
  id: idOf(number),
  message: { assistant: { text: `text ${number}` } },
  usage: { inputTokens: tokens },
});

/** Token counts are part of a message, so that one id stands for one count. */
const tokensOf = (number: number) => number % 5;

async function append(store: Store, model: Model, { session, ids, stale }: Step): Promise<void> {
  const messages = ids.map((number) => messageOf(number, tokensOf(number)));
  const found = model.sessions.get(session);
  const last = found?.messages.length ?? 0;
  const expectedLastSequence = stale ? last + 1 : last;
  const answer = await refusalOf(store.appendMessages({ sessionId: session, messages, expectedLastSequence }));
  const known = (id: string) => found?.messages.some((message) => message.id === id) === true;
  const elsewhere = ids.some((number) =>
    [...model.sessions].some(
      ([id, other]) => id !== session && other.messages.some((message) => message.id === idOf(number)),
    ),
  );
  const fresh = [...new Set(ids)].filter((number) => !known(idOf(number)));
  if (found === undefined && model.deleted.has(session)) return expect(answer).toBe("NOT_FOUND");
  if (elsewhere) return expect(answer).toBe("CONFLICT ID_TAKEN");
  if (fresh.length > 0 && stale) return expect(answer).toBe("CONFLICT STALE_SEQUENCE");
  expect(answer).toBe("accepted");
  const target = found ?? { title: null, messages: [], tokens: 0 };
  model.sessions.set(session, target);
  for (const number of fresh) {
    target.messages.push({ id: idOf(number), text: `text ${number}` });
    target.tokens += tokensOf(number);
    model.tokens += tokensOf(number);
  }
}

async function apply(store: Store, model: Model, step: Step): Promise<void> {
  const { session } = step;
  const found = model.sessions.get(session);
  switch (step.kind) {
    case "append":
      return append(store, model, step);
    case "create": {
      const answer = await refusalOf(store.createSession({ id: session }));
      expect(answer).toBe(found === undefined ? "accepted" : "CONFLICT ID_TAKEN");
      if (found === undefined) model.sessions.set(session, { title: null, messages: [], tokens: 0 });
      model.deleted.delete(session);
      return;
    }
    case "title": {
      const answer = await refusalOf(store.updateSession({ sessionId: session, title: `T${step.tokens}` }));
      expect(answer).toBe(found === undefined ? "NOT_FOUND" : "accepted");
      if (found !== undefined) found.title = `T${step.tokens}`;
      return;
    }
    case "delete":
      expect(await store.deleteSession(session)).toBe(found === undefined ? null : session);
      if (found !== undefined) model.deleted.add(session);
      model.sessions.delete(session);
      return;
    case "reopen":
      return;
    default:
      step.kind satisfies never;
  }
}

async function expectAgreement(store: Store, model: Model): Promise<void> {
  for (const id of ["a", "b", "c"]) {
    const [session] = await store.getSessions([id]);
    const expected = model.sessions.get(id);
    expect(session?.title).toBe(expected?.title);
    expect(session?.usage.inputTokens).toBe(expected?.tokens);
    const page = await store.listMessages({ sessionId: id, page: { first: 1_000, count: true }, select: EVERYTHING });
    const log = page?.nodes.map((message) => ({ sequence: message.sequence, id: message.id, text: message.text }));
    expect(log).toEqual(expected?.messages.map((message, index) => ({ sequence: index + 1, ...message })));
    expect(page?.totalCount).toBe(expected?.messages.length);
  }
  const usage = await store.tenantUsage();
  const messages = [...model.sessions.values()].reduce((total, session) => total + session.messages.length, 0);
  expect(usage).toMatchObject({ sessionCount: model.sessions.size, messageCount: messages });
  expect(usage.tokens.inputTokens).toBe(model.tokens);
  const { nodes } = await store.listSessions({ page: {} });
  expect(new Set(nodes.map((session) => session.id))).toEqual(new Set(model.sessions.keys()));
}

it("random operations agree with a plain model, through restarts", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const test = openTestStore();
      try {
        const model: Model = { sessions: new Map(), deleted: new Set(), tokens: 0 };
        for (const step of sequence) {
          if (step.kind === "reopen") test.reopen();
          await apply(test.store, model, step);
          await expectAgreement(test.store, model);
        }
      } finally {
        test.dispose();
      }
    }),
    { numRuns: 60 },
  );
});
