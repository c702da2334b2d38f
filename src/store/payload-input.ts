import { badInput, type FieldPath } from "../errors.ts";
import { jsonObjectProblem } from "../json.ts";
import type { ContentPartInput, MessageInput } from "./contract.ts";
import { parsePayload, textOfParts } from "./message-codec.ts";
import type { ContentPart, Message } from "./model.ts";

/**
 * A payload, as RawMessage.payload returns it, turned back into the input that it came from, so that it goes
 * through the
 * very checks of the other arms. Refuses text that is not such a payload, and one whose text and parts disagree.
 */
export function payloadInput(payload: string, path: FieldPath): MessageInput {
  const message = parsePayload(payload);
  const agrees = message !== null && textOfParts(message.parts) === message.text;
  if (message === null || !agrees || jsonObjectProblem(message.attributes) !== null) {
    throw badInput(path, "This is not a message as RawMessage.payload returns it.");
  }
  return inputOf(message);
}

function inputOf(message: Message): MessageInput {
  const { attributes, includeInContext, text } = message;
  const notes = { attributes, includeInContext };
  const parts = message.parts.map(partInput);
  switch (message.role) {
    case "SYSTEM":
      return { system: { text, ...notes } };
    case "AGENT":
      return { agent: { text, ...notes } };
    case "USER":
      return { user: { parts, ...notes } };
    case "ASSISTANT": {
      const { reasoning, toolCalls, provider, model, replayBlocks } = message;
      return { assistant: { parts, ...notes, reasoning, toolCalls, provider, model, replayBlocks } };
    }
    case "TOOL": {
      const { toolCallId, name, success } = message;
      return { tool: { toolCallId, name, parts, success, ...notes } };
    }
    default:
      return message satisfies never;
  }
}

function partInput(part: ContentPart): ContentPartInput {
  switch (part.kind) {
    case "text":
      return { text: part.text };
    case "image":
      return { image: part };
    case "file":
      return { file: { ...part, mediaType: part.mediaType ?? "" } };
    default:
      return part satisfies never;
  }
}
