import type { ContextSnapshot } from "../store/model.ts";
import { reading, underInput, writing } from "./access.ts";
import { builder } from "./builder.ts";
import { ContextSnapshotConnection, emptyPage, pageArguments, pageRequest } from "./connections.ts";
import { ContextSnapshotRef, SessionRef } from "./refs.ts";
import { TokenUsageInput, TokenUsageRef } from "./token-usage.ts";

ContextSnapshotRef.implement({
  description: "A checkpoint: one summary that stands for the log through a sequence. It never changes.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "A UUID; of version 7 where the gateway made it." }),
    sessionId: t.exposeID("sessionId", { description: "The session that it sums up." }),
    version: t.exposeInt("version", { description: "1, 2, 3 … within the session." }),
    summary: t.exposeString("summary", { description: "What stands for the compacted messages." }),
    attributes: t.expose("attributes", { type: "JSONObject", description: "The application's own notes." }),
    compactedThroughSequence: t.exposeInt("compactedThroughSequence", {
      description: "The last sequence that the summary stands for.",
    }),
    usage: t.expose("usage", {
      type: TokenUsageRef,
      nullable: true,
      description: "What the summary cost, where reported; part of the session's and the tenant's totals.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was stored." }),
  }),
});

builder.objectField(SessionRef, "latestSnapshot", (t) =>
  t.field({
    type: ContextSnapshotRef,
    nullable: true,
    description: "The newest snapshot ever stored. Which one a model sees, only the context says.",
    resolve: (session, _args, context) => reading(context).latestSnapshot(session.id),
  }),
);

builder.objectField(SessionRef, "snapshots", (t) =>
  t.field({
    type: ContextSnapshotConnection,
    description: "Every snapshot, newest version first.",
    args: pageArguments(),
    resolve: async (session, args, context, info) => {
      const page = pageRequest(args, info);
      return (await reading(context).listSnapshots(session.id, page)) ?? emptyPage(page);
    },
  }),
);

const CreateSnapshotInput = builder.inputType("CreateSnapshotInput", {
  description: "A summary to store.",
  fields: (t) => ({
    id: t.id({ description: "A UUID of the client's; it makes a repeat harmless. A UUIDv7 where left out." }),
    sessionId: t.id({ required: true, description: "The session that it sums up." }),
    summary: t.string({ required: true, description: "What stands for the compacted messages, at most 1 MiB." }),
    usage: t.field({ type: TokenUsageInput, description: "What making it cost." }),
    runId: t.id({ description: "The run that writes: CONFLICT once it has ended or lost its lease." }),
    attributes: t.field({ type: "JSONObject", description: "The application's own notes, at most 64 KiB." }),
    compactedThroughSequence: t.int({
      required: true,
      description: "The last sequence that the summary stands for; it must be in the log and advance.",
    }),
    expectedVersion: t.int({ required: true, description: "The context's snapshotVersion; 0 for none." }),
  }),
});

const CreateSnapshotPayload = builder
  .objectRef<{ readonly snapshot: ContextSnapshot }>("CreateSnapshotPayload")
  .implement({
    description: "What createSnapshot answers.",
    fields: (t) => ({
      snapshot: t.expose("snapshot", { type: ContextSnapshotRef, description: "The snapshot as it is stored." }),
    }),
  });

builder.mutationField("createSnapshot", (t) =>
  t.field({
    type: CreateSnapshotPayload,
    nullable: true,
    description:
      "Stores a snapshot. CONFLICT on a stale expectedVersion, BAD_USER_INPUT on a boundary that is not in the " +
      "log or does not advance. An id that is already stored comes back whatever expectedVersion says: a retry " +
      "is safe.",
    args: { input: t.arg({ type: CreateSnapshotInput, required: true, description: "The snapshot to store." }) },
    resolve: async (_root, { input }, context) => ({
      snapshot: await underInput(writing(context).createSnapshot(input)),
    }),
  }),
);
