import { readFileSync } from "node:fs";

/** Where the system does not tell how many descriptors a process may have. */
const DESCRIPTORS_ASSUMED = 1_024;

/** The process's limit of open files and sockets (its soft limit), read from the system. */
export function descriptorLimit(): number {
  try {
    const line = readFileSync("/proc/self/limits", "utf8")
      .split("\n")
      .find((entry) => entry.startsWith("Max open files"));
    const limit = Number(line?.split(/\s{2,}/)[1]);
    return Number.isSafeInteger(limit) && limit > 0 ? limit : DESCRIPTORS_ASSUMED;
  } catch {
    return DESCRIPTORS_ASSUMED;
  }
}
