import { minifyIntrospection, outputIntrospectionFile } from "gql.tada/internal";
import { buildSchema, introspectionFromSchema } from "graphql";

/** The API as a type declaration: what the extension's documents and their variables are checked against. */
export function introspectionFile(schemaText: string): string {
  const introspection = introspectionFromSchema(buildSchema(schemaText), { descriptions: false, oneOf: true });
  const text = outputIntrospectionFile(minifyIntrospection(introspection), {
    fileType: ".d.ts",
    shouldPreprocess: true,
    preamble: "// Generated out of schema.graphql by `node --import tsx scripts/introspection.ts`.",
  });
  // What follows would make this API the default of every document in the program, those of other APIs too.
  return `${text.slice(0, text.indexOf("import * as gqlTada")).trimEnd()}\n`;
}
