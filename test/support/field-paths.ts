import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isObjectType,
} from "graphql";

/** One step of a path: a field, asked of objects of this very type. */
export interface Step {
  readonly type: string;
  readonly field: string;
}

/** The shortest way from a root field to one field of one object type; the first step is the root field. */
export interface FieldPath {
  readonly operation: "query" | "mutation" | "subscription";
  readonly steps: readonly Step[];
}

/**
 * `Type.field` of every field of the schema that can be reached, with the shortest path to it from each root field.
 * `avoid`: fields (`Type.field`) that no path leads through, where they show too little of what lies behind them.
 */
export function fieldPaths(
  schema: GraphQLSchema,
  avoid: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, readonly FieldPath[]> {
  const found = new Map<string, FieldPath[]>();
  const roots = [
    ["query", schema.getQueryType()],
    ["mutation", schema.getMutationType()],
    ["subscription", schema.getSubscriptionType()],
  ] as const;
  for (const [operation, root] of roots) {
    for (const field of Object.values(root?.getFields() ?? {})) walkRoot(schema, operation, root, field, found, avoid);
  }
  return found;
}

type Field = GraphQLField<unknown, unknown>;
type Operation = FieldPath["operation"];

function walkRoot(
  schema: GraphQLSchema,
  operation: Operation,
  root: GraphQLObjectType | null | undefined,
  field: Field,
  found: Map<string, FieldPath[]>,
  avoid: ReadonlySet<string>,
): void {
  const seen = new Set<string>();
  let level: { readonly field: Field; readonly steps: readonly Step[] }[] = [
    { field, steps: [{ type: root?.name ?? "", field: field.name }] },
  ];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const entry of level) {
      const last = entry.steps.at(-1);
      const name = `${last?.type}.${last?.field}`;
      if (seen.has(name)) continue;
      seen.add(name);
      found.set(name, [...(found.get(name) ?? []), { operation, steps: entry.steps }]);
      if (avoid.has(name)) continue;
      for (const type of objectTypes(schema, getNamedType(entry.field.type))) {
        for (const child of Object.values(type.getFields())) {
          next.push({ field: child, steps: [...entry.steps, { type: type.name, field: child.name }] });
        }
      }
    }
    level = next;
  }
}

function objectTypes(schema: GraphQLSchema, type: GraphQLNamedType): readonly GraphQLObjectType[] {
  if (isObjectType(type)) return [type];
  return isAbstractType(type) ? schema.getPossibleTypes(type) : [];
}

/** A document that asks for the path alone; `args` is the root field's argument list in parentheses, or empty. */
export function documentOf(schema: GraphQLSchema, path: FieldPath, args: string): string {
  const [root, ...rest] = path.steps;
  const inner = rest.map((step) => `... on ${step.type} { ${step.field}`).join(" { ");
  const leaf = leafSelection(schema, path.steps.at(-1));
  const closing = rest.map(() => " }").join(" }");
  const body = rest.length === 0 ? leaf : ` { ${inner}${leaf}${closing} }`;
  return `${path.operation} { ${root?.field}${args}${body} }`;
}

function leafSelection(schema: GraphQLSchema, step: Step | undefined): string {
  const type = schema.getType(step?.type ?? "");
  const field = isObjectType(type) ? type.getFields()[step?.field ?? ""] : undefined;
  return field !== undefined && isCompositeType(getNamedType(field.type)) ? " { __typename }" : "";
}

/** Every value that the answer holds at the path, lists laid flat; nothing for what is null on the way. */
export function valuesAt(data: unknown, path: FieldPath): readonly unknown[] {
  let values: unknown[] = [data];
  for (const step of path.steps) {
    values = values.flatMap((value) => {
      const child = typeof value === "object" && value !== null ? Reflect.get(value, step.field) : undefined;
      return Array.isArray(child) ? child : [child];
    });
  }
  return values.filter((value) => value !== null && value !== undefined);
}
