/** Wrong use of the command line or the environment: one line that says what is wrong, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** One thing that can be configured: as a flag, as a variable, or left at its default. */
export interface Option<Value> {
  readonly flag: string;
  readonly variable: string;
  /** Null where the value has none. */
  readonly unit: string | null;
  readonly fallback: Value;
  /** The default as the documentation shows it. */
  readonly fallbackText: string;
  readonly why: string;
  /** A flag that may be given more than once. */
  readonly repeatable: boolean;
  /** Kept out of logs; better given as a variable, since other users of a machine see its command lines. */
  readonly secret: boolean;
  /** Undefined for text that is no such value. */
  readonly parse: (text: string) => Value | undefined;
  /** What `parse` accepts, as the end of a sentence. */
  readonly accepts: string;
}

interface Named {
  readonly flag: string;
  readonly why: string;
}

const SIZE_UNITS: Readonly<Record<string, number>> = { "": 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
const SECRET_ALGORITHMS = ["HS256", "HS384", "HS512"];
const PUBLIC_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

function option<Value>(
  named: Named,
  rest: Pick<Option<Value>, "fallback" | "parse" | "accepts"> & Partial<Option<Value>>,
): Option<Value> {
  const { fallback } = rest;
  const fallbackText = Array.isArray(fallback) ? fallback.join(",") : String(fallback ?? "");
  const variable = `GATEWAY_${named.flag.toUpperCase().replaceAll("-", "_")}`;
  return Object.freeze({
    ...{ variable, unit: null, repeatable: false, secret: false },
    ...{ fallbackText: fallbackText === "" ? "none" : fallbackText, ...named, ...rest },
  });
}

function text(named: Named & { readonly fallback: string }): Option<string> {
  return option(named, { fallback: named.fallback, parse: (value) => value, accepts: "text" });
}

function optionalText(named: Named & { readonly secret?: boolean }): Option<string | null> {
  return option<string | null>(named, { fallback: null, parse: (value) => value, accepts: "text" });
}

function webAddress(named: Named): Option<string | null> {
  const parse = (value: string) => (/^https?:\/\/[^\s]+$/.test(value) && URL.canParse(value) ? value : undefined);
  return option<string | null>(named, { fallback: null, parse, accepts: "an address that starts with http(s)://" });
}

function whole(named: Named & { fallback: number; minimum: number; maximum: number; unit?: string }): Option<number> {
  const { fallback, minimum, maximum, unit = null } = named;
  const parse = (value: string) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= minimum && number <= maximum ? number : undefined;
  };
  return option(named, { fallback, unit, parse, accepts: `a whole number from ${minimum} to ${maximum}` });
}

function seconds(named: Named & { fallback: number; maximum: number }): Option<number> {
  const parse = (value: string) => {
    const number = /^\d{1,9}(\.\d{1,3})?$/.test(value) ? Number(value) : Number.NaN;
    return number <= named.maximum ? number : undefined;
  };
  const accepts = `seconds from 0 to ${named.maximum}, with up to three decimals`;
  return option(named, { fallback: named.fallback, unit: "seconds", parse, accepts });
}

function bytes(named: Named & { fallback: number; fallbackText: string; maximum: number }): Option<number> {
  const parse = (value: string) => {
    const match = /^(\d{1,12})(KiB|MiB|GiB|)$/.exec(value);
    const number = match === null ? Number.NaN : Number(match[1]) * (SIZE_UNITS[match[2] ?? ""] ?? Number.NaN);
    return number >= 1024 && number <= named.maximum ? number : undefined;
  };
  const { fallback, fallbackText } = named;
  const accepts = `bytes from 1024 to ${named.maximum}, also as KiB, MiB or GiB`;
  return option(named, { fallback, fallbackText, unit: "bytes", parse, accepts });
}

/** A tenant's limit: a whole number, or "none". */
function limit(named: Named & { unit: string }): Option<number | null> {
  const parse = (value: string) => {
    if (value === "none") return null;
    return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  };
  const accepts = 'a whole number, or "none"';
  return option<number | null>(named, { fallback: null, unit: named.unit, parse, accepts });
}

function list(named: Named, accepts: string, ok: (item: string) => boolean): Option<readonly string[]> {
  const parse = (value: string) => {
    const items = value.split(",").map((item) => item.trim());
    return items.every((item) => item !== "" && ok(item)) ? items : undefined;
  };
  return option<readonly string[]>(named, { fallback: [], repeatable: true, parse, accepts });
}

function isOrigin(value: string): boolean {
  return value === "*" || (/^https?:\/\//.test(value) && URL.canParse(value) && new URL(value).origin === value);
}

/** Every option of the gateway, by its name in Config. The README's table is compared with this one. */
export const OPTIONS = {
  host: text({ flag: "host", fallback: "127.0.0.1", why: "Address to listen on; 0.0.0.0 in a container." }),
  port: whole({ flag: "port", fallback: 4000, minimum: 0, maximum: 65_535, why: "0 takes any free port." }),
  dataFolder: text({ flag: "data-dir", fallback: "./data", why: "Where every file of the gateway lives." }),
  operatorKey: option<string | null>(
    { flag: "operator-key", why: "The operator's key. Where none is given, one is made at first start." },
    {
      ...{ fallback: null, secret: true, accepts: "32 to 512 visible characters" },
      parse: (value) => (/^[\x21-\x7e]{32,512}$/.test(value) ? value : undefined),
    },
  ),
  corsOrigins: list(
    { flag: "cors-origin", why: "Other origins whose pages may use the API; without it, the gateway's own alone." },
    'origins such as https://app.example.com, separated by commas, or "*"',
    isOrigin,
  ),
  jwksUrl: webAddress({ flag: "jwt-jwks-url", why: "Public keys of the issuer whose tokens are accepted." }),
  jwtSecret: option<string | null>(
    { flag: "jwt-secret", why: "Shared secret of the issuer, instead of public keys." },
    {
      ...{ fallback: null, secret: true, accepts: "at least 32 characters" },
      parse: (value) => (value.length >= 32 ? value : undefined),
    },
  ),
  jwtIssuer: optionalText({ flag: "jwt-issuer", why: "The `iss` that a token must have." }),
  jwtAudience: optionalText({ flag: "jwt-audience", why: "The `aud` that a token must have." }),
  jwtAlgorithms: list(
    { flag: "jwt-algorithms", why: "Without it RS256 and ES256 with public keys, HS256 with a secret." },
    "names of signature algorithms, separated by commas",
    (item) => SECRET_ALGORITHMS.includes(item) || PUBLIC_ALGORITHMS.includes(item),
  ),
  jwtTenantClaim: text({ flag: "jwt-tenant-claim", fallback: "tenant", why: "The claim that names the tenant." }),
  jwtScopesClaim: text({ flag: "jwt-scopes-claim", fallback: "scope", why: "The claim that lists the scopes." }),
  jwtUserClaim: text({ flag: "jwt-user-claim", fallback: "user", why: "The claim that narrows to one end user." }),
  openDatabasesMax: whole({
    ...{ flag: "open-databases", fallback: 256, minimum: 4, maximum: 100_000 },
    why: "Open tenant files at once; fewer where the process may not have so many descriptors.",
  }),
  maxSessions: limit({ flag: "max-sessions", unit: "sessions", why: "Default limit of a new tenant." }),
  maxMessages: limit({ flag: "max-messages", unit: "messages", why: "Default limit of a new tenant." }),
  maxBytes: limit({ flag: "max-bytes", unit: "bytes", why: "Default limit of a new tenant." }),
  requestsPerMinute: limit({
    ...{ flag: "requests-per-minute", unit: "root fields per minute" },
    why: "Default limit of a new tenant.",
  }),
  bodyBytesMax: bytes({
    ...{ flag: "body-bytes", fallback: 32 * 1024 ** 2, fallbackText: "32MiB", maximum: 256 * 1024 ** 2 },
    why: "A request's body or a WebSocket message; room for a 16 MiB payload and what JSON adds to it.",
  }),
  bodiesInFlightBytesMax: bytes({
    ...{ flag: "bodies-in-flight-bytes", fallback: 256 * 1024 ** 2, fallbackText: "256MiB", maximum: 64 * 1024 ** 3 },
    why: "Bodies held in memory in all; beyond it 503.",
  }),
  connectionsMax: whole({
    ...{ flag: "connections", fallback: 10_000, minimum: 1, maximum: 1_000_000 },
    why: "Open sockets at once; further ones are closed unanswered.",
  }),
  headersTimeoutSeconds: seconds({
    ...{ flag: "headers-timeout", fallback: 10, maximum: 600 },
    why: "Time for a request's headers, against slow senders.",
  }),
  bodyTimeoutSeconds: seconds({
    ...{ flag: "body-timeout", fallback: 60, maximum: 3600 },
    why: "Time for a whole request to arrive; streams that are sent are not limited.",
  }),
  keepAliveSeconds: seconds({
    ...{ flag: "keep-alive", fallback: 75, maximum: 3600 },
    why: "How long an idle connection stays; keep it above the load balancer's own limit.",
  }),
  streamCommentSeconds: seconds({
    ...{ flag: "stream-comment", fallback: 15, maximum: 600 },
    why: "How often a silent stream says that it lives; keep it below any proxy's idle limit.",
  }),
  initTimeoutSeconds: seconds({
    ...{ flag: "init-timeout", fallback: 10, maximum: 600 },
    why: "Time for a WebSocket's connection_init.",
  }),
  subscriptionsPerTenantMax: whole({
    ...{ flag: "subscriptions-per-tenant", fallback: 1000, minimum: 1, maximum: 1_000_000 },
    why: "Live subscriptions of one tenant.",
  }),
  operationsPerConnectionMax: whole({
    ...{ flag: "operations-per-connection", fallback: 100, minimum: 1, maximum: 100_000 },
    why: "Subscriptions and other operations running on one WebSocket.",
  }),
  documentBytesMax: bytes({
    ...{ flag: "document-bytes", fallback: 64 * 1024, fallbackText: "64KiB", maximum: 1024 ** 2 },
    why: "A GraphQL document; data goes into variables.",
  }),
  tokensMax: whole({
    ...{ flag: "document-tokens", fallback: 2000, minimum: 100, maximum: 100_000 },
    why: "Tokens of a document.",
  }),
  depthMax: whole({
    ...{ flag: "document-depth", fallback: 12, minimum: 4, maximum: 100 },
    why: "Levels of fields; introspection is not counted.",
  }),
  aliasesMax: whole({ flag: "aliases", fallback: 30, minimum: 0, maximum: 10_000, why: "Aliases in a document." }),
  directivesMax: whole({
    ...{ flag: "directives", fallback: 20, minimum: 0, maximum: 10_000 },
    why: "Directives in a document.",
  }),
  rowsMax: whole({
    ...{ flag: "operation-rows", fallback: 25_000, minimum: 1000, maximum: 10_000_000 },
    why: "Rows that one operation may ask for, page sizes multiplied through nesting.",
  }),
  graceSeconds: seconds({
    ...{ flag: "grace", fallback: 10, maximum: 600 },
    why: "Time for running work at shutdown.",
  }),
  logLevel: option<LogLevel>(
    { flag: "log-level", why: "Least level that is written." },
    {
      ...{ fallback: "info", accepts: LOG_LEVELS.join(", ") },
      parse: (value) => LOG_LEVELS.find((level) => level === value),
    },
  ),
} as const;

type ValueOf<Item> = Item extends Option<infer Value> ? Value : never;
export type OptionName = keyof typeof OPTIONS;
/** Everything that is configured, checked and frozen. */
export type Config = { readonly [Name in OptionName]: ValueOf<(typeof OPTIONS)[Name]> };

/** Where values come from: flags by name without dashes, and the environment. A flag goes before a variable. */
export interface ConfigSources {
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Reads every option; a UsageError for the first wrong value, naming the flag or variable that held it. */
export function readConfig(sources: ConfigSources): Config {
  const values = Object.entries(OPTIONS).map(([name, item]) => [name, readOption<unknown>(item, sources)]);
  const config: Config = Object.freeze(Object.fromEntries(values));
  checkTokens(config);
  return config;
}

function readOption<Value>(item: Option<Value>, { flags, environment }: ConfigSources): Value {
  const given = flags.get(item.flag) ?? [];
  const variable = environment[item.variable] ?? "";
  if (given.length > 1 && !item.repeatable) throw new UsageError(`--${item.flag} is given more than once.`);
  const value = given.length > 0 ? given.join(",") : variable;
  if (given.length === 0 && variable === "") return item.fallback;
  const source = given.length > 0 ? `--${item.flag}` : item.variable;
  const parsed = item.parse(value);
  if (parsed === undefined) {
    const shown = item.secret || value.length > 100 ? "" : `, not ${JSON.stringify(value)}`;
    throw new UsageError(`${source} takes ${item.accepts}${shown}.`);
  }
  return parsed;
}

function checkTokens(config: Config): void {
  const { jwksUrl, jwtSecret, jwtIssuer, jwtAudience, jwtAlgorithms } = config;
  if (jwksUrl !== null && jwtSecret !== null) {
    throw new UsageError("Give --jwt-jwks-url or GATEWAY_JWT_SECRET, not both.");
  }
  if (jwksUrl === null && jwtSecret === null) return;
  if (jwtIssuer === null || jwtAudience === null) {
    throw new UsageError("Tokens need --jwt-issuer and --jwt-audience too; one made for somebody else is not ours.");
  }
  const allowed = jwksUrl === null ? SECRET_ALGORITHMS : PUBLIC_ALGORITHMS;
  const wrong = jwtAlgorithms.find((algorithm) => !allowed.includes(algorithm));
  if (wrong !== undefined) {
    const source = jwksUrl === null ? "a shared secret" : "public keys";
    throw new UsageError(`--jwt-algorithms: ${wrong} does not go with ${source}; there it is ${allowed.join(", ")}.`);
  }
}
