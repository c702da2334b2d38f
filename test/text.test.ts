import { expect, it } from "vitest";
import { utf8Size } from "../src/store/check.ts";
import { exceedsCodePoints, firstCodePoints, hasControl, isBlank, trimWhiteSpace } from "../src/text.ts";

it("limits count code points: 199 letters and an emoji are 200", () => {
  const title = `${"a".repeat(199)}😀`;
  expect(exceedsCodePoints(title, 200)).toBe(false);
  expect(exceedsCodePoints(title, 199)).toBe(true);
  expect(firstCodePoints("😀".repeat(10_000), 3)).toBe("😀😀😀");
});

it("white space and controls are Unicode's", () => {
  expect(isBlank("\u0085\u2003\u3000 ")).toBe(true);
  expect(isBlank("\ufeff")).toBe(false);
  expect(trimWhiteSpace("\u2003 a b\u0085")).toBe("a b");
  expect(["a\u0000", "a\u0085", "a\n"].map(hasControl)).toEqual([true, true, true]);
});

it("sizes are those of UTF-8", () => {
  for (const text of ["", "abc", "é", "€", "😀", "a\u0000b", "a😀é€".repeat(50)]) {
    expect(utf8Size(text)).toBe(Buffer.byteLength(text, "utf8"));
  }
});
