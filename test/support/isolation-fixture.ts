// What the isolation walk asks for: for each root field the arguments that name the owner's things, by placeholders
// that are filled with the owner's ids, or with ids that were never used. A root field that is not listed fails the walk.

/** Ids by placeholder. Every value is one that the owner's data really has, or one of the same form that nobody has. */
export interface WalkIds {
  readonly session: string;
  readonly child: string;
  readonly run: string;
  readonly user: string;
  readonly agent: string;
  readonly request: string;
  readonly key: string;
  readonly tenant: string;
}

/** Arguments of one root field, several variants where one can't show every field. `null` for none. */
export type Arguments = (ids: WalkIds) => readonly (string | null)[];

/** Messages that the owner's session holds before a mutation of the walk. */
export const SESSION_MESSAGES = 8;

const uuid = (): string => globalThis.crypto.randomUUID();
const session = (ids: WalkIds): string => `sessionId: "${ids.session}"`;
const range = 'from: "2020-01-01T00:00:00Z", to: "2200-01-01T00:00:00Z"';

export const QUERY_ARGUMENTS: Readonly<Record<string, Arguments>> = {
  viewer: () => [null],
  tenant: () => [null],
  tenants: () => [null],
  session: (ids) => [`id: "${ids.session}"`, `id: "${ids.child}"`],
  sessions: (ids) => [`filter: { agentNames: ["${ids.agent}"] }`, `filter: { userIds: ["${ids.user}"] }`],
  sessionContext: (ids) => [session(ids), `${session(ids)}, throughSequence: 2`],
  run: (ids) => [`id: "${ids.run}"`],
  runs: (ids) => [`filter: { requestId: "${ids.request}" }`, `filter: { agentNames: ["${ids.agent}"] }`],
  usage: () => [`${range}, groupBy: [AGENT, MODEL, USER]`],
};

export const MUTATION_ARGUMENTS: Readonly<Record<string, Arguments>> = {
  createSession: (ids) => [`input: { id: "${ids.session}", allowExisting: true }`],
  updateSession: (ids) => [`input: { ${session(ids)}, title: "Renamed" }`],
  appendMessages: (ids) => [`input: { ${session(ids)}, messages: [{ message: { user: { text: "more" } } }] }`],
  createSnapshot: (ids) => [
    `input: { ${session(ids)}, id: "${uuid()}", summary: "s", compactedThroughSequence: 2, expectedVersion: 1 }`,
  ],
  rewindSession: (ids) => [`input: { ${session(ids)}, throughSequence: 2, expectedLastSequence: ${SESSION_MESSAGES} }`],
  startRun: (ids) => [`input: { id: "${ids.run}", ${session(ids)}, requestId: "${ids.request}" }`],
  recordRunEvents: (ids) => [`input: { runId: "${ids.run}", events: [{ type: PHASE_CHANGED, phase: GENERATING }] }`],
  finishRun: (ids) => [`input: { runId: "${ids.run}", status: COMPLETED }`],
  requestRunCancel: (ids) => [`input: { runId: "${ids.run}" }`],
  revokeApiKey: (ids) => [`input: { apiKeyId: "${ids.key}" }`],
  deleteSession: (ids) => [`input: { ${session(ids)} }`],
  deleteUserSessions: (ids) => [`input: { userId: "${ids.user}" }`],
  createApiKey: (ids) => [`input: { id: "${ids.key}-new", name: "n" }`],
  createTenant: (ids) => [
    `input: { id: "${ids.tenant}", name: "Taken" }`,
    `input: { id: "${ids.tenant}-new", firstKey: {} }`,
  ],
  updateTenant: (ids) => [`input: { tenantId: "${ids.tenant}", name: "Renamed" }`],
  deleteTenant: (ids) => [`input: { tenantId: "${ids.tenant}" }`],
};

export const SUBSCRIPTION_ARGUMENTS: Readonly<Record<string, Arguments>> = {
  rawMessageAppended: (ids) => [`${session(ids)}, afterSequence: 0`],
  sessionChanged: (ids) => [session(ids)],
  runEventRecorded: (ids) => [`${session(ids)}, runId: "${ids.run}", afterIndex: 0`],
  sessionFeed: (ids) => [`${session(ids)}, afterSequence: 0`],
};
