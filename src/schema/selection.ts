import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import type { RawMessageSelection } from "../store/model.ts";

/** The fields that a document selects under one field, fragments followed, by name. */
export interface Selection {
  has(...names: readonly string[]): boolean;
  /** What is selected under that field, under all its aliases taken together. */
  under(name: string, typeName?: string): Selection;
}

/** What is selected under the field that is being resolved. `typeName` leaves out fragments on other object types. */
export function selectionOf(info: GraphQLResolveInfo, typeName?: string): Selection {
  return selectionUnder(info, info.fieldNodes, typeName);
}

function selectionUnder(info: GraphQLResolveInfo, parents: readonly FieldNode[], typeName?: string): Selection {
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<FragmentDefinitionNode>();
  const collect = (set: SelectionSetNode | undefined): void => {
    for (const node of set?.selections ?? []) {
      if (!isIncluded(node, info)) continue;
      if (node.kind === Kind.FIELD) {
        fields.set(node.name.value, [...(fields.get(node.name.value) ?? []), node]);
        continue;
      }
      const fragment = node.kind === Kind.FRAGMENT_SPREAD ? info.fragments[node.name.value] : node;
      if (fragment === undefined || !applies(info, fragment.typeCondition?.name.value, typeName)) continue;
      if (fragment.kind === Kind.FRAGMENT_DEFINITION) {
        if (visited.has(fragment)) continue;
        visited.add(fragment);
      }
      collect(fragment.selectionSet);
    }
  };
  for (const parent of parents) collect(parent.selectionSet);
  return {
    has: (...names) => names.some((name) => fields.has(name)),
    under: (name, type) => selectionUnder(info, fields.get(name) ?? [], type),
  };
}

function isIncluded(node: SelectionNode, info: GraphQLResolveInfo): boolean {
  if (node.directives === undefined || node.directives.length === 0) return true;
  const skip = getDirectiveValues(GraphQLSkipDirective, node, info.variableValues);
  const include = getDirectiveValues(GraphQLIncludeDirective, node, info.variableValues);
  return skip?.if !== true && include?.if !== false;
}

function applies(info: GraphQLResolveInfo, condition: string | undefined, typeName: string | undefined): boolean {
  if (condition === undefined || typeName === undefined || condition === typeName) return true;
  return !isObjectType(info.schema.getType(condition));
}

/** Which costly columns the fields selected on raw messages need. */
export function messageColumns(...selections: readonly Selection[]): RawMessageSelection {
  const needs = (...names: readonly string[]): boolean => selections.some((selection) => selection.has(...names));
  return {
    text: needs("text", "preview"),
    payload: needs("message", "payload"),
    metadata: needs("metadata"),
    tags: needs("tags"),
  };
}

/** The same for a connection of raw messages. */
export function messageColumnsOfPage(info: GraphQLResolveInfo): RawMessageSelection {
  const selection = selectionOf(info);
  return messageColumns(selection.under("nodes"), selection.under("edges").under("node"));
}
