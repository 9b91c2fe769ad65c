import type { DatabaseSync } from 'node:sqlite'
import type { Addition, Change, Fence, WriteResult } from '../engine.js'
import { createStatements } from './database.js'

export type Write =
  | { readonly kind: 'change'; readonly changes: readonly Change[]; readonly fence: Fence | undefined }
  | { readonly kind: 'take'; readonly fence: Fence; readonly holder: string; readonly ttlMs: number }
  | { readonly kind: 'renew'; readonly fence: Fence; readonly ttlMs: number }
  | { readonly kind: 'release'; readonly fence: Fence }

const SQLITE_CONSTRAINT_UNIQUE = 2_067

/**
 * The one connection that writes. Its calls block until the medium has answered.
 * @param database where COMMIT is durable: see `openDatabase`
 */
export function createWriter(database: DatabaseSync) {
  const prepared = createStatements(database)

  function changeOne(text: string, ...values: (string | number | null)[]): WriteResult {
    try {
      return Number(prepared(text).run(...values).changes) === 1 ? 'written' : 'conflict'
    } catch (error) {
      // SQLite rolls back the statement alone.
      if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_CONSTRAINT_UNIQUE)
        return 'duplicate'
      throw error
    }
  }

  function add({ id, day, used, kept, limit, exempt }: Addition): WriteResult {
    prepared('INSERT OR IGNORE INTO sums (id, day, used, kept) VALUES (?, 0, 0, 0)').run(id)
    const limits = { limit: limit ?? null, exempt: exempt ?? null }
    const { changes } = prepared(ADD).run({ id, day, used, kept, ...limits })
    return Number(changes) === 1 ? 'written' : 'beyond'
  }

  function change(each: Change): WriteResult {
    if (each.kind === 'add') return add(each)
    const { table } = each
    if (each.kind === 'delete')
      return changeOne(`DELETE FROM ${table} WHERE id = ? AND version = ?`, each.id, each.version)
    const { id, version, isOpen, uniqueKey, doc } = each.row
    const text =
      version === 1
        ? `INSERT INTO ${table} (version, is_open, unique_key, doc, id) VALUES (1 + ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
        : `UPDATE ${table} SET version = 1 + ?1, is_open = ?2, unique_key = ?3, doc = ?4 WHERE id = ?5 AND version = ?1`
    return changeOne(text, version - 1, isOpen ? 1 : 0, uniqueKey, doc, id)
  }

  function changeAll(changes: readonly Change[]): WriteResult {
    database.exec('SAVEPOINT changes')
    let result: WriteResult = 'written'
    for (const each of changes) {
      result = change(each)
      if (result !== 'written') break
    }
    if (result !== 'written') database.exec('ROLLBACK TO changes')
    database.exec('RELEASE changes')
    return result
  }

  function apply(write: Write): WriteResult {
    if (write.kind === 'take') {
      const { fence, holder, ttlMs } = write
      const now = Date.now()
      return changeOne(TAKE_LEASE, fence.lease, fence.term, holder, now + ttlMs, now)
    }
    const { kind, fence } = write
    if (kind === 'renew') {
      const expiresAt = Date.now() + write.ttlMs
      return changeOne(`UPDATE leases SET expires_at = ? ${OF_TERM}`, expiresAt, fence.lease, fence.term)
    }
    if (kind === 'release') return changeOne(`DELETE FROM leases ${OF_TERM}`, fence.lease, fence.term)
    const findTerm = prepared(`SELECT 1 FROM leases ${OF_TERM}`)
    if (fence !== undefined && findTerm.get(fence.lease, fence.term) === undefined) return 'lost-term'
    const [only, ...more] = write.changes
    return only !== undefined && more.length === 0 ? change(only) : changeAll(write.changes)
  }

  return {
    /** One transaction: all of it is durable when it returns, and none of it is there when it throws SQLite's error. */
    commit(writes: readonly Write[]): WriteResult[] {
      database.exec('BEGIN IMMEDIATE')
      try {
        const results = writes.map(apply)
        database.exec('COMMIT')
        return results
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK')
        throw error
      }
    },
    close: () => database.close(),
  }
}

const OF_TERM = 'WHERE name = ? AND term = ?'
const TAKE_LEASE = `INSERT INTO leases (name, term, holder, expires_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET term = excluded.term, holder = excluded.holder, expires_at = excluded.expires_at
  WHERE leases.expires_at <= ?`

const SUM_OF_DAY = 'CASE WHEN day IN (:day, :day + 1) THEN used ELSE 0 END'
/** A day that another server's clock has begun already goes on. */
const ADD = `UPDATE sums SET
  used = ${SUM_OF_DAY} + :used,
  kept = max(0, kept + :kept),
  day = CASE WHEN day = :day + 1 THEN day ELSE :day END
WHERE id = :id AND (
  :limit IS NULL OR ${SUM_OF_DAY} + kept <= :exempt OR ${SUM_OF_DAY} + :used + max(0, kept + :kept) <= :limit
)`
