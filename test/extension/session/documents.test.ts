import { readFileSync } from "node:fs";
import type { ResultOf } from "gql.tada";
import { buildSchema, parse, validate } from "graphql";
import { describe, expect, it } from "vitest";
import { introspectionFile } from "../../../scripts/introspection-file.ts";
import { documentText, graphql } from "../../../src/extension/session/document.ts";
import * as runs from "../../../src/extension/session/run-documents.ts";
import * as sessions from "../../../src/extension/session/session-documents.ts";

const sdl = readFileSync(new URL("../../../schema.graphql", import.meta.url), "utf8");

describe("the extension's documents", () => {
  it("are checked against types that are up to date with schema.graphql", () => {
    const file = new URL("../../../src/extension/session/introspection.d.ts", import.meta.url);
    expect(readFileSync(file, "utf8"), "run: node --import tsx scripts/introspection.ts").toBe(introspectionFile(sdl));
  });

  it("are valid, each fragment once", () => {
    const schema = buildSchema(sdl);
    const documents = Object.values({ ...runs, ...sessions }).map((document) => documentText(document));
    expect(documents.length).toBeGreaterThan(20);
    const problems = documents.flatMap((text) => validate(schema, parse(text)).map((error) => error.message));
    expect(problems).toEqual([]);
  });

  it("give a field that does not exist no type, so that reading it fails the type check", () => {
    const document = graphql("query Q($id: ID!) { session(id: $id) { title nothing } }");
    type Found = NonNullable<ResultOf<typeof document>["session"]>;
    const title = (found: Found): string | null => found.title;
    // @ts-expect-error the API has no such field
    const nothing = (found: Found): string | null => found.nothing;
    expect([title, nothing]).toHaveLength(2);
  });
});
