import type { SessionChange } from "../events/contract.ts";
import { following } from "./access.ts";
import { builder } from "./builder.ts";
import { SessionChangeKindEnum } from "./enums.ts";
import { SessionRef } from "./refs.ts";
import { SessionFilterInput } from "./session.ts";

export const SessionChangeRef = builder.objectRef<SessionChange>("SessionChange").implement({
  description: "A session that was created, changed or deleted.",
  fields: (t) => ({
    kind: t.expose("kind", { type: SessionChangeKindEnum, description: "What happened." }),
    sessionId: t.exposeID("sessionId", { description: "To which session." }),
    session: t.expose("session", {
      type: SessionRef,
      nullable: true,
      description: "The session after the change; null once deleted.",
    }),
  }),
});

builder.subscriptionField("sessionChanged", (t) =>
  t.field({
    type: SessionChangeRef,
    description:
      "Sessions created, changed or deleted, from now on: one session, or all that match the filter after the " +
      "change. Bursts of one session are merged, at most four a second; the last state always comes.",
    args: {
      sessionId: t.arg.id({ description: "Only this session; it need not exist yet." }),
      filter: t.arg({ type: SessionFilterInput, description: "Only sessions that match after the change." }),
    },
    subscribe: (_root, { sessionId, filter }, context) => following(context).sessionChanges({ sessionId, filter }),
    resolve: (change) => change,
  }),
);
