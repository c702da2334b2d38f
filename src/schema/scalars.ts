import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from "graphql";
import { isJsonText, JSON_DEPTH_MAX, type JsonObject, jsonObjectProblem } from "../json.ts";
import { formatInstant, type Instant, parseInstant } from "../time.ts";
import { builder } from "./builder.ts";

type Variables = Readonly<Record<string, unknown>> | null | undefined;

function refused(message: string, node?: ValueNode): GraphQLError {
  return new GraphQLError(message, { nodes: node ?? null, extensions: { code: "BAD_USER_INPUT" } });
}

builder.scalarType("DateTime", {
  description:
    "An instant in RFC 3339 form, e.g. `2026-12-01T04:01:16.123456Z`. Input may carry any offset and up to six " +
    "fractional digits; output is UTC with exactly six, so microseconds survive the round trip.",
  serialize: (value) => formatInstant(value),
  parseValue: (value) => instantOf(value),
  parseLiteral: (node) => instantOf(node.kind === Kind.STRING ? node.value : null, node),
});

function instantOf(value: unknown, node?: ValueNode): Instant {
  const time = typeof value === "string" ? parseInstant(value) : null;
  if (time === null) throw refused("A DateTime is RFC 3339 text with an offset, e.g. 2026-12-01T04:01:16Z.", node);
  return time;
}

builder.scalarType("SafeInt", {
  description: "A whole number up to 2^53 − 1. Nanoseconds, bytes and token totals outgrow Int.",
  serialize: (value) => value,
  parseValue: (value) => safeInteger(value),
  parseLiteral: (node) => safeInteger(node.kind === Kind.INT ? Number(node.value) : null, node),
});

function safeInteger(value: unknown, node?: ValueNode): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw refused("A SafeInt is a whole number within ±(2^53 − 1).", node);
}

builder.scalarType("JSONText", {
  description:
    "One JSON value as text. It is checked to be JSON, then kept and given back byte for byte: the spelling of " +
    "numbers, the order of keys, escapes and integers of any size survive.",
  serialize: (value) => value,
  parseValue: (value) => jsonText(value),
  parseLiteral: (node) => jsonText(node.kind === Kind.STRING ? node.value : null, node),
});

function jsonText(value: unknown, node?: ValueNode): string {
  if (typeof value === "string" && isJsonText(value)) return value;
  throw refused("A JSONText is a string that holds one JSON document.", node);
}

builder.scalarType("JSONObject", {
  description:
    "A JSON object. An integer beyond ±(2^53 − 1) and more than 64 levels are refused, never rounded or cut; send " +
    "such numbers as strings.",
  serialize: (value) => value,
  parseValue: (value) => jsonObject(value),
  parseLiteral: (node, variables) => jsonObject(literalValue(node, variables, 1), node),
});

function jsonObject(value: unknown, node?: ValueNode): JsonObject {
  const problem = jsonObjectProblem(value);
  if (problem !== null || !isJsonObject(value)) throw refused(`This JSON object ${problem}.`, node);
  return value;
}

function isJsonObject(value: unknown): value is JsonObject {
  return jsonObjectProblem(value) === null;
}

/** Objects have no prototype, so that `__proto__` is a key like any other. */
function literalValue(node: ValueNode, variables: Variables, depth: number): unknown {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.STRING:
    case Kind.BOOLEAN:
      return node.value;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.LIST:
      checkDepth(node, depth);
      return node.values.map((value) => literalValue(value, variables, depth + 1));
    case Kind.OBJECT: {
      checkDepth(node, depth);
      const object: Record<string, unknown> = Object.create(null);
      for (const field of node.fields) object[field.name.value] = literalValue(field.value, variables, depth + 1);
      return object;
    }
    case Kind.VARIABLE:
      return variables?.[node.name.value] ?? null;
    case Kind.ENUM:
      throw refused(`${node.value} is no JSON value; text stands in quotation marks.`, node);
    default:
      return node satisfies never;
  }
}

/** Literals are walked by recursion: stopped at the very depth that is refused anyway. */
function checkDepth(node: ValueNode, depth: number): void {
  if (depth > JSON_DEPTH_MAX) throw refused(`This JSON object nests deeper than ${JSON_DEPTH_MAX} levels.`, node);
}

/**
 * Takes the place of GraphQL's own ID. That one turns the variable 12345678901234567890 into "12345678901234567000",
 * another id than the one that was sent.
 */
export const exactId = new GraphQLScalarType<string, string>({
  name: "ID",
  description: "An id: text that is compared exactly. A whole number is taken as its digits.",
  serialize: (value) => String(value),
  parseValue: (value) => idOf(value),
  parseLiteral: (node) => idOf(node.kind === Kind.STRING || node.kind === Kind.INT ? node.value : null, node),
});

function idOf(value: unknown, node?: ValueNode): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  throw refused("An ID is text. A number this large or with a fraction has lost digits on its way: quote it.", node);
}
