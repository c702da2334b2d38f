export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Levels a JSON object may have, itself counted as the first. */
export const JSON_DEPTH_MAX = 64;

/** The empty object, frozen: one record's notes can never leak into another's. */
export const EMPTY_OBJECT: JsonObject = Object.freeze({});

/** Whether the text is one JSON document. V8's parser keeps its own stack, so depth costs memory, never a crash. */
export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Why the value is not a JSON object that can be kept exactly, as an end of a sentence; null where it is one.
 * Refuses integers (by value, so 1e21 too) beyond ±(2^53 − 1), what JSON has no word for, and more than
 * JSON_DEPTH_MAX levels. Walks with a stack of its own: the depth of hostile input is not ours to trust.
 */
export function jsonObjectProblem(value: unknown): string | null {
  if (!isPlainObject(value)) return "must be a JSON object";
  const pending: { readonly node: object; readonly depth: number }[] = [{ node: value, depth: 1 }];
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    if (entry.depth > JSON_DEPTH_MAX) return `nests deeper than ${JSON_DEPTH_MAX} levels`;
    for (const child of Object.values(entry.node)) {
      if (typeof child === "object" && child !== null) {
        if (!Array.isArray(child) && !isPlainObject(child)) return "holds a value that JSON has no form for";
        pending.push({ node: child, depth: entry.depth + 1 });
        continue;
      }
      const problem = scalarProblem(child);
      if (problem !== null) return problem;
    }
  }
  return null;
}

/** Same JSON value: order of keys does not count, order of lists does. */
export function jsonEquals(left: JsonValue, right: JsonValue): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const leftEntries = Object.entries(left);
  if (leftEntries.length !== Object.keys(right).length) return false;
  const other = new Map(Object.entries(right));
  return leftEntries.every(([key, value]) => {
    const match = other.get(key);
    return match !== undefined && jsonEquals(value, match);
  });
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function scalarProblem(value: unknown): string | null {
  if (value === null || typeof value === "string" || typeof value === "boolean") return null;
  if (typeof value !== "number") return "holds a value that JSON has no form for";
  if (!Number.isFinite(value)) return "holds a number that is too large to be kept";
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return "holds an integer beyond ±(2^53 − 1), which would be rounded; send it as a string";
  }
  return null;
}
