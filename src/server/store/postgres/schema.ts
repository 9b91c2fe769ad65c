import * as z from 'zod'
import { FIRST_TABLES, refuseSchema, type Table } from '../engine.js'
import type { Database } from './database.js'

/** The collation compares bytes, as SQLite does: ids have one order on both engines. */
const createTable = (table: Table) => `
  CREATE TABLE ${table} (
    id text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL,
    is_open boolean NOT NULL,
    unique_key text COLLATE "C",
    doc text NOT NULL
  );
  CREATE INDEX ${table}_open ON ${table} (id) WHERE is_open;
  CREATE UNIQUE INDEX ${table}_unique ON ${table} (unique_key) WHERE is_open AND unique_key IS NOT NULL;`

const isOfDay = 'CASE WHEN sums.day IN (day_of, day_of + 1) THEN sums.used ELSE 0 END'

/**
 * A function, because a transaction of several statements would keep its locks while its server is paused. Its statements see what
 * others have committed since it began, so an addition counts on the newest sum. A migration has made it: another version of it is another
 * migration.
 *
 * Each transaction first locks its lease until the commit. No server can take the lease before that, so a successor reads every row of the
 * earlier term. Without the lock, a write whose snapshot is older than the take could commit after the successor has read. Renewals and other
 * fenced writes do not wait for this lock.
 */
const CREATE_TRANSACT = `
  CREATE FUNCTION transact(batch jsonb) RETURNS text[] LANGUAGE plpgsql AS $transact$
  DECLARE
    item jsonb;
    change jsonb;
    place text;
    new_version integer;
    day_of integer;
    changed integer;
    results text[] := '{}';
  BEGIN
    FOR item IN SELECT value FROM jsonb_array_elements(batch) WITH ORDINALITY ORDER BY ordinality LOOP
      BEGIN
        IF item ? 'fence' THEN
          PERFORM FROM leases
          WHERE name = item->'fence'->>'lease' AND term = (item->'fence'->>'term')::uuid FOR KEY SHARE;
          IF NOT FOUND THEN RAISE SQLSTATE 'BE001' USING MESSAGE = 'lost-term'; END IF;
        END IF;
        FOR change IN SELECT value FROM jsonb_array_elements(item->'changes') WITH ORDINALITY ORDER BY ordinality LOOP
          IF change->>'kind' = 'add' THEN
            day_of := (change->>'day')::integer;
            INSERT INTO sums (id, day, used, kept) VALUES (change->>'id', 0, 0, 0) ON CONFLICT (id) DO NOTHING;
            UPDATE sums SET
              used = ${isOfDay} + (change->>'used')::bigint,
              kept = greatest(0, kept + (change->>'kept')::bigint),
              day = CASE WHEN day = day_of + 1 THEN day ELSE day_of END
            WHERE id = change->>'id' AND (
              change->>'limit' IS NULL
              OR ${isOfDay} + kept <= (change->>'exempt')::bigint
              OR ${isOfDay} + (change->>'used')::bigint + greatest(0, kept + (change->>'kept')::bigint)
                <= (change->>'limit')::bigint
            );
            IF NOT FOUND THEN RAISE SQLSTATE 'BE001' USING MESSAGE = 'beyond'; END IF;
          ELSE
            place := change->>'table';
            new_version := (change->'row'->>'version')::integer;
            IF change->>'kind' = 'delete' THEN
              EXECUTE format('DELETE FROM %I WHERE id = $1 AND version = $2', place)
              USING change->>'id', (change->>'version')::integer;
            ELSIF new_version = 1 THEN
              EXECUTE format(
                'INSERT INTO %I (id, version, is_open, unique_key, doc) VALUES ($1, 1, $2, $3, $4) ON CONFLICT (id) DO NOTHING',
                place
              ) USING change->'row'->>'id', (change->'row'->>'isOpen')::boolean, change->'row'->>'uniqueKey',
                change->'row'->>'doc';
            ELSE
              EXECUTE format(
                'UPDATE %I SET version = $2, is_open = $3, unique_key = $4, doc = $5 WHERE id = $1 AND version = $2 - 1',
                place
              ) USING change->'row'->>'id', new_version, (change->'row'->>'isOpen')::boolean,
                change->'row'->>'uniqueKey', change->'row'->>'doc';
            END IF;
            GET DIAGNOSTICS changed = ROW_COUNT;
            IF changed = 0 THEN RAISE SQLSTATE 'BE001' USING MESSAGE = 'conflict'; END IF;
          END IF;
        END LOOP;
        results := results || 'written'::text;
      EXCEPTION
        WHEN SQLSTATE 'BE001' THEN results := results || SQLERRM;
        WHEN unique_violation THEN results := results || 'duplicate'::text;
      END;
    END LOOP;
    RETURN results;
  END
  $transact$;`

/**
 * Each migrates the schema from its index to the next number. They are never edited once released. Servers of the version
 * before go on beside this one, so a migration may only add what they can ignore. Documents are parsed strictly: a new member is
 * optional, and written one release after the first that reads it.
 */
const MIGRATIONS: readonly string[] = [
  `${FIRST_TABLES.map(createTable).join('')}
  CREATE TABLE leases (
    name text COLLATE "C" PRIMARY KEY,
    term uuid NOT NULL,
    holder text NOT NULL,
    expires_at timestamptz NOT NULL
  );
  CREATE TABLE sums (
    id text COLLATE "C" PRIMARY KEY,
    day integer NOT NULL,
    used bigint NOT NULL,
    kept bigint NOT NULL
  );
  ${CREATE_TRANSACT}`,
]

/** "backend", in ASCII. Locked to the end of the transaction, so that of several servers one migrates. */
const MIGRATION_LOCK = '0x6261636b656e64'
const MIGRATION_TIMEOUT_MS = 60_000

/** One statement, and so one transaction: a server that ends in the middle keeps no lock and no half of a schema. */
const MIGRATE = `DO $migrate$
  DECLARE found integer;
  BEGIN
    PERFORM pg_advisory_xact_lock(${BigInt(MIGRATION_LOCK)});
    CREATE TABLE IF NOT EXISTS schema_versions (version integer PRIMARY KEY, applied_at timestamptz NOT NULL);
    SELECT coalesce(max(version), 0) INTO found FROM schema_versions;
    ${MIGRATIONS.map(
      (migration, index) => `IF found < ${index + 1} THEN
      ${migration}
      INSERT INTO schema_versions VALUES (${index + 1}, now());
    END IF;`,
    ).join('')}
  END
$migrate$`

/** The newest schema that this version of the server knows. */
export const NEWEST_SCHEMA = MIGRATIONS.length

const isMadeSchema = z.tuple([z.object({ is_made: z.boolean() })])
const versionSchema = z.tuple([z.object({ version: z.int().nullable() })])

/** @returns zero where no server has made its tables yet. @throws StorageError */
export async function readSchema(database: Database): Promise<number> {
  const [{ is_made: isMade }] = isMadeSchema.parse(
    await database.query("SELECT to_regclass('schema_versions') IS NOT NULL AS is_made"),
  )
  if (!isMade) return 0
  const [{ version }] = versionSchema.parse(
    await database.query('SELECT max(version) AS version FROM schema_versions'),
  )
  return version ?? 0
}

/** Brings the database to the newest schema, or keeps it as it was. @throws UnusableDatabaseError, StorageError */
export async function migrate(database: Database): Promise<void> {
  await database.query(MIGRATE, [], MIGRATION_TIMEOUT_MS)
  const version = await readSchema(database)
  if (version > NEWEST_SCHEMA) refuseSchema(version, NEWEST_SCHEMA)
}
