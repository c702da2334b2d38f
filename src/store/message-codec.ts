import type { JsonObject, JsonValue } from "../json.ts";
import type { ContentPart, Message, MessageRole } from "./model.ts";

// How a message stands in the store and in its payload (decision 8): every field of its GraphQL type by name, in the
// order of schema.graphql, nulls written, JSON texts as strings. The same message always gives the same bytes.

/** The pieces of a payload that are stored. Their concatenation is the payload. */
export interface EncodedMessage {
  readonly role: MessageRole;
  readonly includeInContext: boolean;
  /** JSON string literal of the readable text. */
  readonly textJson: string;
  /** Null where the parts are the text and nothing else. */
  readonly partsJson: string | null;
  readonly attributesJson: string;
  /** The members that only this role has, without a comma in front; '' for none. */
  readonly tailJson: string;
}

/** A message as its stored pieces. */
export function encodeMessage(message: Message): EncodedMessage {
  const { role, text, parts, attributes, includeInContext } = message;
  const plain = parts.length === 1 && parts[0]?.kind === "text" && parts[0].text === text;
  return {
    role,
    includeInContext,
    textJson: JSON.stringify(text),
    partsJson: plain ? null : JSON.stringify(parts.map(partJson)),
    attributesJson: JSON.stringify(attributes),
    tailJson: tailOf(message),
  };
}

/** The whole payload. */
export function composePayload(encoded: EncodedMessage): string {
  const parts = encoded.partsJson ?? `[{"text":${encoded.textJson}}]`;
  const tail = encoded.tailJson === "" ? "" : `,${encoded.tailJson}`;
  const head = `{"role":"${encoded.role}","text":${encoded.textJson},"parts":${parts}`;
  return `${head},"attributes":${encoded.attributesJson},"includeInContext":${encoded.includeInContext}${tail}}`;
}

function partJson(part: ContentPart): JsonObject {
  switch (part.kind) {
    case "text":
      return { text: part.text };
    case "image":
      return { url: part.url, data: part.data, mediaType: part.mediaType, detail: part.detail, altText: part.altText };
    case "file":
      return { url: part.url, data: part.data, mediaType: part.mediaType, name: part.name };
    default:
      return part satisfies never;
  }
}

function tailOf(message: Message): string {
  switch (message.role) {
    case "SYSTEM":
    case "USER":
    case "AGENT":
      return "";
    case "ASSISTANT": {
      const { reasoning, toolCalls, provider, model, replayBlocks } = message;
      return JSON.stringify({ reasoning, toolCalls, provider, model, replayBlocks }).slice(1, -1);
    }
    case "TOOL": {
      const { toolCallId, name, success } = message;
      return JSON.stringify({ toolCallId, name, success }).slice(1, -1);
    }
    default:
      return message satisfies never;
  }
}

/** Readable text: text parts joined by a newline; an image adds its altText only, a file nothing. */
export function textOfParts(parts: readonly ContentPart[]): string {
  return parts
    .flatMap((part) => (part.kind === "text" ? [part.text] : part.kind === "image" ? (part.altText ?? []) : []))
    .join("\n");
}

/** The message in a payload that `composePayload` gave; null for any other text. */
export function parsePayload(payload: string): Message | null {
  try {
    return messageOf(JSON.parse(payload));
  } catch {
    return null;
  }
}

type Fields = Readonly<Record<string, JsonValue | undefined>>;

function messageOf(fields: Fields): Message | null {
  const { role, text, parts, attributes, includeInContext } = fields;
  if (typeof text !== "string" || !Array.isArray(parts) || !isObject(attributes)) return null;
  if (typeof includeInContext !== "boolean") return null;
  const base = { text, parts: parts.map(partOf), attributes, includeInContext };
  switch (role) {
    case "SYSTEM":
    case "USER":
    case "AGENT":
      return { role, ...base };
    case "ASSISTANT":
      return {
        role,
        ...base,
        reasoning: textOrNull(fields.reasoning),
        toolCalls: listOf(fields.toolCalls).map((call) => ({
          id: textOf(call.id),
          name: textOf(call.name),
          arguments: textOf(call.arguments),
        })),
        provider: textOrNull(fields.provider),
        model: textOrNull(fields.model),
        replayBlocks: Array.isArray(fields.replayBlocks) ? fields.replayBlocks.map(textOf) : [],
      };
    case "TOOL":
      return {
        role,
        ...base,
        toolCallId: textOf(fields.toolCallId),
        name: textOf(fields.name),
        success: fields.success === true,
      };
    default:
      return null;
  }
}

/** Parts carry no type name: an image has a detail, a file has a name (null included), a text has its text. */
function partOf(value: JsonValue): ContentPart {
  const part: Fields = isObject(value) ? value : {};
  if ("text" in part) return { kind: "text", text: textOf(part.text) };
  const source = { url: textOrNull(part.url), data: textOrNull(part.data) };
  const mediaType = textOrNull(part.mediaType);
  if ("name" in part) return { kind: "file", ...source, mediaType, name: textOrNull(part.name) };
  const detail = part.detail === "LOW" || part.detail === "HIGH" ? part.detail : "AUTO";
  return { kind: "image", ...source, mediaType, detail, altText: textOrNull(part.altText) };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value !== "string") throw new Error("a text is missing");
  return value;
}

function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}
