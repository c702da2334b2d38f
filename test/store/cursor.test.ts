import fc from "fast-check";
import { expect, it } from "vitest";
import { GatewayError } from "../../src/errors.ts";
import { type CursorScope, openCursor, sealCursor } from "../../src/store/cursor.ts";

const scope: CursorScope = { kind: "messages", owner: ["acme", 7] };

function codeOf(work: () => unknown): string {
  try {
    work();
    return "accepted";
  } catch (error) {
    return error instanceof GatewayError ? `${error.code} ${error.path?.join(".")}` : "another error";
  }
}

it("a cursor gives its position back, in its own list alone", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.maxSafeInteger())), (position) => {
      const cursor = sealCursor(scope, position);
      expect(openCursor(scope, cursor, "after")).toEqual(position);
      for (const other of [
        { ...scope, kind: "runs" as const },
        { ...scope, owner: ["acme", 8] },
        { ...scope, owner: ["other", 7] },
      ]) {
        expect(codeOf(() => openCursor(other, cursor, "after"))).toBe("BAD_USER_INPUT after");
      }
    }),
  );
});

it("a cursor that is cut, changed, padded or made up is refused", () => {
  const cursor = sealCursor(scope, [42]);
  const quote = Buffer.from("';DROP TABLE x").toString("base64url");
  const made = ["", `${cursor}!`, `${cursor}=`, cursor.slice(0, -1), cursor.slice(1), "x".repeat(10_240), quote];
  made.push(Buffer.from('{"s":-1}').toString("base64url"), `${cursor.slice(0, -1)}${cursor.endsWith("A") ? "B" : "A"}`);
  expect(made.map((text) => codeOf(() => openCursor(scope, text, "before")))).toEqual(
    made.map(() => "BAD_USER_INPUT before"),
  );
});
