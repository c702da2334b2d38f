import type { SessionFeedItem } from "../events/contract.ts";
import { following } from "./access.ts";
import { builder } from "./builder.ts";
import { RawMessageRef, RunEventRef } from "./refs.ts";
import { messageColumns, selectionOf } from "./selection.ts";
import { SessionChangeRef } from "./session-change.ts";

const SessionFeedItemUnion = builder.unionType("SessionFeedItem", {
  description:
    "Anything of a session. Fields that share a name and differ in type (turn, payload, runId) need an alias.",
  types: [RawMessageRef, RunEventRef, SessionChangeRef],
  resolveType: (item) => {
    if ("kind" in item) return SessionChangeRef;
    return "index" in item ? RunEventRef : RawMessageRef;
  },
});

builder.subscriptionField("sessionFeed", (t) =>
  t.field({
    type: SessionFeedItemUnion,
    description:
      "All of a session in one order: raw messages as rawMessageAppended gives them, run events (a message " +
      "comes after its deltas), changes. Gives DELETED, then completes.",
    args: {
      sessionId: t.arg.id({ required: true, description: "The session to follow." }),
      afterSequence: t.arg.int({ description: "Where to start; left out, with what is new." }),
      deltas: t.arg.boolean({ defaultValue: true, description: "Whether run deltas are wanted." }),
    },
    subscribe: (_root, { sessionId, afterSequence, deltas }, context, info) => {
      const select = messageColumns(selectionOf(info, "RawMessage"));
      return following(context).session({ sessionId, afterSequence, deltas: deltas ?? true, select });
    },
    resolve: (item) => unwrapped(item),
  }),
);

function unwrapped(item: SessionFeedItem) {
  switch (item.type) {
    case "RawMessage":
      return item.message;
    case "RunEvent":
      return item.event;
    case "SessionChange":
      return item.change;
    default:
      return item satisfies never;
  }
}
