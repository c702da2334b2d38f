import {
  GraphQLID,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from "graphql";
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

/** The whole API, every noun's file gathered. Each call builds types of its own. */
export function buildSchema(): GraphQLSchema {
  return withExactId(builder.toSchema({ sortSchema: false }));
}

/** The builder insists on GraphQL's own ID. Its types were made for this schema alone, so they are changed in place. */
function withExactId(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  for (const type of config.types) {
    if (isInputObjectType(type)) exchangeId(Object.values(type.getFields()));
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    const fields = Object.values(type.getFields());
    for (const field of fields) {
      exchangeId(field.args);
      field.type = EXACT_FORMS.get(String(field.type)) ?? field.type;
    }
  }
  return new GraphQLSchema({ ...config, types: config.types.filter((type) => type !== GraphQLID) });
}

function exchangeId(inputs: readonly { type: GraphQLInputType }[]): void {
  for (const input of inputs) input.type = EXACT_FORMS.get(String(input.type)) ?? input.type;
}

const ids = new GraphQLList(new GraphQLNonNull(exactId));
const EXACT_FORMS: ReadonlyMap<string, GraphQLInputType & GraphQLOutputType> = new Map<
  string,
  GraphQLInputType & GraphQLOutputType
>([
  ["ID", exactId],
  ["ID!", new GraphQLNonNull(exactId)],
  ["[ID!]", ids],
  ["[ID!]!", new GraphQLNonNull(ids)],
]);
