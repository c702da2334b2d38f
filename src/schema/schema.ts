import { type GraphQLSchema, lexicographicSortSchema } from "graphql";
import { builder } from "./builder.ts";
import { exactId } from "./scalars.ts";
import "./api-key.ts";
import "./append-messages.ts";
import "./raw-message.ts";
import "./rewind.ts";
import "./run.ts";
import "./run-event.ts";
import "./run-mutations.ts";
import "./session.ts";
import "./session-change.ts";
import "./session-context.ts";
import "./session-feed.ts";
import "./session-mutations.ts";
import "./snapshot.ts";
import "./tenant.ts";
import "./tenant-mutations.ts";
import "./usage.ts";
import "./viewer.ts";

/** The whole API, every noun's file gathered; types, fields and arguments sorted by name. */
export function buildSchema(): GraphQLSchema {
  return withExactId(builder.toSchema({ sortSchema: false }));
}

/**
 * The builder insists on GraphQL's own ID. Sorting makes every type anew and finds those they refer to by name, so
 * another scalar of that name takes its place everywhere.
 */
function withExactId(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  const types = config.types.map((type) => (type.name === exactId.name ? exactId : type));
  return lexicographicSortSchema(Object.create(schema, { toConfig: { value: () => ({ ...config, types }) } }));
}
