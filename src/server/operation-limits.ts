import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from "graphql";
import { GatewayError } from "../errors.ts";

/** Limits that a document is held to whatever its variables are. */
export interface ShapeLimits {
  readonly depthMax: number;
  readonly aliasesMax: number;
  readonly directivesMax: number;
}

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The document's fragments by name. */
export function fragmentsOf(document: DocumentNode): Fragments {
  return new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((definition) => [definition.name.value, definition]),
  );
}

/**
 * Why the document is too much work, or null. It is asked before GraphQL's own validation, some rules of which compare
 * every field with every other.
 */
export function shapeProblem(document: DocumentNode, limits: ShapeLimits): GatewayError | null {
  let aliases = 0;
  let directives = 0;
  visit(document, {
    Field: (node) => {
      if (node.alias !== undefined) aliases++;
    },
    Directive: () => {
      directives++;
    },
  });
  if (aliases > limits.aliasesMax) return tooMuch(`at most ${limits.aliasesMax} aliases; this one has ${aliases}`);
  if (directives > limits.directivesMax) {
    return tooMuch(`at most ${limits.directivesMax} directives; this one has ${directives}`);
  }
  const depth = depthOf(document);
  return depth > limits.depthMax ? tooMuch(`at most ${limits.depthMax} levels of fields; this one has ${depth}`) : null;
}

function tooMuch(rest: string): GatewayError {
  return new GatewayError("BAD_USER_INPUT", `An operation has ${rest}.`);
}

/** Levels of fields, fragments followed. Introspection is left out: its own depth is bounded by a rule of GraphQL's. */
function depthOf(document: DocumentNode): number {
  const fragments = fragmentsOf(document);
  const known = new Map<string, number>();
  const depthOfFragment = (name: string): number => {
    const depth = known.get(name);
    if (depth !== undefined) return depth;
    // Stands for a fragment that reaches itself, which validation refuses.
    known.set(name, 0);
    const fragment = fragments.get(name);
    const found = fragment === undefined ? 0 : depthOfSet(fragment.selectionSet);
    known.set(name, found);
    return found;
  };
  const depthOfSet = (set: SelectionSetNode): number => {
    let deepest = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        deepest = Math.max(deepest, depthOfFragment(selection.name.value));
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        deepest = Math.max(deepest, depthOfSet(selection.selectionSet));
      } else if (!selection.name.value.startsWith("__")) {
        deepest = Math.max(
          deepest,
          1 + (selection.selectionSet === undefined ? 0 : depthOfSet(selection.selectionSet)),
        );
      }
    }
    return deepest;
  };
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  return Math.max(0, ...operations.map((operation) => depthOfSet(operation.selectionSet)));
}

/** How many root fields the operation asks for, at least 1; fields that merge under one name count once. */
export function rootFieldCount(operation: OperationDefinitionNode, fragments: Fragments): number {
  const names = new Set<string>();
  const visited = new Set<string>();
  const collect = (set: SelectionSetNode) => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) names.add(selection.alias?.value ?? selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment !== undefined) collect(fragment.selectionSet);
      }
    }
  };
  collect(operation.selectionSet);
  return Math.max(1, names.size);
}
