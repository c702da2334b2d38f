import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ERROR_CODES } from "../src/errors.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** First cells of the table rows under a heading. */
function tableUnder(heading: string): readonly string[] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^\| `([^`]+)` *\|/gm)].map((match) => match[1] ?? "");
}

describe("the README", () => {
  it("lists every error code, and no other", () => {
    expect(tableUnder("Error codes")).toEqual([...ERROR_CODES]);
  });
});
