import type { ObjectRef } from "@pothos/core";
import type { GraphQLResolveInfo } from "graphql";
import { present } from "../assert.ts";
import type { Page, PageRequest } from "../store/page.ts";
import { planPage, sealPage } from "../store/paging.ts";
import { type ApiTypes, builder } from "./builder.ts";
import {
  ApiKeyRef,
  ContextMessageRef,
  ContextSnapshotRef,
  RawMessageRef,
  RunEventRef,
  RunRef,
  SessionRef,
  TenantRef,
  UsageBucketRef,
} from "./refs.ts";
import { selectionOf } from "./selection.ts";

const PageInfoRef = builder.objectRef<Page<unknown>>("PageInfo").implement({
  description: "Where a page lies in its list. Both flags are exact, whichever end the page was read from.",
  fields: (t) => ({
    hasNextPage: t.exposeBoolean("hasNextPage", { description: "Whether a row of the list follows." }),
    hasPreviousPage: t.exposeBoolean("hasPreviousPage", { description: "Whether a row of the list comes before." }),
    startCursor: t.exposeString("startCursor", {
      nullable: true,
      description: "Cursor of the first row; on an empty page the `before` that was given.",
    }),
    endCursor: t.exposeString("endCursor", {
      nullable: true,
      description: "Cursor of the last row; on an empty page the `after` that was given, so that a loop stays put.",
    }),
  }),
});

interface Edge<T> {
  readonly cursor: string;
  readonly node: T;
}

/** The Relay connection of a noun: `<name>Connection` and `<name>Edge`. `plural` is how its descriptions call it. */
function connectionOf<T>(node: ObjectRef<ApiTypes, T>, name: string, plural: string) {
  const EdgeRef = builder.objectRef<Edge<T>>(`${name}Edge`).implement({
    description: `One of the ${plural} and its place in the list.`,
    fields: (t) => ({
      cursor: t.exposeString("cursor", { description: "Its place; pass it as `after` or `before`." }),
      node: t.expose("node", { type: node, description: "What stands there." }),
    }),
  });
  return builder.objectRef<Page<T>>(`${name}Connection`).implement({
    description: `One page of a list of ${plural}.`,
    fields: (t) => ({
      edges: t.field({
        type: [EdgeRef],
        description: "The rows of the page with their cursors.",
        resolve: (page) => page.nodes.map((row, index) => ({ cursor: page.cursors[index] ?? "", node: row })),
      }),
      nodes: t.field({ type: [node], description: "The rows of the page.", resolve: (page) => page.nodes }),
      pageInfo: t.field({ type: PageInfoRef, description: "Where the page lies.", resolve: (page) => page }),
      totalCount: t.int({
        description: "How many rows the whole list has, whatever the page; counted only where it is asked for.",
        resolve: (page) => present(page.totalCount, "a count that was asked for"),
      }),
    }),
  });
}

export const SessionConnection = connectionOf(SessionRef, "Session", "sessions");
export const RawMessageConnection = connectionOf(RawMessageRef, "RawMessage", "raw messages");
export const ContextSnapshotConnection = connectionOf(ContextSnapshotRef, "ContextSnapshot", "snapshots");
export const ContextMessageConnection = connectionOf(ContextMessageRef, "ContextMessage", "context messages");
export const RunConnection = connectionOf(RunRef, "Run", "runs");
export const RunEventConnection = connectionOf(RunEventRef, "RunEvent", "run events");
export const UsageBucketConnection = connectionOf(UsageBucketRef, "UsageBucket", "usage buckets");
export const TenantConnection = connectionOf(TenantRef, "Tenant", "tenants");
export const ApiKeyConnection = connectionOf(ApiKeyRef, "ApiKey", "API keys");

/** The arguments of a list that is walked forward: new ones for every field that takes them. */
export function forwardArguments() {
  return builder.args((t) => ({
    first: t.int({
      description: "How many rows at most, from the start or after `after`; 100 where left out, 1,000 at most.",
    }),
    after: t.string({ description: "Only rows after this cursor." }),
  }));
}

/** The arguments of a list that is walked both ways. */
export function pageArguments() {
  return {
    ...forwardArguments(),
    ...builder.args((t) => ({
      last: t.int({ description: "How many rows at most, from the end or before `before`, in the list's own order." }),
      before: t.string({ description: "Only rows before this cursor." }),
    })),
  };
}

/** The same for a list that can also be entered by position. */
export function offsetArguments() {
  return {
    ...pageArguments(),
    ...builder.args((t) => ({
      offset: t.int({ description: "How many rows to pass over from the start; not with a cursor or `last`." }),
    })),
  };
}

/** What a store is asked for: the arguments as they came, and a count only where the document selects it. */
export function pageRequest(args: Omit<PageRequest, "count">, info: GraphQLResolveInfo): PageRequest {
  const { first, after, last, before, offset } = args;
  return { first, after, last, before, offset, count: selectionOf(info).has("totalCount") };
}

/** The page of a list that has no rows because its parent is gone. A cursor can't belong to it, so one is refused. */
export function emptyPage(request: PageRequest): Page<never> {
  const scope = { kind: "sessions", owner: [] } as const;
  planPage(request, scope);
  return sealPage<never>(
    { nodes: [], hasNextPage: false, hasPreviousPage: false, totalCount: 0 },
    request,
    scope,
    () => [],
  );
}
