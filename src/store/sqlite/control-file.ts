import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { GatewayError, unavailable } from "../../errors.ts";
import { migrate } from "./migrations.ts";
import { type Connection, openConnection } from "./open.ts";
import { REGISTRY_APPLICATION_ID, REGISTRY_MIGRATIONS } from "./registry-migration.ts";

/**
 * Opens the control store; makes it where there is none. A new one is finished under another name first, so a file
 * that is there but empty or foreign was damaged, and is refused (UNAVAILABLE) instead of starting without tenants.
 */
export function openControlFile(path: string): Connection {
  try {
    if (!existsSync(path)) makeControlFile(path);
    if (statSync(path).size === 0) throw new Error("the control store's file is empty");
    return openChecked(path);
  } catch (error) {
    if (error instanceof GatewayError && error.message === NEWER) throw error;
    throw unavailable("The gateway's control store can't be opened.", error);
  }
}

const NEWER = "The gateway's control store was written by a newer version of the gateway.";

function openChecked(path: string): Connection {
  const connection = openConnection(path, { create: false });
  try {
    if (Number(connection.pragma("application_id")) !== REGISTRY_APPLICATION_ID) throw new Error("not a control store");
    if (Number(connection.pragma("user_version")) > REGISTRY_MIGRATIONS.length) throw unavailable(NEWER);
    migrate(connection, REGISTRY_MIGRATIONS);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function makeControlFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.new`;
  removeWithLogs(unfinished);
  const connection = openConnection(unfinished, { create: true });
  try {
    connection.pragma(`application_id = ${REGISTRY_APPLICATION_ID}`);
    migrate(connection, REGISTRY_MIGRATIONS);
    connection.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    connection.close();
  }
  // A log that an earlier file left would be replayed into this one.
  removeWithLogs(path);
  renameSync(unfinished, path);
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function removeWithLogs(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${suffix}`, { force: true });
}
