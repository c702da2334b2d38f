import { badInput, type FieldPath } from "../errors.ts";
import type { ContentPartInput, FilePartInput, ImagePartInput } from "./contract.ts";
import { type ContentPart, IMAGE_DETAILS } from "./model.ts";
import type { Maybe } from "./page.ts";

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const IMAGE_URL = /^(https?:\/\/|data:image\/)/i;

/** A message's parts, each exactly one of text, image and file. */
export function checkParts(parts: readonly ContentPartInput[], path: FieldPath): readonly ContentPart[] {
  return parts.map((part, index) => checkPart(part, [...path, index]));
}

function checkPart(part: ContentPartInput, path: FieldPath): ContentPart {
  const given = [part.text, part.image, part.file].filter((value) => value !== null && value !== undefined);
  if (given.length !== 1) throw badInput(path, "A content part is exactly one of text, image and file.");
  if (part.image) return checkImage(part.image, [...path, "image"]);
  if (part.file) return checkFile(part.file, [...path, "file"]);
  return { kind: "text", text: part.text ?? "" };
}

function checkImage(image: ImagePartInput, path: FieldPath): ContentPart {
  const source = checkSource(image.url, image.data, path);
  const mediaType = image.mediaType ?? null;
  if (source.url !== null && !IMAGE_URL.test(source.url)) {
    throw badInput([...path, "url"], "An image's url begins with http://, https:// or data:image/.");
  }
  if (source.data !== null && mediaType === null) {
    throw badInput([...path, "mediaType"], "An image given as data needs its media type, e.g. image/png.");
  }
  const detail = image.detail ?? "AUTO";
  if (!IMAGE_DETAILS.includes(detail)) throw badInput([...path, "detail"], "A detail is AUTO, LOW or HIGH.");
  return { kind: "image", ...source, mediaType, detail, altText: image.altText ?? null };
}

function checkFile(file: FilePartInput, path: FieldPath): ContentPart {
  const source = checkSource(file.url, file.data, path);
  if (typeof file.mediaType !== "string" || file.mediaType === "") {
    throw badInput([...path, "mediaType"], "A file needs its media type, e.g. application/pdf.");
  }
  return { kind: "file", ...source, mediaType: file.mediaType, name: file.name ?? null };
}

function checkSource(
  url: Maybe<string>,
  data: Maybe<string>,
  path: FieldPath,
): { readonly url: string | null; readonly data: string | null } {
  const source = { url: url ?? null, data: data ?? null };
  if ((source.url === null) === (source.data === null)) throw badInput(path, "Give exactly one of url and data.");
  if (source.data !== null && (source.data.length % 4 !== 0 || !BASE64.test(source.data))) {
    throw badInput([...path, "data"], "This must be base64.");
  }
  return source;
}
