import {
  GraphQLError,
  type GraphQLFieldResolver,
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
import { GatewayError } from "../errors.ts";
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
  return finished(builder.toSchema({ sortSchema: false }));
}

/**
 * Mends what the builder can't be told: it insists on GraphQL's own ID, and its resolvers throw errors of ours as they
 * are. The types were made for this schema alone, so they are changed in place.
 */
function finished(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  for (const type of config.types) {
    if (isInputObjectType(type)) exchangeId(Object.values(type.getFields()));
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    const fields = Object.values(type.getFields());
    for (const field of fields) {
      exchangeId(field.args);
      field.type = EXACT_FORMS.get(String(field.type)) ?? field.type;
      if (field.resolve && field.extensions.pothosExposedField === undefined) field.resolve = placeable(field.resolve);
      if (field.subscribe) field.subscribe = placeable(field.subscribe);
    }
  }
  return new GraphQLSchema({ ...config, types: config.types.filter((type) => type !== GraphQLID) });
}

/**
 * graphql-js takes any error with a `path` for one that it has placed in the response already. A GatewayError's path is
 * one into the input, so it goes wrapped.
 */
function placeable(resolve: Resolver): Resolver {
  const rethrow = (error: unknown): never => {
    throw error instanceof GatewayError ? new GraphQLError(error.message, { originalError: error }) : error;
  };
  return (source, args, context, info) => {
    try {
      const result: unknown = resolve(source, args, context, info);
      return result instanceof Promise ? result.catch(rethrow) : result;
    } catch (error) {
      return rethrow(error);
    }
  };
}

type Resolver = GraphQLFieldResolver<unknown, unknown>;

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
