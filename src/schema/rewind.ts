import type { RewindResult } from "../store/contract.ts";
import { reading, underInput, writing } from "./access.ts";
import { builder } from "./builder.ts";
import { RawMessageRef, SessionRef } from "./refs.ts";
import { messageColumns, selectionOf } from "./selection.ts";

const RewindSessionInput = builder.inputType("RewindSessionInput", {
  description: "How far to take a session's context back.",
  fields: (t) => ({
    id: t.id({ description: "A UUID of the client's; it makes a repeat harmless." }),
    sessionId: t.id({ required: true, description: "The session to rewind." }),
    throughSequence: t.int({ required: true, description: "The last sequence that stays; 0 empties the context." }),
    expectedLastSequence: t.int({ required: true, description: "CONFLICT unless this is the session's lastSequence." }),
  }),
});

const RewindSessionPayload = builder.objectRef<RewindResult>("RewindSessionPayload").implement({
  description: "What rewindSession answers.",
  fields: (t) => ({
    session: t.expose("session", { type: SessionRef, description: "The session after the rewind." }),
    removed: t.expose("removed", {
      type: [RawMessageRef],
      description: "The messages that left the context by this call, oldest first; at most 1,000 are listed.",
    }),
  }),
});

builder.mutationField("rewindSession", (t) =>
  t.field({
    type: RewindSessionPayload,
    nullable: true,
    description:
      "Takes the newest messages out of the context, not out of the log: from now on it leaves out what the " +
      "log holds behind throughSequence (undo, regenerate, edit). 0 also retires the snapshot; otherwise " +
      "BAD_USER_INPUT below its boundary. CONFLICT on a stale expectedLastSequence. Sending the same id again is safe.",
    args: { input: t.arg({ type: RewindSessionInput, required: true, description: "How far to go back." }) },
    resolve: (_root, { input }, context, info) => {
      const store = writing(context);
      const selection = selectionOf(info);
      // The removed messages are the log's: without this a credential that may only write could read them.
      if (selection.has("removed")) reading(context);
      return underInput(store.rewindSession(input, messageColumns(selection.under("removed"))));
    },
  }),
);
