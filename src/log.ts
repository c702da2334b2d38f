/** Facts beside a log line, JSON-safe. Never a secret, never message content. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where log lines go; the process hands in one that writes JSON to standard error. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** A log that keeps nothing. */
export const silentLog: Log = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} });
