import { present } from "../assert.ts";
import { notFound } from "../errors.ts";
import type { ContextView } from "../store/contract.ts";
import { parsePayload } from "../store/message-codec.ts";
import type { ContextRepair } from "../store/model.ts";
import type { Maybe } from "../store/page.ts";
import { reading } from "./access.ts";
import { builder } from "./builder.ts";
import { ContextMessageConnection, emptyPage, pageArguments, pageRequest } from "./connections.ts";
import type { GatewayContext } from "./context.ts";
import { ContextRepairKindEnum } from "./enums.ts";
import { MessageInterface } from "./message.ts";
import { ContextMessageRef, ContextSnapshotRef, SessionRef } from "./refs.ts";

/** One look at a session's context; `view` is null where there is no session. */
interface SessionContext {
  readonly sessionId: string;
  readonly view: ContextView | null;
}

ContextMessageRef.implement({
  description: "A message as a model would be given it.",
  fields: (t) => ({
    sequence: t.exposeInt("sequence", { nullable: true, description: "Its place in the log; null if synthesized." }),
    id: t.exposeID("id", { nullable: true, description: "Id of the raw message; null if synthesized." }),
    message: t.field({
      type: MessageInterface,
      description: "What was said.",
      resolve: ({ payload }) => present(parsePayload(payload), "a message that a context could be made of"),
    }),
    payload: t.expose("payload", { type: "JSONText", description: "The same as one JSON document." }),
  }),
});

const ContextRepairRef = builder.objectRef<ContextRepair>("ContextRepair").implement({
  description: "One thing that was mended; the log itself is not touched.",
  fields: (t) => ({
    kind: t.expose("kind", { type: ContextRepairKindEnum, description: "What was wrong." }),
    sequence: t.exposeInt("sequence", {
      description: "Raw sequence of the message concerned; of the assistant's message for a missing result.",
    }),
    toolCallId: t.exposeID("toolCallId", { description: "The call concerned." }),
  }),
});

const SessionContextRef = builder.objectRef<SessionContext>("SessionContext").implement({
  description:
    "What a model sees; nothing else says so. All fields answer from one view. A cursor of messages carries " +
    "its view: later pages belong to the same one, whatever is written meanwhile.",
  fields: (t) => ({
    sessionId: t.exposeID("sessionId", { description: "The session that was asked for." }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: "Null while nothing has been written.",
      resolve: ({ view }) => view?.session ?? null,
    }),
    snapshot: t.field({
      type: ContextSnapshotRef,
      nullable: true,
      description: "The snapshot in effect, if any.",
      resolve: ({ view }) => view?.snapshot ?? null,
    }),
    snapshotVersion: t.int({
      description:
        "What createSnapshot expects: the version in effect, 0 without one, also after a rewind to 0. A new snapshot " +
        "takes the next version never used.",
      resolve: ({ view }) => view?.snapshotVersion ?? 0,
    }),
    lastSequence: t.int({
      description: "The newest raw sequence that this view has seen.",
      resolve: ({ view }) => view?.lastSequence ?? 0,
    }),
    messages: t.field({
      type: ContextMessageConnection,
      description:
        "What follows the snapshot, ready for any provider: without messages that were rewound or are not " +
        "includeInContext, with every tool call answered in call order. A page never splits a tool batch; it " +
        "may exceed first or last to finish one.",
      args: pageArguments(),
      resolve: async ({ sessionId, view }, args, context, info) => {
        const page = pageRequest(args, info);
        if (view === null) return emptyPage(page);
        const paged = await reading(context).readContext({ sessionId, pin: view.pin, page });
        if (paged === null) throw notFound("session");
        return present(paged.messages, "a page that was asked for");
      },
    }),
    repairs: t.field({
      type: [ContextRepairRef],
      description: "What had to be mended to make it so, by sequence.",
      resolve: ({ view }) => view?.repairs ?? [],
    }),
  }),
});

/** A session that nobody has written to has an empty context; looking back into one is NOT_FOUND. */
async function lookAt(
  sessionId: string,
  throughSequence: Maybe<number>,
  context: GatewayContext,
): Promise<SessionContext> {
  const view = await reading(context).readContext({ sessionId, throughSequence });
  if (view === null && throughSequence !== null && throughSequence !== undefined) throw notFound("session");
  return { sessionId, view };
}

const THROUGH_SEQUENCE = "As it was when the log ended there, with the newest snapshot of that moment.";

builder.queryField("sessionContext", (t) =>
  t.field({
    type: SessionContextRef,
    description:
      "What a model would be given now: the latest snapshot and the messages behind it, as one consistent " +
      "view. A session that nobody has written to has an empty one.",
    args: {
      sessionId: t.arg.id({ required: true, description: "The session; it need not exist yet." }),
      throughSequence: t.arg.int({ description: THROUGH_SEQUENCE }),
    },
    resolve: (_root, { sessionId, throughSequence }, context) => lookAt(sessionId, throughSequence, context),
  }),
);

builder.objectField(SessionRef, "context", (t) =>
  t.field({
    type: SessionContextRef,
    description: "The same as Query.sessionContext.",
    args: { throughSequence: t.arg.int({ description: THROUGH_SEQUENCE }) },
    resolve: (session, { throughSequence }, context) => lookAt(session.id, throughSequence, context),
  }),
);
