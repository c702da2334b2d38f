import { badInput, type FieldPath } from "../errors.ts";
import { checkLabel, checkOptionalId } from "../store/check.ts";
import { type KeyId, MESSAGE_ROLES, type MessageRole, type UserId } from "../store/model.ts";
import type { Maybe } from "../store/page.ts";
import { type KeyRecord, SCOPES, type Scope } from "../store/registry-contract.ts";
import { type Instant, plusSeconds } from "../time.ts";
import type { Caller, CreateKeyInput } from "./contract.ts";

export const NAME_CODE_POINTS_MAX = 200;
/** A key of one end user lives in the user's hands: it must expire within this. */
export const USER_KEY_SECONDS_MAX = 30 * 86_400;
/** What a credential of one end user sees and writes unless it says otherwise: no prompts, no words of the agent. */
export const USER_VISIBLE_ROLES: readonly MessageRole[] = ["USER", "ASSISTANT", "TOOL"];
export const USER_WRITABLE_ROLES: readonly MessageRole[] = ["USER"];

/** What a new key will be able to do, checked. */
export type KeyGrant = Pick<
  KeyRecord,
  "name" | "scopes" | "userId" | "visibleRoles" | "writableRoles" | "expiresAt"
> & {
  /** Null where the gateway is to choose one. */
  readonly id: KeyId | null;
};

/**
 * What the grantor may give. BAD_USER_INPUT at the field for anything that the grantor lacks itself, defaults included;
 * for ADMIN on a key of one end user; for such a key without an end within 30 days; for an end that is not to come.
 */
export function checkGrant(input: CreateKeyInput, grantor: Caller, now: Instant): KeyGrant {
  const id = checkOptionalId<KeyId>(input.id, ["id"]);
  const name = checkName(input.name, ["name"]);
  const userId = checkUser(input.userId, grantor);
  const scopes = checkScopes(input.scopes, userId, grantor);
  const visibleRoles = checkRoles(
    input.visibleRoles ?? (userId === null ? MESSAGE_ROLES : USER_VISIBLE_ROLES),
    grantor.visibleRoles,
    "visibleRoles",
  );
  const writableRoles = checkRoles(
    input.writableRoles ?? (userId === null ? MESSAGE_ROLES : USER_WRITABLE_ROLES),
    grantor.writableRoles,
    "writableRoles",
  );
  const expiresAt = checkExpiry(input.expiresAt ?? null, userId, now);
  return { id, name, scopes, userId, visibleRoles, writableRoles, expiresAt };
}

/** Name of a tenant or a key: trimmed, 1 to 200 code points; null where none was given. */
export function checkName(name: Maybe<string>, path: FieldPath): string | null {
  return name === null || name === undefined ? null : checkLabel(name, path, "A name", NAME_CODE_POINTS_MAX);
}

function checkUser(given: Maybe<string>, grantor: Caller): UserId | null {
  const userId = checkOptionalId<UserId>(given, ["userId"]) ?? grantor.userId;
  if (grantor.userId !== null && userId !== grantor.userId) {
    throw badInput(["userId"], "A credential of one user can't make a key for another.");
  }
  return userId;
}

function checkScopes(given: Maybe<readonly Scope[]>, userId: UserId | null, grantor: Caller): readonly Scope[] {
  const asked = new Set<Scope>(given ?? ["READ"]);
  const scopes = SCOPES.filter((scope) => asked.has(scope));
  if (scopes.length === 0) throw badInput(["scopes"], "A key needs at least one scope.");
  if (userId !== null && asked.has("ADMIN")) throw badInput(["scopes"], "A key with a userId can't have ADMIN.");
  const lacking = scopes.filter((scope) => !grantor.scopes.has(scope));
  if (lacking.length > 0) throw badInput(["scopes"], wider(lacking));
  return scopes;
}

function checkRoles(
  given: readonly MessageRole[],
  grantable: ReadonlySet<MessageRole>,
  field: "visibleRoles" | "writableRoles",
): readonly MessageRole[] {
  const roles = MESSAGE_ROLES.filter((role) => given.includes(role));
  const lacking = roles.filter((role) => !grantable.has(role));
  if (lacking.length > 0) throw badInput([field], wider(lacking));
  return roles;
}

function wider(lacking: readonly string[]): string {
  return `No key can give what it lacks: ${lacking.join(", ")}. Ask for less.`;
}

function checkExpiry(expiresAt: Instant | null, userId: UserId | null, now: Instant): Instant | null {
  if (expiresAt !== null && expiresAt <= now) throw badInput(["expiresAt"], "This time is past.");
  if (userId === null) return expiresAt;
  if (expiresAt === null || expiresAt > plusSeconds(now, USER_KEY_SECONDS_MAX)) {
    throw badInput(["expiresAt"], "A key with a userId must expire within 30 days.");
  }
  return expiresAt;
}
