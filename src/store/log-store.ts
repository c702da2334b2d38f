import type { SessionStore } from "./contract.ts";

/** The operations of the contract that this store carries out so far; CHANGELOG.md says which come next. */
export type LogStore = SessionStore;
