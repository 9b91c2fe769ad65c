import { z } from 'zod'
import type { Fence, Row, Table, WriteResult } from '../engine.js'
import { type Batcher, createBatcher } from './batcher.js'
import type { Database } from './database.js'

/** A put has a row with a document, and a delete has none. */
interface Write extends Omit<Row, 'doc'> {
  readonly doc: string | null
  readonly fence: Fence | undefined
}

/** A batch of 1.1 kB records is half a megabyte. */
const MAX_ROWS = 500
/** Characters after which a batch takes no further row: PostgreSQL has to answer it in time, and its largest value has 1 GB. */
const MAX_LENGTH = 8_000_000

const resultsSchema = z.array(z.object({ id: z.string(), result: z.enum(['written', 'lost-term']) }))

function isInsert({ version, doc, fence }: Write): boolean {
  return version === 1 && doc !== null && fence === undefined
}

/** The writes of one table, in batches of one statement each. */
export function createBatches(database: Database, table: Table): Batcher<Write, WriteResult> {
  const insert = insertStatement(table)
  const writeAny = writeStatement(table)
  const uniqueIndex = `${table}_unique`

  async function run(writes: readonly Write[]): Promise<WriteResult[]> {
    const column = <T>(pick: (write: Write) => T) => writes.map(pick)
    const values = [
      column(({ id }) => id),
      column(({ version }) => version),
      column(({ isOpen }) => isOpen),
      column(({ uniqueKey }) => uniqueKey),
      // An empty text stands for none: no document is empty.
      column(({ doc }) => doc ?? '').join(SEPARATOR),
    ]
    const fences = [column(({ fence }) => fence?.lease ?? null), column(({ fence }) => fence?.term ?? null)]
    const rows = writes.every(isInsert)
      ? await database.query(insert, values)
      : await database.query(writeAny, [...values, ...fences])
    const results = new Map(resultsSchema.parse(rows).map(({ id, result }) => [id, result]))
    return writes.map(({ id }) => results.get(id) ?? 'conflict')
  }

  return createBatcher<Write, WriteResult>({
    split: splitById,
    run,
    refusalOf: ({ violated }) => (violated === uniqueIndex ? 'taken' : undefined),
  })
}

/**
 * One statement changes a row once: a second write of an id waits for the next batch. In the order of ids, so that batches of two
 * servers that write the same rows wait for each other in one direction.
 */
function splitById(waiting: readonly Write[]): readonly number[] {
  const batch = new Map<string, number>()
  let length = 0
  for (const [index, { id, doc }] of waiting.entries()) {
    if (batch.has(id) || batch.size === MAX_ROWS || length > MAX_LENGTH) continue
    batch.set(id, index)
    length += doc?.length ?? 0
  }
  return [...batch].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, index]) => index)
}

/** Between the documents of a batch: no JSON text has a control character. */
const SEPARATOR = '\u001e'
/** Documents travel as one text, which PostgreSQL splits in less time than it needs to read them as elements of an array. */
const DOCS = `string_to_array($5::text, E'\\x1e', '')`

/**
 * Writes new rows with different ids and without a fence, such as orders; returns the ids that it wrote. It takes PostgreSQL half
 * of what the statement for all kinds of writes takes.
 */
function insertStatement(table: Table): string {
  return `INSERT INTO ${table} (id, version, is_open, unique_key, doc)
SELECT * FROM unnest($1::text[], $2::integer[], $3::boolean[], $4::text[], ${DOCS})
ON CONFLICT (id) DO NOTHING RETURNING id, 'written' AS result`
}

/**
 * Locks the leases of the batch until it is committed. No server can take such a lease before that, so a successor reads every
 * row of the earlier term. Without the lock, a write whose snapshot is older than the take could commit after the successor has
 * read. Renewals and other fenced writes do not wait for this lock.
 */
const HELD = `
  SELECT name, term FROM leases WHERE (name, term) IN (SELECT lease, term FROM batch) ORDER BY name FOR KEY SHARE`

/** Writes rows with different ids, each if its version and its fence permit it; returns the ids that it wrote or refused. */
function writeStatement(table: Table): string {
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
