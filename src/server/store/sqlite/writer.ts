import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Addition, Change, Fence, Table, TransactionResult, WriteResult } from '../engine.js'
import { openDatabase } from './database.js'

export type Write =
  | { readonly kind: 'change'; readonly changes: readonly Change[]; readonly fence: Fence | undefined }
  | { readonly kind: 'take'; readonly fence: Fence; readonly holder: string; readonly ttlMs: number }
  | { readonly kind: 'renew'; readonly fence: Fence; readonly ttlMs: number }
  | { readonly kind: 'release'; readonly fence: Fence }

/** The one connection that writes. Its calls block until the medium has answered. */
interface Writer {
  /** One transaction: all of it is durable when it returns, and none of it is there when it throws SQLite's error. */
  commit(writes: readonly Write[]): TransactionResult[]
  close(): void
}

const SQLITE_CONSTRAINT_UNIQUE = 2_067

/** @throws SQLite's error */
export function openWriter(directory: string): Writer {
  const database = openDatabase(directory)
  try {
    return createWriter(database)
  } catch (error) {
    database.close()
    throw error
  }
}

/** @param database where COMMIT is durable: see `openDatabase` */
export function createWriter(database: DatabaseSync): Writer {
  const tables = new Map<Table, TableStatements>()
  const begin = database.prepare('BEGIN IMMEDIATE')
  const end = database.prepare('COMMIT')
  const findTerm = database.prepare('SELECT 1 FROM leases WHERE name = ? AND term = ?')
  const takeLease = database.prepare(
    `INSERT INTO leases (name, term, holder, expires_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET term = excluded.term, holder = excluded.holder, expires_at = excluded.expires_at
    WHERE leases.expires_at <= ?`,
  )
  const renewLease = database.prepare('UPDATE leases SET expires_at = ? WHERE name = ? AND term = ?')
  const releaseLease = database.prepare('DELETE FROM leases WHERE name = ? AND term = ?')
  const makeSum = database.prepare('INSERT OR IGNORE INTO sums (id, day, used, kept) VALUES (?, 0, 0, 0)')
  const addToSum = database.prepare(ADD)
  const savepoint = database.prepare('SAVEPOINT changes')
  const rollback = database.prepare('ROLLBACK TO changes')
  const release = database.prepare('RELEASE changes')

  function statementsOf(table: Table): TableStatements {
    const known = tables.get(table) ?? prepare(database, table)
    tables.set(table, known)
    return known
  }

  function add({ id, day, used, kept, limit, exempt }: Addition): TransactionResult {
    makeSum.run(id)
    const limits = { limit: limit ?? null, exempt: exempt ?? null }
    const isAdded = Number(addToSum.run({ id, day, used, kept, ...limits }).changes) === 1
    return isAdded ? 'written' : 'beyond'
  }

  function change(each: Change): TransactionResult {
    if (each.kind === 'add') return add(each)
    const { insert, update, remove } = statementsOf(each.table)
    if (each.kind === 'delete') return changeOne(remove, each.id, each.version)
    const { id, version, isOpen, uniqueKey, doc } = each.row
    if (version === 1) return changeOne(insert, id, isOpen ? 1 : 0, uniqueKey, doc)
    return changeOne(update, version, isOpen ? 1 : 0, uniqueKey, doc, id, version - 1)
  }

  function changeAll(changes: readonly Change[]): TransactionResult {
    savepoint.run()
    for (const each of changes) {
      const result = change(each)
      if (result === 'written') continue
      rollback.run()
      release.run()
      return result
    }
    release.run()
    return 'written'
  }

  function apply(write: Write): TransactionResult {
    if (write.kind === 'take') {
      const { fence, holder, ttlMs } = write
      const now = Date.now()
      return changeOne(takeLease, fence.lease, fence.term, holder, now + ttlMs, now)
    }
    if (write.kind === 'renew')
      return changeOne(renewLease, Date.now() + write.ttlMs, write.fence.lease, write.fence.term)
    if (write.kind === 'release') return changeOne(releaseLease, write.fence.lease, write.fence.term)
    const { fence, changes } = write
    if (fence !== undefined && findTerm.get(fence.lease, fence.term) === undefined) return 'lost-term'
    const [only, ...more] = changes
    return only !== undefined && more.length === 0 ? change(only) : changeAll(changes)
  }

  return {
    commit(writes) {
      begin.run()
      try {
        const results = writes.map(apply)
        end.run()
        return results
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK')
        throw error
      }
    },
    close: () => database.close(),
  }
}

const SUM_OF_DAY = 'CASE WHEN day IN (:day, :day + 1) THEN used ELSE 0 END'
/** A day that another server's clock has begun already goes on. */
const ADD = `UPDATE sums SET
  used = ${SUM_OF_DAY} + :used,
  kept = max(0, kept + :kept),
  day = CASE WHEN day = :day + 1 THEN day ELSE :day END
WHERE id = :id AND (
  :limit IS NULL OR ${SUM_OF_DAY} + kept <= :exempt OR ${SUM_OF_DAY} + :used + max(0, kept + :kept) <= :limit
)`

interface TableStatements {
  readonly insert: StatementSync
  readonly update: StatementSync
  readonly remove: StatementSync
}

function prepare(database: DatabaseSync, table: Table): TableStatements {
  return {
    insert: database.prepare(
      `INSERT INTO ${table} (id, version, is_open, unique_key, doc) VALUES (?, 1, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    ),
    update: database.prepare(
      `UPDATE ${table} SET version = ?, is_open = ?, unique_key = ?, doc = ? WHERE id = ? AND version = ?`,
    ),
    remove: database.prepare(`DELETE FROM ${table} WHERE id = ? AND version = ?`),
  }
}

function changeOne(statement: StatementSync, ...values: (string | number | null)[]): WriteResult {
  try {
    return Number(statement.run(...values).changes) === 1 ? 'written' : 'conflict'
  } catch (error) {
    // SQLite takes back the statement alone.
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_CONSTRAINT_UNIQUE)
      return 'taken'
    throw error
  }
}
