import type { Session, SessionId } from "../store/model.ts";
import { deleting, erasing, underInput, writing } from "./access.ts";
import { builder } from "./builder.ts";
import { SessionRef } from "./refs.ts";

export const SessionAttributesInput = builder.inputType("SessionAttributesInput", {
  description:
    "Sets a session up on what is first heard of it. For an existing one another parent, type or user is a CONFLICT.",
  fields: (t) => ({
    parentSessionId: t.id({ description: "The session that delegates this one; it need not exist." }),
    sessionType: t.int({ description: "The application's own code; 0 where left out." }),
    title: t.string({ description: "1 to 200 characters. Later appends update it." }),
    agentName: t.string({ description: "1 to 64 characters. Later appends update it." }),
    userId: t.id({ description: "The end user; the parent's, or the credential's own, where left out." }),
    metadata: t.field({ type: "JSONObject", description: "The application's own notes, at most 64 KiB." }),
  }),
});

const CreateSessionInput = builder.inputType("CreateSessionInput", {
  description: "A session to set up.",
  fields: (t) => ({
    id: t.id({ description: "1 to 200 characters; a UUIDv7 where left out." }),
    parentSessionId: t.id({ description: "The session that delegates this one; it need not exist." }),
    sessionType: t.int({ defaultValue: 0, description: "The application's own code for its origin." }),
    title: t.string({ description: "1 to 200 characters." }),
    agentName: t.string({ description: "1 to 64 characters." }),
    userId: t.id({ description: "The end user; the parent's, or the credential's own, where left out." }),
    metadata: t.field({ type: "JSONObject", description: "The application's own notes, at most 64 KiB." }),
    allowExisting: t.boolean({
      defaultValue: false,
      description: "Give back the session where the caller already has one of that id, as it is.",
    }),
  }),
});

const UpdateSessionInput = builder.inputType("UpdateSessionInput", {
  description: "What to change, at least one field. A field left out stays as it is, null clears it.",
  fields: (t) => ({
    sessionId: t.id({ required: true, description: "The session to change." }),
    title: t.string({ description: "1 to 200 characters." }),
    agentName: t.string({ description: "1 to 64 characters." }),
    userId: t.id({ description: "Can be set where there is none, by a credential that is not limited to a user." }),
    metadata: t.field({ type: "JSONObject", description: "Takes the place of the notes as a whole." }),
  }),
});

const DeleteSessionInput = builder.inputType("DeleteSessionInput", {
  description: "A session to delete.",
  fields: (t) => ({ sessionId: t.id({ required: true, description: "The session that is to go." }) }),
});

const DeleteUserSessionsInput = builder.inputType("DeleteUserSessionsInput", {
  description: "An end user to erase.",
  fields: (t) => ({ userId: t.id({ required: true, description: "The end user whose sessions are to go." }) }),
});

const CreateSessionPayload = builder
  .objectRef<{ readonly session: Session; readonly created: boolean }>("CreateSessionPayload")
  .implement({
    description: "What createSession answers.",
    fields: (t) => ({
      session: t.expose("session", { type: SessionRef, description: "The session, new or as it was." }),
      created: t.exposeBoolean("created", { description: "False where it was there already." }),
    }),
  });

const UpdateSessionPayload = builder.objectRef<{ readonly session: Session }>("UpdateSessionPayload").implement({
  description: "What updateSession answers.",
  fields: (t) => ({ session: t.expose("session", { type: SessionRef, description: "The session after the change." }) }),
});

const DeleteSessionPayload = builder
  .objectRef<{ readonly deletedSessionId: SessionId | null }>("DeleteSessionPayload")
  .implement({
    description: "What deleteSession answers.",
    fields: (t) => ({
      deletedSessionId: t.exposeID("deletedSessionId", {
        nullable: true,
        description: "The session that is gone; null where there was none.",
      }),
    }),
  });

const DeleteUserSessionsPayload = builder
  .objectRef<{ readonly deletedCount: number }>("DeleteUserSessionsPayload")
  .implement({
    description: "What deleteUserSessions answers.",
    fields: (t) => ({ deletedCount: t.exposeInt("deletedCount", { description: "How many sessions are gone." }) }),
  });

builder.mutationField("createSession", (t) =>
  t.field({
    type: CreateSessionPayload,
    nullable: true,
    description: "Sets up a session. CONFLICT where the id is taken, unless allowExisting.",
    args: { input: t.arg({ type: CreateSessionInput, required: true, description: "The session to set up." }) },
    resolve: (_root, { input }, context) => underInput(writing(context).createSession(input)),
  }),
);

builder.mutationField("updateSession", (t) =>
  t.field({
    type: UpdateSessionPayload,
    nullable: true,
    description: "Changes a session's title, agent, user or notes.",
    args: { input: t.arg({ type: UpdateSessionInput, required: true, description: "What to change." }) },
    resolve: async (_root, { input }, context) => ({
      session: await underInput(writing(context).updateSession(input)),
    }),
  }),
);

builder.mutationField("deleteSession", (t) =>
  t.field({
    type: DeleteSessionPayload,
    nullable: true,
    description:
      "Removes a session with its log, snapshots and runs; its children stay. A late append can't bring it back " +
      "(NOT_FOUND), createSession with the same id can.",
    args: { input: t.arg({ type: DeleteSessionInput, required: true, description: "The session to delete." }) },
    resolve: async (_root, { input }, context) => ({
      deletedSessionId: await underInput(deleting(context).deleteSession(input.sessionId)),
    }),
  }),
);

builder.mutationField("deleteUserSessions", (t) =>
  t.field({
    type: DeleteUserSessionsPayload,
    nullable: true,
    description:
      "Erases every session of one end user; all are gone for readers when it answers. Needs DELETE and ADMIN.",
    args: { input: t.arg({ type: DeleteUserSessionsInput, required: true, description: "The end user to erase." }) },
    resolve: async (_root, { input }, context) => ({
      deletedCount: (await underInput(erasing(context).deleteUserSessions(input.userId))).length,
    }),
  }),
);
