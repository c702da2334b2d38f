import type { ContentPart, FilePart, ImagePart, TextPart } from "../store/model.ts";
import { builder } from "./builder.ts";
import { ImageDetailEnum } from "./enums.ts";

const TextPartRef = builder.objectRef<TextPart>("TextPart").implement({
  description: "A piece of text.",
  fields: (t) => ({ text: t.exposeString("text", { description: "The text as it was given." }) }),
});

const ImagePartRef = builder.objectRef<ImagePart>("ImagePart").implement({
  description: "An image, by http(s) or data:image url, or by base64 data with its media type.",
  fields: (t) => ({
    url: t.exposeString("url", { nullable: true, description: "Where the image is; null where it is given as data." }),
    data: t.exposeString("data", { nullable: true, description: "The image itself, base64." }),
    mediaType: t.exposeString("mediaType", { nullable: true, description: "Its media type, e.g. image/png." }),
    detail: t.expose("detail", { type: ImageDetailEnum, description: "How closely to look." }),
    altText: t.exposeString("altText", { nullable: true, description: "What it shows; part of the readable text." }),
  }),
});

const FilePartRef = builder.objectRef<FilePart>("FilePart").implement({
  description: "Any other file, by url or by base64 data.",
  fields: (t) => ({
    url: t.exposeString("url", { nullable: true, description: "Where the file is; null where it is given as data." }),
    data: t.exposeString("data", { nullable: true, description: "The file itself, base64." }),
    mediaType: t.exposeString("mediaType", { nullable: true, description: "Its media type, e.g. application/pdf." }),
    name: t.exposeString("name", { nullable: true, description: "Its file name." }),
  }),
});

const REF_BY_KIND = { text: TextPartRef, image: ImagePartRef, file: FilePartRef } as const;

export const ContentPartUnion = builder.unionType("ContentPart", {
  description: "A part of a message. Kinds may be added; clients bear unknown ones.",
  types: [TextPartRef, ImagePartRef, FilePartRef],
  resolveType: (part: ContentPart) => REF_BY_KIND[part.kind],
});
