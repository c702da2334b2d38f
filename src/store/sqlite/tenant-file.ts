import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { unavailable } from "../../errors.ts";
import type { TenantId } from "../model.ts";
import { createHandle, type HandleParts, type TenantHandle } from "./handle.ts";
import { migrate } from "./migrations.ts";
import { APPLICATION_ID, type Connection, openConnection } from "./open.ts";

/** Which tenant, and which life of it, a file belongs to. */
export interface TenantFile {
  readonly path: string;
  readonly tenantId: TenantId;
  readonly generation: number;
}

/** Makes a tenant's file and syncs it and its folder. A rest that an interrupted creation left is made anew. */
export function createTenantFile(file: TenantFile): void {
  try {
    makeFile(file);
  } catch (error) {
    throw unavailable("This tenant's store can't be made now.", error);
  }
}

function makeFile(file: TenantFile): void {
  mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 });
  removeTenantFile(file.path);
  const connection = openConnection(file.path, { create: true });
  try {
    connection.pragma(`application_id = ${APPLICATION_ID}`);
    migrate(connection);
    connection.sql("INSERT INTO tenant (id, generation) VALUES (?, ?)").run(file.tenantId, file.generation);
    connection.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    connection.close();
  }
  syncFolder(dirname(file.path));
}

/**
 * Opens a tenant's file. UNAVAILABLE where it is missing, empty, another product's, another tenant's or another life's:
 * SQLite itself would take an empty file for a healthy empty database.
 */
export function openTenantFile(file: TenantFile, parts: Omit<HandleParts, "tenantId" | "logBytes">): TenantHandle {
  // throwIfNoEntry does not cover a folder that can't be read; existsSync answers false for that.
  if (!existsSync(file.path) || sizeOf(file.path) === 0) {
    throw unavailable("This tenant's store is missing from the disk.");
  }
  const connection = openConnection(file.path, { create: false });
  try {
    if (Number(connection.pragma("application_id")) !== APPLICATION_ID) throw new Error("not a tenant's file");
    migrate(connection);
    checkOwner(connection, file);
    const logBytes = () => sizeOf(`${file.path}-wal`);
    return createHandle(connection, { ...parts, tenantId: file.tenantId, logBytes });
  } catch (error) {
    connection.close();
    throw unavailable("This tenant's store can't be read now.", error);
  }
}

/** Zero where there is no such file. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Removes the file and what SQLite keeps beside it: a log left behind would be replayed into the next file. */
export function removeTenantFile(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${suffix}`, { force: true });
}

function checkOwner(connection: Connection, file: TenantFile): void {
  const row = connection.sql("SELECT id, generation FROM tenant").get();
  if (row?.id !== file.tenantId || row.generation !== file.generation) {
    throw new Error("the file belongs to another tenant, or to an earlier life of this one");
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
