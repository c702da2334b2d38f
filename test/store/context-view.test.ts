import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ContextProjection, pageUnits, projectContext, type SkeletonEntry } from "../../src/store/context-view.ts";

type Shape = Omit<SkeletonEntry, "sequence">;
const plain = { includeInContext: true, empty: false, calls: [], resultFor: null };
const U: Shape = { ...plain, role: "USER" };
const A = (...ids: readonly string[]): Shape => ({
  ...plain,
  role: "ASSISTANT",
  calls: ids.map((id) => ({ id, name: `tool-${id}` })),
});
const T = (id: string): Shape => ({ ...plain, role: "TOOL", resultFor: id });
const excluded = (shape: Shape): Shape => ({ ...shape, includeInContext: false });

const log = (...shapes: readonly Shape[]): readonly SkeletonEntry[] =>
  shapes.map((shape, index) => ({ ...shape, sequence: index + 1 }));

/** Sequences of what is restored; a synthesized result as its call id. */
const seen = (view: ContextProjection) =>
  view.units.flatMap((unit) =>
    unit.members.map((member) => (member.kind === "stored" ? member.sequence : member.toolCallId)),
  );
const repairs = (view: ContextProjection) => view.repairs.map((r) => `${r.kind} ${r.sequence} ${r.toolCallId}`);

describe("a restored context", () => {
  it.each([
    ["an unanswered call is answered as failed", log(U, A("c")), [1, 2, "c"], ["MISSING_RESULT 2 c"]],
    [
      "a gap in a parallel batch is filled in call order",
      log(A("a", "b", "c"), T("c"), T("a")),
      [1, 3, "b", 2],
      ["MISSING_RESULT 1 b"],
    ],
    ["a line between call and result moves the result up", log(A("c"), U, T("c")), [1, 3, 2], ["LATE_RESULT 3 c"]],
    [
      "a result before its call does not count",
      log(T("c"), A("c")),
      [2, "c"],
      ["ORPHAN_RESULT 1 c", "MISSING_RESULT 2 c"],
    ],
    [
      "a call id used again is another call",
      log(A("c"), T("c"), A("c"), T("c"), T("c")),
      [1, 2, 3, 4],
      ["DUPLICATE_RESULT 5 c"],
    ],
    [
      "an answered nearest call makes a duplicate, even where an older one is open",
      log(A("c"), U, A("c"), T("c"), T("c")),
      [1, "c", 2, 3, 4],
      ["MISSING_RESULT 1 c", "DUPLICATE_RESULT 5 c"],
    ],
    ["an excluded result is missing", log(A("a", "b"), T("a"), excluded(T("b"))), [1, 2, "b"], ["MISSING_RESULT 1 b"]],
    ["an excluded assistant orphans its results", log(excluded(A("a")), T("a"), U), [3], ["ORPHAN_RESULT 2 a"]],
    ["an excluded line between does not make a result late", log(A("c"), excluded(U), T("c")), [1, 3], []],
    ["an empty assistant message is left out", log(U, { ...A(), empty: true }, U), [1, 3], []],
  ] as const)("%s", (_, entries, expected, mended) => {
    const view = projectContext(entries);
    expect(seen(view)).toEqual(expected);
    expect(repairs(view)).toEqual(mended);
  });

  it("leaves out what was rewound, and what the boundary of a snapshot cut off from its call", () => {
    const entries = log(U, A("b", "c"), T("b"), T("c"), A(), T("x"));
    expect(repairs(projectContext(entries.slice(3)))).toEqual(["ORPHAN_RESULT 4 c", "ORPHAN_RESULT 6 x"]);
    expect(seen(projectContext(entries, [{ after: 1, through: 5 }]))).toEqual([1]);
  });
});

const ids = ["a", "b", "c", "d"];
const anyShape: fc.Arbitrary<Shape> = fc
  .tuple(
    fc.oneof(
      fc.constant(U),
      fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 4 }).map((calls) => A(...calls)),
      fc.constantFrom(...ids).map(T),
    ),
    fc.boolean(),
    fc.integer({ min: 0, max: 9 }),
  )
  .map(([shape, empty, chance]) => ({
    ...shape,
    empty: empty && shape.calls.length === 0,
    includeInContext: chance > 0,
  }));
const anyLog = fc.array(anyShape, { maxLength: 40 }).map((shapes) => log(...shapes));
const anyHidden = fc.array(
  fc.tuple(fc.nat(40), fc.nat(40)).map(([after, through]) => ({ after, through })),
  { maxLength: 2 },
);

describe("for any log and rewinds", () => {
  it("every call is answered once, right behind it, in call order, and no tool message stands elsewhere", () => {
    fc.assert(
      fc.property(anyLog, anyHidden, (entries, hidden) => {
        const bySequence = new Map(entries.map((entry) => [entry.sequence, entry]));
        for (const unit of projectContext(entries, hidden).units) {
          const [head, ...results] = unit.members;
          const assistant = bySequence.get(unit.headSequence);
          expect(head).toEqual({ kind: "stored", sequence: unit.headSequence });
          expect(assistant?.role).not.toBe("TOOL");
          const answered = results.map((member) =>
            member.kind === "stored" ? bySequence.get(member.sequence)?.resultFor : member.toolCallId,
          );
          expect(answered).toEqual(assistant?.calls.map((call) => call.id));
          for (const member of results) {
            if (member.kind === "stored") expect(member.sequence).toBeGreaterThan(unit.headSequence);
          }
        }
      }),
    );
  });

  it("the repairs explain every difference from the filtered log, and the log is unchanged", () => {
    fc.assert(
      fc.property(anyLog, anyHidden, (entries, hidden) => {
        const before = JSON.stringify(entries);
        const view = projectContext(entries, hidden);
        expect(JSON.stringify(entries)).toBe(before);
        const kept = entries.filter(
          (entry) =>
            entry.includeInContext &&
            !(entry.role === "ASSISTANT" && entry.empty) &&
            !hidden.some((range) => entry.sequence > range.after && entry.sequence <= range.through),
        );
        const left = view.repairs
          .filter((repair) => /ORPHAN|DUPLICATE/.test(repair.kind))
          .map((repair) => repair.sequence);
        const stored = seen(view).filter((item) => typeof item === "number");
        expect([...stored, ...left].sort((a, b) => a - b)).toEqual(kept.map((entry) => entry.sequence));
        const missing = view.repairs.filter((repair) => repair.kind === "MISSING_RESULT");
        expect(missing.map((repair) => repair.toolCallId)).toEqual(
          seen(view).filter((item) => typeof item === "string"),
        );
        if (view.repairs.length === 0) {
          const heads = kept.filter((entry) => entry.role !== "TOOL").map((entry) => entry.sequence);
          expect(view.units.map((unit) => unit.headSequence)).toEqual(heads);
        }
      }),
    );
  });

  it("joined pages equal the whole, forward and backward, whatever their size", () => {
    fc.assert(
      fc.property(anyLog, fc.integer({ min: 1, max: 9 }), fc.boolean(), (entries, rows, forward) => {
        const { units } = projectContext(entries);
        const walked = [];
        let edge: number | null = null;
        for (;;) {
          const page = pageUnits(units, {
            direction: forward ? "forward" : "backward",
            rows,
            after: forward ? edge : null,
            before: forward ? null : edge,
          });
          if (forward) walked.push(...page.units);
          else walked.unshift(...page.units);
          if (!(forward ? page.hasNextPage : page.hasPreviousPage)) break;
          expect(page.units.length).toBeGreaterThan(0);
          edge = (forward ? page.units.at(-1) : page.units[0])?.headSequence ?? null;
        }
        expect(walked).toEqual(units);
      }),
    );
  });
});
