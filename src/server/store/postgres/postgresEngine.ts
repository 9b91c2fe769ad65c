import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Secret } from '../../../service/secret.js'
import {
  type Change,
  createGroups,
  type Engine,
  endOfKeys,
  type Fence,
  type LeaseState,
  type Leases,
  type Row,
  rowJson,
  storedLease,
  storedRow,
  storedSum,
} from '../engine.js'
import { assertSuitable, createDatabase, type Database, readSettings } from './database.js'
import { migrate } from './schema.js'

/** Statements of rows: a few connections that all parts share. */
const ROWS = { maxConnections: 10, connectTimeoutMs: 3_000, queryTimeoutMs: 5_000 }
const LEASE_TTL_MS = 10_000
/** Open rows that one statement reads: each statement has a time-out. */
const PAGE = 1_000

export type Databases = ReturnType<typeof createDatabases>

export function createDatabases(url: Secret, leaseTtlMs = LEASE_TTL_MS) {
  // A renewal that gets no answer fails in time for another one.
  const timeoutMs = leaseTtlMs / 4
  return {
    rows: createDatabase({ url, ...ROWS }),
    // Leases have a connection of their own, so that a renewal never queues behind rows.
    leases: createDatabase({
      url,
      maxConnections: 1,
      connectTimeoutMs: timeoutMs,
      queryTimeoutMs: timeoutMs,
    }),
  }
}

/**
 * Keeps the rows in PostgreSQL, which several servers share. A database that cannot be reached, and one that gives no
 * answer, end as StorageError within eleven seconds. The process goes on: the next statement asks again.
 * @throws StorageError, UnusableDatabaseError
 */
export async function openPostgres(databases: Databases): Promise<Engine> {
  const { rows, leases } = databases
  try {
    await assertSuitable(rows)
    await migrate(rows)
    return createPostgresEngine(databases)
  } catch (error) {
    await Promise.all([rows.end(), leases.end()])
    throw error
  }
}

const COLUMNS = 'id, version, is_open, unique_key, doc'
const idsSchema = z.array(z.object({ id: z.string() }))

function createPostgresEngine(databases: Databases): Engine {
  const { rows: database } = databases
  const leases = createLeases(databases.leases)
  // Rows wait for no sum: transactions of several servers serialize at those.
  const [ofRows, ofSums] = [createBatches(database), createBatches(database)]

  const rows = async (text: string, values: readonly unknown[]) =>
    z.array(storedRow).parse(await database.query(`SELECT ${COLUMNS} FROM ${text}`, values))

  return {
    isShared: true,
    leases,
    durability: () => readSettings(database),
    async get(table, id) {
      const [row] = await rows(`${table} WHERE id = $1`, [id])
      return row
    },
    getMany: (table, ids) => rows(`${table} WHERE id = ANY($1)`, [ids]),
    async open(table) {
      const found: Row[] = []
      for (;;) {
        const after = found.at(-1)?.id ?? ''
        const page = await rows(`${table} WHERE is_open AND id > $1 ORDER BY id LIMIT ${PAGE}`, [after])
        found.push(...page)
        if (page.length < PAGE) return found
      }
    },
    async openIds(table) {
      const statement = `SELECT id FROM ${table} WHERE is_open`
      return idsSchema.parse(await database.query(statement)).map(({ id }) => id)
    },
    openWithKey: (table, prefix, limit) =>
      rows(`${table} WHERE is_open AND unique_key >= $1 AND unique_key < $2 ORDER BY unique_key LIMIT $3`, [
        prefix,
        endOfKeys(prefix),
        limit,
      ]),
    closed: (table, after, limit) =>
      rows(`${table} WHERE NOT is_open AND id > $1 ORDER BY id LIMIT $2`, [after, limit]),
    transact(changes, fence) {
      return (changes.some(({ kind }) => kind === 'add') ? ofSums : ofRows).write({ changes, fence })
    },
    async sums(ids) {
      const statement = 'SELECT id, day, used::text, kept::text FROM sums WHERE id = ANY($1)'
      return z.array(storedSum).parse(await database.query(statement, [ids]))
    },
    async stop() {
      await Promise.all([ofRows.idle(), ofSums.idle()])
      await Promise.all([database.end(), databases.leases.end()])
    },
  }
}

/** Each is a subtransaction, and PostgreSQL keeps 64 of a transaction in shared memory. */
const MAX_WRITES = 50

const answerSchema = z.tuple([
  z.object({ results: z.array(z.enum(['written', 'conflict', 'duplicate', 'lost-term', 'beyond'])) }),
])

/** Transactions that travel together: one statement and one commit, within which each is made or rolled back for itself. */
function createBatches(database: Database) {
  async function commit(writes: readonly { changes: readonly Change[]; fence: Fence | undefined }[]) {
    const rows = await database.query('SELECT transact($1::jsonb) AS results', [rowJson(writes)])
    return answerSchema.parse(rows)[0].results
  }
  // Sorted, so that batches of two servers that write the same rows cannot deadlock.
  return createGroups(commit, MAX_WRITES, ({ changes: [first] }) =>
    first?.kind === 'put' ? first.row.id : (first?.id ?? ''),
  )
}

const EXPIRY = `clock_timestamp() + $1 * interval '1 millisecond'`

/** One statement, so that no server can stop in its middle. It skips a lease whose term is just writing. */
const TAKE_LEASE = `WITH expired AS (
  SELECT name FROM leases WHERE name = $2 AND expires_at <= clock_timestamp() FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE leases SET term = $3, holder = $4, expires_at = ${EXPIRY}
  FROM expired WHERE leases.name = expired.name RETURNING leases.name
), made AS (
  INSERT INTO leases (name, term, holder, expires_at) VALUES ($2, $3, $4, ${EXPIRY})
  ON CONFLICT (name) DO NOTHING RETURNING name
)
SELECT name FROM taken UNION ALL SELECT name FROM made`

const RENEW_LEASE = `UPDATE leases SET expires_at = ${EXPIRY} WHERE name = $2 AND term = $3 RETURNING name`
const RELEASE_LEASE = 'DELETE FROM leases WHERE name = $1 AND term = $2'
const LIST_LEASES = `
  SELECT name, term, holder, round(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS expires_in_ms
  FROM leases ORDER BY name`

function createLeases(database: Database): Leases {
  return {
    async take(lease, holder, ttlMs) {
      const fence = { lease, term: randomUUID() }
      const taken = await database.query(TAKE_LEASE, [ttlMs, lease, fence.term, holder])
      return taken.length === 1 ? fence : undefined
    },
    async renew({ lease, term }, ttlMs) {
      return (await database.query(RENEW_LEASE, [ttlMs, lease, term])).length === 1
    },
    async release({ lease, term }) {
      await database.query(RELEASE_LEASE, [lease, term])
    },
    list: () => listLeases(database),
  }
}

export async function listLeases(database: Database): Promise<LeaseState[]> {
  return z.array(storedLease).parse(await database.query(LIST_LEASES))
}
