import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import { isPossibleId } from "../store/check.ts";
import type { KeyId } from "../store/model.ts";
import type { RandomSource } from "../uuid.ts";

/** What every API key begins with; tokens of other kinds don't. */
export const KEY_PREFIX = "sgw_";
const SECRET_BYTES = 32;
/** 32 bytes in base64url. The id may hold underscores, as the secret may: its length alone says where it begins. */
const SECRET = /^sgw_(.+)_([A-Za-z0-9_-]{43})$/;

/** `sgw_<percent-encoded key id>_<32 random bytes in base64url>`; shown once and kept nowhere. */
export function mintSecret(keyId: KeyId, random: RandomSource): string {
  const bytes = random(new Uint8Array(SECRET_BYTES));
  return `${KEY_PREFIX}${encodeURIComponent(keyId)}_${Buffer.from(bytes).toString("base64url")}`;
}

/** The key id in a secret, null for text that no key of ours can be. Each key has one spelling. */
export function keyIdOf(secret: string): KeyId | null {
  const encoded = SECRET.exec(secret)?.[1];
  if (encoded === undefined) return null;
  const id = decoded(encoded);
  return id !== null && isPossibleId(id) && encodeURIComponent(id) === encoded ? (id as KeyId) : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** SHA-256 of the whole secret; 256 random bits need no salt and no slow hash. */
export function hashSecret(secret: string): Uint8Array {
  return createHash("sha256").update(secret).digest();
}

const NO_HASH = new Uint8Array(32);

/** Whether the secret has that hash, in constant time; for an unknown key (null) it compares as long, with nothing. */
export function secretMatches(secret: string, hash: Uint8Array | null): boolean {
  const comparable = hash !== null && hash.length === NO_HASH.length;
  const same = timingSafeEqual(hashSecret(secret), comparable ? hash : NO_HASH);
  return same && comparable;
}
