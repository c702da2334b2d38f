import { describe, expect, it } from "vitest";
import { isJsonText, jsonEquals, jsonObjectProblem } from "../src/json.ts";

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}

describe("JSON objects", () => {
  it("may nest 64 levels, not 65, and no depth brings the check down", () => {
    expect(jsonObjectProblem(nested(64))).toBeNull();
    expect(jsonObjectProblem(nested(65))).toContain("64");
    expect(jsonObjectProblem(nested(100_000))).toContain("64");
  });

  it("refuse integers that would be rounded, wherever they stand", () => {
    for (const value of [9007199254740992, -9007199254740992, 1e21, Number.POSITIVE_INFINITY]) {
      expect(jsonObjectProblem({ list: [{ value }] })).not.toBeNull();
    }
    expect(jsonObjectProblem({ value: 9007199254740991, other: 0.1, zero: -0 })).toBeNull();
  });

  it("are objects, not lists, texts or nothing", () => {
    expect([[], "x", null, 1, undefined, new Date()].map((value) => jsonObjectProblem(value) === null)).toEqual(
      Array(6).fill(false),
    );
  });

  it("may have keys that mean something in JavaScript", () => {
    expect(jsonObjectProblem(JSON.parse('{"__proto__":{"admin":true},"constructor":1}'))).toBeNull();
    expect(jsonEquals(JSON.parse('{"__proto__":1}'), {})).toBe(false);
  });

  it("are equal whatever the order of their keys", () => {
    expect(jsonEquals({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true);
    expect(jsonEquals({ b: [1, 2] }, { b: [2, 1] })).toBe(false);
  });
});

describe("JSON text", () => {
  it("is one JSON document and nothing else", () => {
    const wrong = ["", "{", '{"a":1,}', "NaN", "01", "{}x", "\ufeff{}", '"a\u0001"'];
    expect(wrong.map(isJsonText)).toEqual(wrong.map(() => false));
    expect(isJsonText(' {"a":"\\u00e9\\/","a":"\\\\u0000","lone":"\\ud800"}\n')).toBe(true);
  });

  it("may nest as deep as it likes", () => {
    expect(isJsonText(`${"[".repeat(200_000)}${"]".repeat(200_000)}`)).toBe(true);
  });
});
