import type {
  ContextMessage,
  ContextSnapshot,
  RawMessage,
  Run,
  RunEvent,
  Session,
  UsageBucket,
} from "../store/model.ts";
import type { KeyRecord, TenantRecord } from "../store/registry-contract.ts";
import { builder } from "./builder.ts";

// Nouns that name each other: declared here, each described in the file of its own name.

export const SessionRef = builder.objectRef<Session>("Session");
export const RawMessageRef = builder.objectRef<RawMessage>("RawMessage");
export const ContextSnapshotRef = builder.objectRef<ContextSnapshot>("ContextSnapshot");
export const ContextMessageRef = builder.objectRef<ContextMessage>("ContextMessage");
export const RunRef = builder.objectRef<Run>("Run");
export const RunEventRef = builder.objectRef<RunEvent>("RunEvent");
export const UsageBucketRef = builder.objectRef<UsageBucket>("UsageBucket");
export const TenantRef = builder.objectRef<TenantRecord>("Tenant");
export const ApiKeyRef = builder.objectRef<KeyRecord>("ApiKey");
