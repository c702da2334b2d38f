import { badInput, conflict, type FieldPath, forbidden } from "../../errors.ts";
import { checkAgentName, checkNotes, checkOptionalId, checkTitle } from "../check.ts";
import type { SessionAttributesInput, UpdateSessionInput } from "../contract.ts";
import type { SessionId, UserId } from "../model.ts";
import type { Maybe } from "../page.ts";
import type { ReadScope } from "./scope.ts";
import type { SessionRow } from "./session-rows.ts";

/** Attributes that fit the session (null: one to be made), labels trimmed, userId narrowed to the caller's. */
export interface CheckedAttributes {
  readonly parentSessionId: SessionId | null;
  readonly sessionType: number | null;
  readonly title: string | null;
  readonly agentName: string | null;
  readonly userId: UserId | null;
  readonly metadataJson: string | null;
}

/** Checks form first, then fit: CONFLICT ATTRIBUTES_DIFFER for another parent, type or user of an existing session. */
export function checkSessionAttributes(
  scope: ReadScope,
  row: SessionRow | null,
  sessionId: string,
  attributes: Maybe<SessionAttributesInput>,
  path: FieldPath,
): CheckedAttributes {
  const given = attributes ?? {};
  const checked: CheckedAttributes = {
    parentSessionId: checkOptionalId<SessionId>(given.parentSessionId, [...path, "parentSessionId"]),
    sessionType: given.sessionType ?? null,
    title: optional(given.title, (title) => checkTitle(title, [...path, "title"])),
    agentName: optional(given.agentName, (name) => checkAgentName(name, [...path, "agentName"])),
    userId: narrowedUser(scope, given.userId, [...path, "userId"]),
    metadataJson: optional(given.metadata, (metadata) => checkNotes(metadata, [...path, "metadata"]).json),
  };
  if (checked.parentSessionId === sessionId) {
    throw badInput([...path, "parentSessionId"], "A session can't be its own parent.");
  }
  if (row !== null) checkFit(row, checked);
  return checked;
}

function checkFit(row: SessionRow, checked: CheckedAttributes): void {
  for (const name of ["parentSessionId", "sessionType", "userId"] as const) {
    if (checked[name] !== null && checked[name] !== row.session[name]) {
      throw conflict("ATTRIBUTES_DIFFER", `The session has another ${name}.`);
    }
  }
}

/** A narrowed caller's own user where none is given; another one is FORBIDDEN (decision 26). */
function narrowedUser(scope: ReadScope, given: Maybe<string>, path: FieldPath): UserId | null {
  const userId = checkOptionalId<UserId>(given, path);
  if (scope.reach.userId === null) return userId;
  if (userId !== null && userId !== scope.reach.userId) throw forbidden("This key is for another user.");
  return scope.reach.userId;
}

function optional<In, Out>(value: Maybe<In>, check: (value: In) => Out): Out | null {
  return value === null || value === undefined ? null : check(value);
}

/** A checked update: `undefined` leaves a field as it is, null clears it. */
export interface CheckedUpdate {
  readonly title: string | null | undefined;
  readonly agentName: string | null | undefined;
  readonly userId: UserId | undefined;
  readonly metadataJson: string | undefined;
}

/** BAD_USER_INPUT without a single field, and where userId would be cleared. */
export function checkUpdate(scope: ReadScope, input: UpdateSessionInput): CheckedUpdate {
  const { title, agentName, userId, metadata } = input;
  if ([title, agentName, userId, metadata].every((value) => value === undefined)) {
    throw badInput([], "Give at least one field to update.");
  }
  if (userId === null) throw badInput(["userId"], "A session's user can be set, not cleared.");
  if (userId !== undefined && scope.reach.userId !== null) throw forbidden("This key can't set a session's user.");
  return {
    title: title === undefined ? undefined : optional(title, (text) => checkTitle(text, ["title"])),
    agentName: agentName === undefined ? undefined : optional(agentName, (text) => checkAgentName(text, ["agentName"])),
    userId: userId === undefined ? undefined : (checkOptionalId<UserId>(userId, ["userId"]) ?? undefined),
    metadataJson: metadata === undefined ? undefined : checkNotes(metadata, ["metadata"]).json,
  };
}
