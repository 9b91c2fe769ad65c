import { z } from 'zod'
import {
  type Change,
  type Fence,
  type Row,
  StorageError,
  type Table,
  type TransactionResult,
  type WriteResult,
} from '../engine.js'
import { type Database, StatementError } from './database.js'

/** Writes that travel together: one statement, and so one commit. */
export interface Batcher<W, R> {
  write(write: W): Promise<R>
  /** Resolves when every write has been answered. */
  idle(): Promise<void>
}

interface Waiting<W, R> {
  readonly write: W
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

/** Each batch holds the writes of one turn of the event loop, or of the time in which the batch before was sent. */
export function createBatcher<W, R>({
  split,
  run,
  refusalOf,
}: {
  /** Chooses the next batch: indices into the writes that wait, in the order in which they are sent. */
  readonly split: (waiting: readonly W[]) => readonly number[]
  /** Resolves with a result for each. @throws StorageError */
  readonly run: (batch: readonly W[]) => Promise<readonly R[]>
  /** The result of a write that the database has refused alone; undefined where it is a failure. */
  readonly refusalOf: (error: StatementError) => R | undefined
}): Batcher<W, R> {
  let waiting: Waiting<W, R>[] = []
  let sending: Promise<void> | undefined

  async function sendAll(): Promise<void> {
    await new Promise(setImmediate)
    while (waiting.length > 0) await send(nextBatch())
    sending = undefined
  }

  function nextBatch(): Waiting<W, R>[] {
    const chosen = split(waiting.map(({ write }) => write))
    const batch = chosen.flatMap((index) => waiting[index] ?? [])
    const sent = new Set(chosen)
    waiting = waiting.filter((_, index) => !sent.has(index))
    return batch
  }

  /** Resolves with the failure of the database, if it was one. */
  async function send(batch: readonly Waiting<W, R>[]): Promise<StorageError | undefined> {
    try {
      const results = await run(batch.map(({ write }) => write))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result === undefined) reject(new StorageError('a write without a result'))
        else resolve(result)
      }
    } catch (error) {
      if (error instanceof StatementError) return sendEach(batch, error)
      const failure = error instanceof StorageError ? error : new StorageError(error)
      // Writes that came during this batch fail with it: each further batch would wait as long before it failed.
      const refused = [...batch, ...waiting]
      waiting = []
      for (const { reject } of refused) reject(failure)
      return failure
    }
  }

  /** One refused write makes the database roll back its batch, so each is sent alone: then only that one fails. */
  async function sendEach(
    batch: readonly Waiting<W, R>[],
    error: StatementError,
  ): Promise<StorageError | undefined> {
    if (batch.length > 1) {
      let failure: StorageError | undefined
      for (const entry of batch) {
        if (failure === undefined) failure = await send([entry])
        else entry.reject(failure)
      }
      return failure
    }
    const refusal = refusalOf(error)
    for (const { resolve, reject } of batch) {
      if (refusal === undefined) reject(error)
      else resolve(refusal)
    }
  }

  return {
    write: (write) =>
      new Promise((resolve, reject) => {
        waiting.push({ write, resolve, reject })
        sending ??= sendAll()
      }),
    idle: async () => sending,
  }
}

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

/** What one call of {@link Engine.transact} writes. */
interface Transaction {
  readonly changes: readonly Change[]
  readonly fence: Fence | undefined
}

/** Each is a subtransaction, and PostgreSQL keeps 64 of a transaction in shared memory. */
const MAX_TRANSACTIONS = 50

const transactedSchema = z.tuple([
  z.object({ results: z.array(z.enum(['written', 'conflict', 'taken', 'lost-term', 'beyond'])) }),
])

/** Transactions in batches: one statement, within which each one is made or rolled back for itself. */
export function createTransactions(database: Database): Batcher<Transaction, TransactionResult> {
  return createBatcher<Transaction, TransactionResult>({
    split: (waiting) => [...waiting.slice(0, MAX_TRANSACTIONS).keys()],
    async run(batch) {
      const rows = await database.query('SELECT transact($1::jsonb) AS results', [encode(batch)])
      const [{ results }] = transactedSchema.parse(rows)
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
