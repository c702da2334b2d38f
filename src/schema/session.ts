import { reading } from "./access.ts";
import { builder } from "./builder.ts";
import { offsetArguments, pageArguments, pageRequest, SessionConnection } from "./connections.ts";
import { OrderDirectionEnum, SessionOrderFieldEnum } from "./enums.ts";
import { SessionRef } from "./refs.ts";
import { TokenUsageRef } from "./token-usage.ts";

SessionRef.implement({
  description: "One conversation with an agent: its log, its snapshots and its runs.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Chosen by the client, or a UUIDv7." }),
    parent: t.field({
      type: SessionRef,
      nullable: true,
      description: "The conversation that delegated this one; null for a root, or where it is gone or out of reach.",
      resolve: (session, _args, context) => {
        reading(context);
        return session.parentSessionId === null ? null : context.loaders.session(session.parentSessionId);
      },
    }),
    parentSessionId: t.exposeID("parentSessionId", {
      nullable: true,
      description: "Id of the parent, kept even after the parent is deleted.",
    }),
    children: t.field({
      type: SessionConnection,
      description: "Sessions that this one delegated, by latest activity, newest first.",
      args: pageArguments(),
      resolve: (session, args, context, info) =>
        reading(context).listSessions({
          filter: { parentSessionId: session.id },
          page: pageRequest(args, info),
        }),
    }),
    sessionType: t.exposeInt("sessionType", {
      description: "The application's own code for where the session comes from; 0 unless given.",
    }),
    title: t.exposeString("title", { nullable: true, description: "For people to tell sessions apart." }),
    agentName: t.exposeString("agentName", { nullable: true, description: "The agent that answers." }),
    userId: t.exposeID("userId", {
      nullable: true,
      description: "The tenant's end user whom the session belongs to; the parent's where left out at creation.",
    }),
    metadata: t.expose("metadata", { type: "JSONObject", description: "The application's own notes." }),
    messageCount: t.exposeInt("messageCount", { description: "How many raw messages the log holds." }),
    lastSequence: t.exposeInt("lastSequence", { description: "Sequence of the newest raw message; 0 for none." }),
    usage: t.expose("usage", { type: TokenUsageRef, description: "Totals over messages and snapshots." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was set up." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "Its latest activity." }),
  }),
});

const SessionOrderInput = builder.inputType("SessionOrder", {
  description: "An order of sessions; ties are broken by id.",
  fields: (t) => ({
    field: t.field({ type: SessionOrderFieldEnum, required: true, description: "What to order by." }),
    direction: t.field({ type: OrderDirectionEnum, required: true, description: "Which end comes first." }),
  }),
});

export const SessionFilterInput = builder.inputType("SessionFilter", {
  description: "What sessions must all fulfil. Null is not given; an empty list matches nothing; times are exclusive.",
  fields: (t) => ({
    sessionTypes: t.intList({ description: "One of these types." }),
    agentNames: t.stringList({ description: "One of these agents, compared exactly." }),
    userIds: t.idList({ description: "Of one of these end users." }),
    parentSessionId: t.id({ description: "Delegated by this session." }),
    root: t.boolean({ description: "Without a parent (true), or with one (false)." }),
    running: t.boolean({ description: "With a live run (true), or without one (false)." }),
    titleContains: t.string({ description: "Found in the title, case folded." }),
    updatedAfter: t.field({ type: "DateTime", description: "Latest activity later than this." }),
    updatedBefore: t.field({ type: "DateTime", description: "Latest activity earlier than this." }),
    createdAfter: t.field({ type: "DateTime", description: "Created later than this." }),
    createdBefore: t.field({ type: "DateTime", description: "Created earlier than this." }),
  }),
});

builder.queryField("session", (t) =>
  t.field({
    type: SessionRef,
    nullable: true,
    description: "One session, or null where the caller has none of that id.",
    args: { id: t.arg.id({ required: true, description: "The session's id." }) },
    resolve: (_root, { id }, context) => {
      reading(context);
      return context.loaders.session(id);
    },
  }),
);

builder.queryField("sessions", (t) =>
  t.field({
    type: SessionConnection,
    description: "Sessions, newest activity first unless ordered otherwise.",
    args: {
      filter: t.arg({ type: SessionFilterInput, description: "Which sessions; all where left out." }),
      orderBy: t.arg({
        type: SessionOrderInput,
        defaultValue: { field: "UPDATED_AT", direction: "DESC" },
        description: "In which order; ties by id.",
      }),
      ...offsetArguments(),
    },
    resolve: (_root, { filter, orderBy, ...page }, context, info) =>
      reading(context).listSessions({ filter, orderBy, page: pageRequest(page, info) }),
  }),
);
