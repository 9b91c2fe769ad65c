import { z } from 'zod'
import type { Secret } from '../../../service/secret.js'
import type { Engine, Row } from '../engine.js'
import { UndurableDatabaseError } from '../storageError.js'
import { createBatches } from './batches.js'
import { asking, createDatabase, type Database } from './database.js'
import { readDurability } from './durability.js'
import { createLeases } from './leases.js'
import { migrate } from './schema.js'
import { FORGET_LEASES } from './statements.js'

/** Statements of rows: a few connections that all parts share. */
const ROWS = { maxConnections: 10, connectTimeoutMs: 3_000, queryTimeoutMs: 5_000 }
const LEASE_TTL_MS = 10_000
/** Open rows that one statement reads: each statement has a time-out. */
const PAGE = 1_000

/** Both are the same database. */
export interface Databases {
  readonly rows: Database
  readonly leases: Database
}

export function createDatabases(url: Secret, leaseTtlMs = LEASE_TTL_MS): Databases {
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
 * @throws StorageError, UnknownSchemaError, UndurableDatabaseError
 */
export async function openPostgres(databases: Databases): Promise<Engine> {
  const { rows, leases } = databases
  try {
    const { fault } = await readDurability(rows)
    if (fault !== null) throw new UndurableDatabaseError(fault)
    await migrate(rows)
    // Not with the short time-outs of leases: a start may take as long as the database needs.
    await rows.query(FORGET_LEASES)
    return createPostgresEngine(databases)
  } catch (error) {
    await Promise.all([rows.end(), leases.end()])
    throw error
  }
}

const COLUMNS = 'id, version, is_open, unique_key, doc'
const idsSchema = z.array(z.object({ id: z.string() }))
const rowsSchema = z.array(
  z.object({
    id: z.string(),
    version: z.int(),
    is_open: z.boolean(),
    unique_key: z.string().nullable(),
    doc: z.string(),
  }),
)

function createPostgresEngine(databases: Databases): Engine {
  const { rows: database } = databases
  const leases = createLeases(databases.leases)
  const batches = {
    orders: createBatches(database, 'orders'),
    relays: createBatches(database, 'relays'),
    runs: createBatches(database, 'runs'),
    state: createBatches(database, 'state'),
    cancels: createBatches(database, 'cancels'),
  }

  async function rows(text: string, values: readonly unknown[]): Promise<Row[]> {
    return rowsSchema
      .parse(await asking(database.query(text, values)))
      .map(({ id, version, is_open, unique_key, doc }) => ({
        id,
        version,
        isOpen: is_open,
        uniqueKey: unique_key,
        doc,
      }))
  }

  return {
    isShared: true,
    leases,
    durability: () => readDurability(database),
    async get(table, id) {
      const [row] = await rows(`SELECT ${COLUMNS} FROM ${table} WHERE id = $1`, [id])
      return row
    },
    getMany: (table, ids) => rows(`SELECT ${COLUMNS} FROM ${table} WHERE id = ANY($1)`, [ids]),
    async open(table) {
      const found: Row[] = []
      for (;;) {
        const after = found.at(-1)?.id ?? ''
        const page = await rows(
          `SELECT ${COLUMNS} FROM ${table} WHERE is_open AND id > $1 ORDER BY id LIMIT ${PAGE}`,
          [after],
        )
        found.push(...page)
        if (page.length < PAGE) return found
      }
    },
    async openIds(table) {
      const statement = `SELECT id FROM ${table} WHERE is_open`
      return idsSchema.parse(await asking(database.query(statement))).map(({ id }) => id)
    },
    openWithKey: (table, prefix, limit) =>
      rows(
        `SELECT ${COLUMNS} FROM ${table} WHERE is_open AND unique_key >= $1 AND unique_key < $2 ORDER BY unique_key LIMIT $3`,
        [prefix, `${prefix}\x7f`, limit],
      ),
    put: (table, row, fence) => batches[table].write({ ...row, fence }),
    delete: (table, id, version, fence) =>
      batches[table].write({ id, version, isOpen: false, uniqueKey: null, doc: null, fence }),
    async stop() {
      await Promise.all(Object.values(batches).map((batch) => batch.idle()))
      await Promise.all([database.end(), databases.leases.end()])
    },
  }
}
