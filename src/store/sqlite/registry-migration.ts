/** Marks the control store's file ("SGWC"), so that no tenant's file is ever taken for it. */
export const REGISTRY_APPLICATION_ID = 0x53475743;

/**
 * The first shape of the control store. AUTOINCREMENT never gives a generation twice, not even after the newest row is
 * gone. `spent_key_ids` outlives the keys: a key's id that was known once must never open another tenant.
 * `created_from` is what a repeated createTenant is compared with.
 */
const MIGRATION_1 = `
CREATE TABLE control (
  newest_time INTEGER NOT NULL
) STRICT;
INSERT INTO control (newest_time) VALUES (0);

CREATE TABLE tenants (
  generation INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT,
  state TEXT NOT NULL CHECK (state IN ('CREATING', 'ACTIVE', 'SUSPENDED', 'DELETING')),
  max_sessions INTEGER,
  max_messages INTEGER,
  max_bytes INTEGER,
  requests_per_minute INTEGER,
  created_from TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  generation INTEGER NOT NULL REFERENCES tenants (generation),
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
  name TEXT,
  scopes TEXT NOT NULL,
  user_id TEXT,
  visible_roles TEXT NOT NULL,
  writable_roles TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_keys_newest ON api_keys (generation, created_at, id);

CREATE TABLE spent_key_ids (
  id_hash BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;
`;

/** In order, for `migrate`. A landed migration is never edited. */
export const REGISTRY_MIGRATIONS: readonly string[] = [MIGRATION_1];
