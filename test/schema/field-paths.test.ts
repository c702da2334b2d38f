import { readFileSync } from "node:fs";
import { buildSchema, parse, validate } from "graphql";
import { expect, it } from "vitest";
import { documentOf, fieldPaths, valuesAt } from "../support/field-paths.ts";
import {
  MUTATION_ARGUMENTS,
  QUERY_ARGUMENTS,
  SUBSCRIPTION_ARGUMENTS,
  type WalkIds,
} from "../support/isolation-fixture.ts";

const schema = buildSchema(readFileSync(new URL("contract.graphql", import.meta.url), "utf8"));
const paths = fieldPaths(schema);
const fixtures = { query: QUERY_ARGUMENTS, mutation: MUTATION_ARGUMENTS, subscription: SUBSCRIPTION_ARGUMENTS };
const ids: WalkIds = {
  session: "s",
  child: "c",
  run: crypto.randomUUID(),
  user: "u",
  agent: "a",
  request: "r",
  key: "k",
  tenant: "t",
};

it("every field of every object type of the contract can be asked for by a valid document", () => {
  const objects = Object.values(schema.getTypeMap()).filter((type) => "getInterfaces" in type && "isTypeOf" in type);
  const fields = objects
    .filter((type) => !type.name.startsWith("__"))
    .flatMap((type) =>
      "getFields" in type ? Object.keys(type.getFields()).map((field) => `${type.name}.${field}`) : [],
    );
  expect(fields.length).toBeGreaterThan(200);
  expect(fields.filter((field) => !paths.has(field))).toEqual([]);
});

it("every root field has arguments for the isolation walk, and the documents made with them are valid", () => {
  const invalid = [...paths.values()].flat().flatMap((path) => {
    const variants = fixtures[path.operation][path.steps[0]?.field ?? ""]?.(ids) ?? [];
    if (variants.length === 0) return [`${path.operation} ${path.steps[0]?.field} has no fixture`];
    return variants.flatMap((variant) => {
      const document = documentOf(schema, path, variant === null ? "" : `(${variant})`);
      return validate(schema, parse(document)).map((error) => `${document}: ${error.message}`);
    });
  });
  expect(invalid).toEqual([]);
});

it("values are read along a path, lists laid flat", () => {
  const [path] = paths.get("RawMessage.text") ?? expect.fail();
  const single = { operation: "query", steps: ["a", "b", "c"].map((field) => ({ type: "", field })) } as const;
  expect(path?.steps.at(-1)).toEqual({ type: "RawMessage", field: "text" });
  expect(valuesAt({ a: { b: [{ c: 1 }, { c: null }, { c: 2 }] } }, single)).toEqual([1, 2]);
});
