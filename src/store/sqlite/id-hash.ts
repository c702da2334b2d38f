import { createHash } from "node:crypto";

/** What a tombstone keeps of a session id: enough to know it again, not enough to read it. */
export function idHash(id: string): Uint8Array {
  return createHash("sha256").update(id).digest();
}
