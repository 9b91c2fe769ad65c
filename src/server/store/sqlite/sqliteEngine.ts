import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import {
  createGroups,
  type Engine,
  endOfKeys,
  type Row,
  StorageError,
  storageError,
  storedLease,
  storedRow,
  storedSum,
  type Table,
  type WriteResult,
} from '../engine.js'
import { createStatements, openReadOnly, prepareDatabase, sqliteFailure } from './database.js'
import type { Write } from './writer.js'
import type { GroupAnswer } from './writerThread.js'

/** Commits groups of writes, one group at a time. Rejects with StorageError when nothing of a group was written. */
export interface GroupWriter {
  commit(group: readonly Write[]): Promise<readonly WriteResult[]>
  close(): Promise<void>
}

/** Full medium, or a database another program holds: the next write tries again. Any other failure breaks the engine. */
const REFUSALS = new Set<string | undefined>(['SQLITE_FULL', 'SQLITE_BUSY'])

/**
 * Writes in a thread of its own, so that the event loop never waits for the medium.
 * @throws StorageError, UnusableDatabaseError
 */
export async function startSqlite(options: {
  /** Locked by this process alone. */
  readonly directory: string
  /** Called once, when no later write can be trusted: the process has to end. Every write is refused from then on. */
  readonly onBroken: (error: StorageError) => void
}): Promise<Engine> {
  const { directory } = options
  try {
    prepareDatabase(directory)
    return createSqliteEngine(options, await startWriterThread(directory))
  } catch (error) {
    throw error instanceof Error && 'errcode' in error ? sqliteFailure(error) : error
  }
}

async function startWriterThread(directory: string): Promise<GroupWriter> {
  const thread = new Worker(new URL('./writerThread.js', import.meta.url), { workerData: { directory } })
  const writer: GroupWriter = {
    async commit(group) {
      thread.postMessage(group)
      // A failure of the thread itself rejects here.
      const [answer]: GroupAnswer[] = await once(thread, 'message')
      if (answer === undefined || 'failure' in answer) throw storageError(answer?.failure ?? 'UNKNOWN')
      return answer.results
    },
    async close() {
      const closed = once(thread, 'exit')
      thread.postMessage(null)
      await closed
    },
  }
  await writer.commit([])
  return writer
}

/** Rows that are kept in memory, none of them with a longer document than this many characters. */
const KEPT_ROWS = 10_000
const KEPT_LENGTH = 8_192

const idSchema = z.object({ id: z.string() }).transform(({ id }) => id)

/** Exported for tests, which let the writer fail. */
export function createSqliteEngine(
  { directory, onBroken }: Parameters<typeof startSqlite>[0],
  writer: GroupWriter,
): Engine {
  const database = openReadOnly(directory)
  const select = createSelect(database)
  /** Rows as they were last read. Every write passes here, because no other process has the directory. */
  const kept = new LRUCache<string, Row>({ max: KEPT_ROWS })
  let broken: StorageError | undefined

  /** A read between a write and its answer may find either version. So a row is forgotten at both. No row is kept before its first. */
  function forget(write: Write): void {
    for (const change of write.kind === 'change' ? write.changes : []) {
      if (change.kind === 'delete') kept.delete(keyOf(change.table, change.id))
      if (change.kind === 'put' && change.row.version > 1) kept.delete(keyOf(change.table, change.row.id))
    }
  }

  const find = (table: Table, id: string) => select(storedRow, `* FROM ${table} WHERE id = ?`, id)[0]

  function get(table: Table, id: string): Row | undefined {
    const key = keyOf(table, id)
    const known = kept.get(key)
    if (known !== undefined) return known
    const row = find(table, id)
    if (row !== undefined && row.doc.length <= KEPT_LENGTH) kept.set(key, row)
    return row
  }

  const groups = createGroups(async (group: readonly Write[]) => {
    if (broken !== undefined) throw broken
    try {
      return await writer.commit(group)
    } catch (error) {
      const failure = error instanceof StorageError ? error : new StorageError(error)
      if (REFUSALS.has(failure.code)) throw failure
      broken = failure
      onBroken(failure)
      throw failure
    }
  }, Number.POSITIVE_INFINITY)

  async function enqueue(write: Write): Promise<WriteResult> {
    if (broken !== undefined) throw broken
    forget(write)
    return groups.write(write).finally(() => forget(write))
  }

  return {
    isShared: false,
    get: async (table, id) => get(table, id),
    forget: (table, id) => void kept.delete(keyOf(table, id)),
    getMany: async (table, ids) => ids.flatMap((id) => find(table, id) ?? []),
    open: async (table) => select(storedRow, `* FROM ${table} WHERE is_open = 1`),
    openIds: async (table) => select(idSchema, `id FROM ${table} WHERE is_open = 1`),
    openWithKey: async (table, prefix, limit) =>
      select(
        storedRow,
        `* FROM ${table} WHERE is_open = 1 AND unique_key >= ? AND unique_key < ? ORDER BY unique_key LIMIT ?`,
        ...[prefix, endOfKeys(prefix), limit],
      ),
    closed: async (table, after, limit) =>
      select(storedRow, `* FROM ${table} WHERE is_open = 0 AND id > ? ORDER BY id LIMIT ?`, after, limit),
    transact: (changes, fence) => enqueue({ kind: 'change', changes, fence }),
    sums: async (ids) => ids.flatMap((id) => select(storedSum, SUM, id)),
    leases: {
      async take(lease, holder, ttlMs) {
        const fence = { lease, term: randomUUID() }
        const result = await enqueue({ kind: 'take', fence, holder, ttlMs })
        return result === 'written' ? fence : undefined
      },
      renew: async (fence, ttlMs) => (await enqueue({ kind: 'renew', fence, ttlMs })) === 'written',
      async release(fence) {
        await enqueue({ kind: 'release', fence })
      },
      list: async () => select(storedLease, LEASES, Date.now()),
    },
    async stop() {
      await groups.idle()
      broken ??= storageError('CLOSED')
      // The writer's is the last connection: it puts SQLite's log into the database.
      database.close()
      await writer.close()
    },
  }
}

const SUM = 'id, day, CAST(used AS TEXT) AS used, CAST(kept AS TEXT) AS kept FROM sums WHERE id = ?'
const LEASES = 'name, term, holder, expires_at - ? AS expires_in_ms FROM leases ORDER BY name'

const keyOf = (table: Table, id: string) => `${table}/${id}`

/**
 * Selects rows by a schema of their columns. SQLite's own reads last microseconds here: the pages are in memory, or in the system's.
 * The function throws StorageError.
 */
function createSelect(database: DatabaseSync) {
  const prepared = createStatements(database)
  return <T>(schema: z.ZodType<T>, columns: string, ...values: (string | number)[]): T[] => {
    try {
      const rows = prepared(`SELECT ${columns}`).all(...values)
      return rows.map((row) => schema.parse(row))
    } catch (error) {
      throw sqliteFailure(error)
    }
  }
}
