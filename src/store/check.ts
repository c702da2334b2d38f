import { badInput, type FieldPath, tooLarge } from "../errors.ts";
import { EMPTY_OBJECT, type JsonObject, jsonObjectProblem } from "../json.ts";
import { exceedsCodePoints, hasControl, hasLoneSurrogate, isBlank, trimWhiteSpace } from "../text.ts";
import { normalizeUuid } from "../uuid.ts";
import type { TokenUsageInput } from "./contract.ts";
import { NO_USAGE, type TokenUsage } from "./model.ts";
import type { Maybe } from "./page.ts";

// Input that more than one operation checks. A refusal names the field by its path in the operation's input.

/** Ids of sessions, parents, users, requests, tenants and keys: compared exactly, never folded or normalized. */
export const ID_CODE_POINTS_MAX = 200;
export const TITLE_CODE_POINTS_MAX = 200;
export const AGENT_NAME_CODE_POINTS_MAX = 64;
/** Tool names and tool-call ids are message content; some proxies pack signatures into the ids. */
export const TOOL_TEXT_CODE_POINTS_MAX = 8_192;
/** Metadata, tags and attributes each, as UTF-8 JSON. */
export const NOTES_BYTES_MAX = 64 * 1024;
export const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * UTF-8 size of a text, lone surrogates counted as they are written in JSON escapes or as three bytes in plain
 * text.
 */
export function utf8Size(text: string): number {
  let size = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) size += 1;
    else if (isPairAt(text, index, unit)) {
      size += 2;
      index++;
    } else size += 2;
  }
  return size;
}

function isPairAt(text: string, index: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(index + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

/** Whether a text can be an id at all; look-ups of other text find nothing. */
export function isPossibleId(text: string): boolean {
  return text !== "" && !exceedsCodePoints(text, ID_CODE_POINTS_MAX) && !hasControl(text) && !hasLoneSurrogate(text);
}

/** An id of the 1 to 200 character kind; BAD_USER_INPUT at `path` otherwise. */
export function checkId<Id extends string>(text: string, path: FieldPath): Id {
  if (!isPossibleId(text)) {
    throw badInput(path, `An id has 1 to ${ID_CODE_POINTS_MAX} characters, without control characters.`);
  }
  return text as Id;
}

/** As checkId; null where none was given. */
export function checkOptionalId<Id extends string>(text: Maybe<string>, path: FieldPath): Id | null {
  return text === null || text === undefined ? null : checkId<Id>(text, path);
}

/** Message, run and snapshot ids: UUIDs of any version, any case in, lower case out. */
export function checkUuid<Id extends string>(text: string, path: FieldPath): Id {
  const id = normalizeUuid(text);
  if (id === null) throw badInput(path, "This id must be a UUID, e.g. 0198c2f0-7b1e-7c3a-9f54-1d2e3a4b5c6d.");
  return id as Id;
}

/** A session title, trimmed. */
export function checkTitle(text: string, path: FieldPath): string {
  return checkLabel(text, path, "A title", TITLE_CODE_POINTS_MAX);
}

/** An agent name, trimmed. */
export function checkAgentName(text: string, path: FieldPath): string {
  return checkLabel(text, path, "An agent name", AGENT_NAME_CODE_POINTS_MAX);
}

/** A label for people: trimmed, refused where blank or too long, never cut. */
export function checkLabel(text: string, path: FieldPath, noun: string, limit: number): string {
  const trimmed = trimWhiteSpace(text);
  if (hasControl(trimmed) || hasLoneSurrogate(trimmed)) {
    throw badInput(path, `${noun} can't hold control characters or half of a surrogate pair.`);
  }
  if (isBlank(trimmed) || exceedsCodePoints(trimmed, limit)) {
    throw badInput(path, `${noun} has 1 to ${limit} characters that are not all blank.`);
  }
  return trimmed;
}

/** Tool names and tool-call ids: any text, odd text too. */
export function checkToolText(text: string, path: FieldPath): string {
  if (text === "" || exceedsCodePoints(text, TOOL_TEXT_CODE_POINTS_MAX)) {
    throw badInput(path, `This text has 1 to ${TOOL_TEXT_CODE_POINTS_MAX} characters.`);
  }
  return text;
}

export interface CheckedNotes {
  readonly value: JsonObject;
  /** The JSON text that is stored. */
  readonly json: string;
}
const NO_NOTES: CheckedNotes = Object.freeze({ value: EMPTY_OBJECT, json: "{}" });

/** Metadata, tags or attributes; nothing given is the empty object. */
export function checkNotes(value: Maybe<JsonObject>, path: FieldPath): CheckedNotes {
  if (value === null || value === undefined) return NO_NOTES;
  const problem = jsonObjectProblem(value);
  if (problem !== null) throw badInput(path, `This JSON object ${problem}.`);
  const json = JSON.stringify(value);
  if (utf8Size(json) > NOTES_BYTES_MAX)
    throw badInput(path, `This JSON object is larger than ${NOTES_BYTES_MAX} bytes.`);
  return { value, json };
}

/** Token counts: whole, not negative, parts no greater than their whole. Null where nothing was given. */
export function checkUsage(input: Maybe<TokenUsageInput>, path: FieldPath): TokenUsage | null {
  if (input === null || input === undefined) return null;
  const usage: TokenUsage = {
    inputTokens: input.inputTokens ?? NO_USAGE.inputTokens,
    outputTokens: input.outputTokens ?? NO_USAGE.outputTokens,
    cacheReadTokens: input.cacheReadTokens ?? NO_USAGE.cacheReadTokens,
    cacheWriteTokens: input.cacheWriteTokens ?? NO_USAGE.cacheWriteTokens,
    reasoningTokens: input.reasoningTokens ?? NO_USAGE.reasoningTokens,
  };
  for (const [name, count] of Object.entries(usage)) checkCount(count, [...path, name]);
  if (usage.cacheReadTokens > usage.inputTokens)
    throw badInput(
      [...path, "cacheReadTokens"],
      "Input counts cached tokens too, so cacheReadTokens can't be above inputTokens.",
    );
  if (usage.cacheWriteTokens > usage.inputTokens)
    throw badInput(
      [...path, "cacheWriteTokens"],
      "Input counts cached tokens too, so cacheWriteTokens can't be above inputTokens.",
    );
  if (usage.reasoningTokens > usage.outputTokens)
    throw badInput(
      [...path, "reasoningTokens"],
      "Output counts reasoning too, so reasoningTokens can't be above outputTokens.",
    );
  return usage;
}

/** A whole number from 0 to 2^53 − 1. */
export function checkCount(count: number, path: FieldPath): number {
  if (!Number.isSafeInteger(count) || count < 0) throw badInput(path, "This must be a whole number, 0 or more.");
  return count;
}

/** Sum that stays at 2^53 − 1 instead of leaving the numbers that are exact. */
export function saturatingSum(left: number, right: number): number {
  return Math.min(left + right, Number.MAX_SAFE_INTEGER);
}

/** Sum of two usages, each count saturating. */
export function addUsage(left: TokenUsage, right: TokenUsage): TokenUsage {
  return {
    inputTokens: saturatingSum(left.inputTokens, right.inputTokens),
    outputTokens: saturatingSum(left.outputTokens, right.outputTokens),
    cacheReadTokens: saturatingSum(left.cacheReadTokens, right.cacheReadTokens),
    cacheWriteTokens: saturatingSum(left.cacheWriteTokens, right.cacheWriteTokens),
    reasoningTokens: saturatingSum(left.reasoningTokens, right.reasoningTokens),
  };
}

/** Text of limited UTF-8 size; `code` PAYLOAD_TOO_LARGE is for payloads, all else is a field's limit. */
export function checkTextSize(
  text: string,
  limitBytes: number,
  path: FieldPath,
  code: "field" | "payload" = "field",
): string {
  if (text.length * 3 > limitBytes && utf8Size(text) > limitBytes) {
    const message = `This is larger than ${limitBytes} bytes.`;
    throw code === "payload" ? tooLarge(message, path) : badInput(path, message);
  }
  return text;
}
