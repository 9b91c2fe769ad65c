import { z } from 'zod'
import type { Change, Fence, TransactionResult } from '../engine.js'
import { type Batcher, createBatcher } from './batches.js'
import type { Database } from './database.js'

/** What one call of {@link Engine.transact} writes. */
interface Transaction {
  readonly changes: readonly Change[]
  readonly fence: Fence | undefined
}

/** Each is a subtransaction, and PostgreSQL keeps 64 of a transaction in shared memory. */
const MAX_TRANSACTIONS = 50

const resultsSchema = z.tuple([
  z.object({ results: z.array(z.enum(['written', 'conflict', 'taken', 'lost-term', 'beyond'])) }),
])

/** Transactions in batches: one statement, within which each one is made or rolled back for itself. */
export function createTransactions(database: Database): Batcher<Transaction, TransactionResult> {
  return createBatcher<Transaction, TransactionResult>({
    split: (waiting) => [...waiting.slice(0, MAX_TRANSACTIONS).keys()],
    async run(batch) {
      const rows = await database.query('SELECT transact($1::jsonb) AS results', [encode(batch)])
      const [{ results }] = resultsSchema.parse(rows)
      return results
    },
    refusalOf: () => undefined,
  })
}

function encode(batch: readonly Transaction[]): string {
  return JSON.stringify(batch, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

const isOfDay = 'CASE WHEN sums.day IN (day_of, day_of + 1) THEN sums.used ELSE 0 END'

/**
 * A function, because a transaction of several statements would keep its locks while its server is paused. Its statements see what
 * others have committed since it began, so an addition counts on the newest sum. Each transaction first locks its lease, see `HELD` in
 * batches.ts. A migration has made it: another version of it is another migration.
 */
export const CREATE_TRANSACT = `
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
        WHEN unique_violation THEN results := results || 'taken'::text;
      END;
    END LOOP;
    RETURN results;
  END
  $transact$;`
