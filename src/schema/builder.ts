import SchemaBuilder from "@pothos/core";
import type { JsonObject } from "../json.ts";
import type { Instant } from "../time.ts";
import type { GatewayContext } from "./context.ts";

export type ApiTypes = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Types> ? Types : never;

/** What every type of the API is added to. It defines none itself; schema.ts gathers the nouns. */
export const builder = new SchemaBuilder<{
  Context: GatewayContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Instant; Output: Instant };
    JSONObject: { Input: JsonObject; Output: JsonObject };
    JSONText: { Input: string; Output: string };
    SafeInt: { Input: number; Output: number };
  };
}>({ defaultFieldNullability: false });

builder.queryType({ description: "What can be read. Every field but viewer needs the scope READ." });
builder.mutationType({
  description:
    "What can be changed. Every payload is nullable, so that a refused field hides nothing of its neighbours.",
});
builder.subscriptionType({ description: "What can be followed live. Every field needs the scope READ." });
