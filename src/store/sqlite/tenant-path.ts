import { Buffer } from "node:buffer";
import { join } from "node:path";
import { assert } from "../../assert.ts";
import { TENANT_ID } from "../check.ts";
import { idHash } from "./id-hash.ts";

/** Where a tenant's file lies. Folders by hash, so that no folder grows with the number of tenants. */
export function tenantPath(dataFolder: string, id: string): string {
  assert(TENANT_ID.test(id), "a tenant's id was checked before it became a file's name");
  const shard = Buffer.from(idHash(id)).toString("hex").slice(0, 2);
  return join(dataFolder, "tenants", shard, `${id}.sqlite`);
}
