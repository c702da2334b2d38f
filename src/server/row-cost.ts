import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { GatewayError } from "../errors.ts";
import type { Fragments } from "./operation-limits.ts";

/** What a connection gives where no size is asked for, and the most that it gives. */
const PAGE_DEFAULT = 100;
const PAGE_MAX = 1000;

type Variables = Readonly<Record<string, unknown>>;

/** Refuses an operation that asks for more rows than `rowsMax`: page sizes multiplied through nesting. */
export function checkRows(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
  variables: Variables,
  rowsMax: number,
): void {
  const root = schema.getRootType(operation.operation);
  if (root === undefined || root === null) return;
  const rows = createCounter(schema, operation, fragments, variables)(operation.selectionSet, root);
  if (rows <= rowsMax) return;
  throw new GatewayError(
    "BAD_USER_INPUT",
    `An operation may ask for ${rowsMax} rows; this one could bring ${rows}. Ask for smaller pages (first: …) where ` +
      "lists stand in lists, or follow cursors.",
  );
}

/** Rows below one parent. A fragment is counted once for each type it stands on, however often it is spread. */
function createCounter(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
  variables: Variables,
): (set: SelectionSetNode, parent: GraphQLNamedType) => number {
  const counted = new Map<string, number>();
  const typeOf = (name: string | undefined, parent: GraphQLNamedType) =>
    name === undefined ? parent : (schema.getType(name) ?? parent);
  const countFragment = (name: string): number => {
    const fragment = fragments.get(name);
    if (fragment === undefined) return 0;
    const known = counted.get(name);
    if (known !== undefined) return known;
    counted.set(name, 0);
    const type = schema.getType(fragment.typeCondition.name.value);
    const rows = type === undefined ? 0 : count(fragment.selectionSet, type);
    counted.set(name, rows);
    return rows;
  };
  const countField = (node: FieldNode, parent: GraphQLNamedType): number => {
    const field = fieldOf(parent, node.name.value);
    if (field === undefined || node.selectionSet === undefined) return 0;
    const below = count(node.selectionSet, getNamedType(field.type));
    if (!field.args.some(({ name }) => name === "first")) return below;
    return pageSize(node, operation, variables) * (1 + below);
  };
  const count = (set: SelectionSetNode, parent: GraphQLNamedType): number =>
    set.selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + countField(selection, parent);
      if (selection.kind === Kind.FRAGMENT_SPREAD) return sum + countFragment(selection.name.value);
      return sum + count(selection.selectionSet, typeOf(selection.typeCondition?.name.value, parent));
    }, 0);
  return count;
}

function fieldOf(parent: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | undefined {
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

function pageSize(node: FieldNode, operation: OperationDefinitionNode, variables: Variables): number {
  if (node.selectionSet !== undefined && countsOnly(node.selectionSet)) return 1;
  const sizes = (node.arguments ?? [])
    .filter(({ name }) => name.value === "first" || name.value === "last")
    .map(({ value }) => {
      if (value.kind === Kind.INT) return Number(value.value);
      return value.kind === Kind.VARIABLE ? variableSize(value.name.value, operation, variables) : null;
    })
    .filter((size) => size !== null);
  return Math.min(PAGE_MAX, Math.max(1, ...(sizes.length === 0 ? [PAGE_DEFAULT] : sizes)));
}

function variableSize(name: string, operation: OperationDefinitionNode, variables: Variables): number | null {
  const given = variables[name];
  if (given !== undefined) return typeof given === "number" ? given : null;
  const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
  return definition?.defaultValue?.kind === Kind.INT ? Number(definition.defaultValue.value) : null;
}

/** Whether a connection is asked for its total alone, which reads no rows. */
function countsOnly(set: SelectionSetNode): boolean {
  return set.selections.every((selection) => {
    if (selection.kind === Kind.FIELD)
      return selection.name.value === "totalCount" || selection.name.value === "__typename";
    if (selection.kind === Kind.INLINE_FRAGMENT) return countsOnly(selection.selectionSet);
    return false;
  });
}
