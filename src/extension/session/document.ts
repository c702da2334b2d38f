import type { initGraphQLTada } from "gql.tada";
import type { JsonObject } from "../../json.ts";
import type { introspection } from "./introspection.d.ts";

/** The API's own types, by which each document is checked when it is compiled. */
type Api = initGraphQLTada<{
  introspection: introspection;
  disableMasking: true;
  scalars: { ID: string; DateTime: string; SafeInt: number; JSONText: string; JSONObject: JsonObject };
}>;

/** A document as far as sending it needs one: its text, and the pieces that the text is joined from. */
interface DocumentText {
  readonly kind: "Document";
  readonly definitions: readonly never[];
  readonly loc: { readonly start: number; readonly end: number; readonly source: { readonly body: string } };
  readonly pieces: readonly string[];
}

/**
 * A document of the API with the fragments it spreads. A field that does not exist has no type, so that whoever reads
 * it fails the type check. Nothing is parsed when the program runs: the text goes out as it stands.
 */
export const graphql = composeDocument as Api;

function composeDocument(input: string, fragments: readonly DocumentText[] = []): DocumentText {
  // A fragment that two others spread may stand in the text once only.
  const pieces = [...new Set([...fragments.flatMap((fragment) => fragment.pieces), input])];
  const body = pieces.join("\n");
  return { kind: "Document", definitions: [], loc: { start: 0, end: body.length, source: { body } }, pieces };
}

/** The text of a document that `graphql` gave. */
export function documentText(document: { readonly loc?: { readonly source: { readonly body: string } } }): string {
  return document.loc?.source.body ?? "";
}

/**
 * Variables as they may be given: lists may be readonly, and what may be left out may be undefined too, which JSON
 * leaves out. Text and objects of the application's own stay as they are.
 */
export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { readonly [K in keyof T]: Given<T[K]> | (object extends Pick<T, K> ? undefined : never) }
    : T;
