import { badInput } from "../errors.ts";

/** What kind of list a cursor walks. A cursor of another kind is refused. */
export type CursorKind =
  | "sessions"
  | "messages"
  | "context"
  | "snapshots"
  | "runs"
  | "runEvents"
  | "usage"
  | "tenants"
  | "keys";

/** A place in a list: the sort key of a row. */
export type CursorPosition = readonly (string | number)[];

/** The list that a cursor belongs to. `owner` names its parent, e.g. tenant, generation of the session, order. */
export interface CursorScope {
  readonly kind: CursorKind;
  readonly owner: CursorPosition;
}

/** An opaque text with a checksum over kind, owner and position: a mistake is found, whoever made it. No secret. */
export function sealCursor(scope: CursorScope, position: CursorPosition): string {
  const body = JSON.stringify(position);
  return toBase64Url(`${checksum(scope, body)}${body}`);
}

/**
 * The position in a cursor of this very list; BAD_USER_INPUT at `argument` for any text that sealCursor did not
 * give.
 */
export function openCursor(scope: CursorScope, cursor: string, argument: "after" | "before"): CursorPosition {
  const refused = () => badInput([argument], "This cursor is not one of this list; pass a cursor as the list gave it.");
  if (cursor.length === 0 || cursor.length > 4_096) throw refused();
  const text = fromBase64Url(cursor);
  if (text === null) throw refused();
  const body = text.slice(CHECKSUM_LENGTH);
  if (checksum(scope, body) !== text.slice(0, CHECKSUM_LENGTH) || toBase64Url(text) !== cursor) throw refused();
  const position = parsePosition(body);
  if (position === null) throw refused();
  return position;
}

const CHECKSUM_LENGTH = 14;

/** Two FNV-1a lanes of 32 bits from different starts, in base 36, over everything the cursor must agree with. */
function checksum(scope: CursorScope, body: string): string {
  const text = `${scope.kind}\n${JSON.stringify(scope.owner)}\n${body}`;
  let first = 0x811c9dc5;
  let second = 0x2f0b4c47;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit ^ (first >>> 15), 0x01000193);
  }
  return [first, second].map((lane) => (lane >>> 0).toString(36).padStart(CHECKSUM_LENGTH / 2, "0")).join("");
}

function parsePosition(body: string): CursorPosition | null {
  try {
    const value: unknown = JSON.parse(body);
    if (!Array.isArray(value)) return null;
    return value.every((part) => typeof part === "string" || typeof part === "number") ? value : null;
  } catch {
    return null;
  }
}

// btoa and atob take bytes: text goes through UTF-8, so that any session id can stand in a cursor.

function toBase64Url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64Url(cursor: string): string | null {
  if (!/^[A-Za-z0-9_-]+$/.test(cursor)) return null;
  try {
    const binary = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
