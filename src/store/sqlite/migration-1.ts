/**
 * The first shape of a tenant's file. Text that may hold anything (message text, tool names, summaries, errors) stands
 * as a JSON string literal, since SQLite text can't hold a lone surrogate; columns named *_json say so. Booleans are 0
 * and 1. Times are microseconds since the epoch, UTC. What one generation of a session owns hangs on its key, which
 * AUTOINCREMENT never gives twice.
 */
export const MIGRATION_1 = `
CREATE TABLE tenant (
  id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  change_number INTEGER NOT NULL DEFAULT 0,
  newest_time INTEGER NOT NULL DEFAULT 0,
  session_count INTEGER NOT NULL DEFAULT 0,
  message_count INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE sessions (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  parent_session_id TEXT,
  session_type INTEGER NOT NULL DEFAULT 0,
  title TEXT,
  title_folded TEXT,
  agent_name TEXT,
  user_id TEXT,
  metadata TEXT NOT NULL DEFAULT '{}',
  message_count INTEGER NOT NULL DEFAULT 0,
  last_sequence INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  change_number INTEGER NOT NULL,
  created_change_number INTEGER NOT NULL,
  edit_count INTEGER NOT NULL DEFAULT 0,
  snapshot_count INTEGER NOT NULL DEFAULT 0,
  run_count INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_updated ON sessions (updated_at, id);
CREATE INDEX sessions_by_created ON sessions (created_at, id);
CREATE INDEX sessions_by_user ON sessions (user_id, updated_at, id);
CREATE INDEX sessions_by_agent ON sessions (agent_name, updated_at, id);
CREATE INDEX sessions_by_parent ON sessions (parent_session_id, updated_at, id);
CREATE INDEX sessions_by_type ON sessions (session_type, updated_at, id);
CREATE UNIQUE INDEX sessions_by_change ON sessions (change_number);

CREATE TABLE tombstones (
  id_hash BLOB PRIMARY KEY,
  deleted_at INTEGER NOT NULL,
  change_number INTEGER NOT NULL,
  session_id TEXT,
  attributes TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tombstones_by_change ON tombstones (change_number);
CREATE INDEX tombstones_with_attributes ON tombstones (deleted_at) WHERE session_id IS NOT NULL;

CREATE TABLE erasures (session_key INTEGER PRIMARY KEY) STRICT;

CREATE TABLE raw_messages (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session_key INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  run_id TEXT,
  turn INTEGER,
  role INTEGER NOT NULL,
  include_in_context INTEGER NOT NULL,
  context_empty INTEGER NOT NULL,
  tool_call_id_json TEXT,
  tool_name_json TEXT,
  calls_json TEXT,
  byte_size INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  completed_at INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL,
  reasoning_started_at INTEGER,
  reasoning_completed_at INTEGER,
  reasoning_duration_ns INTEGER,
  content_started_at INTEGER,
  content_completed_at INTEGER,
  content_duration_ns INTEGER,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  reasoning_tokens INTEGER,
  created_at INTEGER NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}',
  tags TEXT NOT NULL DEFAULT '{}',
  attributes TEXT NOT NULL DEFAULT '{}',
  text_json TEXT NOT NULL,
  parts_json TEXT,
  tail_json TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX raw_messages_by_sequence ON raw_messages (session_key, sequence);
CREATE INDEX raw_messages_by_role ON raw_messages (session_key, role, sequence);
CREATE INDEX raw_messages_by_request ON raw_messages (session_key, request_id, sequence);
CREATE INDEX raw_messages_by_run ON raw_messages (run_id, sequence) WHERE run_id IS NOT NULL;

CREATE TABLE snapshots (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session_key INTEGER NOT NULL,
  edit INTEGER NOT NULL,
  version INTEGER NOT NULL,
  expected_version INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  compacted_through_sequence INTEGER NOT NULL,
  summary_json TEXT NOT NULL,
  attributes TEXT NOT NULL DEFAULT '{}',
  run_id TEXT,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  reasoning_tokens INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX snapshots_by_version ON snapshots (session_key, version);

CREATE TABLE rewinds (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session_key INTEGER NOT NULL,
  edit INTEGER NOT NULL,
  through_sequence INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX rewinds_by_edit ON rewinds (session_key, edit);

CREATE TABLE runs (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session_key INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  agent_name TEXT,
  ended_as TEXT,
  phase TEXT NOT NULL,
  turn INTEGER NOT NULL DEFAULT 0,
  active_tool_json TEXT,
  error_name_json TEXT,
  error_message_json TEXT,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  lease_seconds INTEGER NOT NULL,
  lease_expires_at INTEGER NOT NULL,
  last_event_index INTEGER NOT NULL DEFAULT 0,
  stored_event_count INTEGER NOT NULL DEFAULT 0,
  cancel_requested_at INTEGER,
  started_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX runs_by_ordinal ON runs (session_key, ordinal);
CREATE INDEX runs_by_start ON runs (started_at, id);
CREATE INDEX runs_by_request ON runs (request_id, started_at, id);
CREATE INDEX runs_by_lease ON runs (lease_expires_at) WHERE ended_as IS NULL;

CREATE TABLE run_events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  session_key INTEGER NOT NULL,
  run_key INTEGER NOT NULL,
  event_index INTEGER NOT NULL,
  type TEXT NOT NULL,
  phase TEXT NOT NULL,
  turn INTEGER NOT NULL,
  tool_call_json TEXT,
  message_id TEXT,
  name_json TEXT,
  payload TEXT,
  occurred_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX run_events_by_index ON run_events (run_key, event_index);
CREATE INDEX run_events_by_session ON run_events (session_key, position);

CREATE TABLE usage_hours (
  hour INTEGER NOT NULL,
  agent_name TEXT NOT NULL,
  provider_json TEXT NOT NULL,
  model_json TEXT NOT NULL,
  user_id TEXT NOT NULL,
  message_count INTEGER NOT NULL DEFAULT 0,
  run_count INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, agent_name, provider_json, model_json, user_id)
) STRICT, WITHOUT ROWID;
`;
