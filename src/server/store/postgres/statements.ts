import type { Table } from '../engine.js'

/** Between the documents of a batch: no JSON text has a control character. */
export const SEPARATOR = '\u001e'
/** Documents travel as one text, which PostgreSQL splits in less time than it needs to read them as elements of an array. */
const DOCS = `string_to_array($5::text, E'\\x1e', '')`

/**
 * Writes new rows with different ids and without a fence, such as orders; returns the ids that it wrote. It takes PostgreSQL half
 * of what the statement for all kinds of writes takes.
 */
export function insertStatement(table: Table): string {
  return `INSERT INTO ${table} (id, version, is_open, unique_key, doc)
SELECT * FROM unnest($1::text[], $2::integer[], $3::boolean[], $4::text[], ${DOCS})
ON CONFLICT (id) DO NOTHING RETURNING id, 'written' AS result`
}

/**
 * Locks the leases of the batch until it is committed: no server can take such a lease before that, so a successor reads every
 * row of the earlier term. Without the lock, a write whose snapshot is older than the take could commit after the successor has
 * read. Renewals and other fenced writes do not wait for this lock.
 */
const HELD = `
  SELECT name, term FROM leases WHERE (name, term) IN (SELECT lease, term FROM batch) ORDER BY name FOR KEY SHARE`

/** Writes rows with different ids, each if its version and its fence permit it; returns the ids that it wrote or refused. */
export function writeStatement(table: Table): string {
  return `WITH batch AS (
  SELECT * FROM unnest($1::text[], $2::integer[], $3::boolean[], $4::text[], ${DOCS}, $6::text[], $7::uuid[])
    AS batch (id, version, is_open, unique_key, doc, lease, term)
), held AS (${HELD}
), permitted AS (
  SELECT * FROM batch WHERE lease IS NULL OR (lease, term) IN (SELECT name, term FROM held)
), inserted AS (
  INSERT INTO ${table} (id, version, is_open, unique_key, doc)
  SELECT id, version, is_open, unique_key, doc FROM permitted WHERE version = 1 AND doc IS NOT NULL
  ON CONFLICT (id) DO NOTHING RETURNING id
), updated AS (
  UPDATE ${table} AS stored
  SET version = new.version, is_open = new.is_open, unique_key = new.unique_key, doc = new.doc
  FROM permitted AS new
  WHERE stored.id = new.id AND stored.version = new.version - 1 AND new.doc IS NOT NULL RETURNING stored.id
), deleted AS (
  DELETE FROM ${table} AS stored USING permitted AS gone
  WHERE stored.id = gone.id AND stored.version = gone.version AND gone.doc IS NULL RETURNING stored.id
)
SELECT id, 'written' AS result FROM inserted
UNION ALL SELECT id, 'written' FROM updated
UNION ALL SELECT id, 'written' FROM deleted
UNION ALL SELECT id, 'lost-term' FROM batch WHERE NOT EXISTS (SELECT FROM permitted WHERE permitted.id = batch.id)`
}

const EXPIRY = `clock_timestamp() + $1 * interval '1 millisecond'`

/** One statement, so that no server can stop in its middle. It skips a lease whose term is just writing. */
export const TAKE_LEASE = `WITH expired AS (
  SELECT name FROM leases WHERE name = $2 AND expires_at <= clock_timestamp() FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE leases SET term = $3, holder = $4, expires_at = ${EXPIRY}
  FROM expired WHERE leases.name = expired.name RETURNING leases.name
), made AS (
  INSERT INTO leases (name, term, holder, expires_at) VALUES ($2, $3, $4, ${EXPIRY})
  ON CONFLICT (name) DO NOTHING RETURNING name
)
SELECT name FROM taken UNION ALL SELECT name FROM made`

export const RENEW_LEASE = `UPDATE leases SET expires_at = ${EXPIRY} WHERE name = $2 AND term = $3 RETURNING name`
export const RELEASE_LEASE = 'DELETE FROM leases WHERE name = $1 AND term = $2'
export const LIST_LEASES = `
  SELECT name, term, holder, round(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS expires_in_ms
  FROM leases ORDER BY name`
/** Each server leaves behind a lease of its own name, which no other server takes. */
export const FORGET_LEASES = `DELETE FROM leases WHERE expires_at < clock_timestamp() - interval '1 hour'`
