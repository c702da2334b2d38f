import { GatewayError, unavailable } from "../../errors.ts";
import { type Clock, createClock, instant, type TimeSource } from "../../time.ts";
import type { Registry } from "../registry-contract.ts";
import { openControlFile } from "./control-file.ts";
import { createKey, getKey, isKeyIdSpent, listKeys, revokeKey, touchKey } from "./registry-keys.ts";
import {
  beginTenant,
  createdFrom,
  getTenant,
  listTenants,
  removeTenant,
  unfinishedTenants,
  updateTenant,
} from "./registry-tenants.ts";
import type { Sql } from "./scope.ts";
import { createWriter } from "./writer.ts";

/** The registry over one SQLite file, and a clock that its newest time anchors: never behind what the file has seen. */
export interface SqliteRegistry extends Registry {
  readonly clock: Clock;
}

/** Opens `<data>/control.sqlite`, or makes it. UNAVAILABLE for a file damaged, foreign or newer than the code. */
export function openRegistry(options: { readonly path: string; readonly time: TimeSource }): SqliteRegistry {
  const connection = openControlFile(options.path);
  const newest = connection.sql("SELECT newest_time FROM control").get();
  const clock = createClock(options.time, instant(Number(newest?.newest_time ?? 0)));
  const writer = createWriter(connection);
  const read = async <T>(work: (sql: Sql) => T): Promise<T> => {
    try {
      connection.sql("BEGIN").run();
      return work(connection.sql);
    } catch (error) {
      throw controlError(error);
    } finally {
      if (connection.inTransaction()) connection.sql("ROLLBACK").run();
    }
  };
  const write = <T>(work: (sql: Sql) => T): Promise<T> =>
    writer
      .enqueue(() => {
        const result = work(connection.sql);
        connection.sql("UPDATE control SET newest_time = max(newest_time, ?)").run(clock.now());
        return result;
      })
      .catch((error: unknown) => {
        throw controlError(error);
      });
  return {
    clock,
    getTenant: (id) => read((sql) => getTenant(sql, id)),
    listTenants: (page) => read((sql) => listTenants(sql, page)),
    unfinishedTenants: () => read(unfinishedTenants),
    createdFrom: (id, generation) => read((sql) => createdFrom(sql, id, generation)),
    beginTenant: (tenant) => write((sql) => beginTenant(sql, tenant)),
    updateTenant: (id, generation, change) => write((sql) => updateTenant(sql, id, generation, change)),
    removeTenant: (id, generation) => write((sql) => removeTenant(sql, id, generation)),
    isKeyIdSpent: (id) => read((sql) => isKeyIdSpent(sql, id)),
    createKey: (key, secretHash) => write((sql) => createKey(sql, key, secretHash)),
    getKey: (id) => read((sql) => getKey(sql, id)),
    listKeys: (tenantId, page) => read((sql) => listKeys(sql, tenantId, page)),
    revokeKey: (tenantId, id, revokedAt) => write((sql) => revokeKey(sql, tenantId, id, revokedAt)),
    touchKey: (id, hour) => write((sql) => touchKey(sql, id, hour)),
    close() {
      writer.drain();
      connection.close();
    },
  };
}

/** The writer speaks of a tenant's store; here it is the control store that failed. */
function controlError(error: unknown): GatewayError {
  if (error instanceof GatewayError && error.code !== "UNAVAILABLE") return error;
  const cause = error instanceof GatewayError ? (error.cause ?? error) : error;
  return unavailable("The gateway's control store can't answer now; try again.", cause);
}
