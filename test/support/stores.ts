import { onTestFinished } from 'vitest'
import {
  type Change,
  type Engine,
  type Fence,
  type Row,
  storageError,
  type Table,
} from '../../src/server/store/engine.js'
import { createServeLease, type ServeLease } from '../../src/server/store/leaseHolder.js'
import type { Logger } from '../../src/service/logger.js'
import { openQuickly } from './quickStores.js'

/** The server's own. */
const LEASE_TTL_MS = 10_000
/** Longer than any test. */
const LONG_MS = 3_600_000

/** The stores of a data directory, until the test ends. */
export async function openStores(root: string): Promise<{ readonly engine: Engine }> {
  const engine = await openQuickly(root)
  onTestFinished(() => engine.stop())
  return { engine }
}

/** Writes one row, in a transaction of its own. */
export function putRow(engine: Pick<Engine, 'transact'>, table: Table, row: Row, fence?: Fence) {
  return engine.transact([{ kind: 'put', table, row }], fence)
}

/** Deletes one row in the same way. */
export function deleteRow(engine: Engine, table: Table, id: string, version: number, fence?: Fence) {
  return engine.transact([{ kind: 'delete', table, id, version }], fence)
}

/** Takes a lease from any holder, as another server does once it has expired. */
export async function takeOver({ leases }: Engine, lease: string): Promise<Fence> {
  const held = (await leases.list()).find((each) => each.lease === lease)
  if (held !== undefined) await leases.release(held)
  const fence = await leases.take(lease, 'another server of the test', LONG_MS)
  if (fence === undefined) throw new Error('another server was faster')
  return fence
}

/** Leases as the server takes them. */
export function serveLeaseOf(engine: Engine, logger: Logger): ServeLease {
  return createServeLease({ engine, holder: 'the test', ttlMs: LEASE_TTL_MS, logger })
}

/** The same engine, which refuses to write some rows. */
export function createRefusingEngine(engine: Engine, isRefused: (table: Table, row: Row) => boolean): Engine {
  return {
    ...engine,
    async transact(changes, fence) {
      const isRefusedHere = (each: Change) => each.kind === 'put' && isRefused(each.table, each.row)
      if (changes.some(isRefusedHere)) throw storageError('SQLITE_FULL')
      return engine.transact(changes, fence)
    },
  }
}

/**
 * The same engine, whose next reads or writes are refused, as by a full disk, before anything happens. Of further writes the
 * answers are lost: they happen, and fail.
 */
export function createFailingEngine(engine: Engine) {
  const left = { writes: 0, reads: 0, answers: 0 }
  function refuse(what: keyof typeof left): void {
    if (left[what] === 0) return
    left[what]--
    throw storageError('SQLITE_FULL')
  }
  const failing: Engine = {
    ...engine,
    async get(...args) {
      refuse('reads')
      return engine.get(...args)
    },
    async open(...args) {
      refuse('reads')
      return engine.open(...args)
    },
    async openIds(...args) {
      refuse('reads')
      return engine.openIds(...args)
    },
    async transact(...args) {
      refuse('writes')
      const result = await engine.transact(...args)
      if (result === 'written') refuse('answers')
      return result
    },
  }
  return { engine: failing, left }
}

/**
 * The same engine, of which some writes give no answer in time: they are rejected, and happen later, as where PostgreSQL waits for a
 * standby with their commits. No read finds them before.
 */
export function createLateEngine(engine: Engine) {
  const late: (() => Promise<unknown>)[] = []
  let left = 0
  const delayed: Engine = {
    ...engine,
    async transact(...args) {
      if (left === 0) return engine.transact(...args)
      left--
      late.push(() => engine.transact(...args))
      throw storageError('ETIMEDOUT')
    },
  }
  return {
    engine: delayed,
    /** The next write gives no answer. */
    delay() {
      left++
    },
    /** The delayed writes happen, in their order. */
    async land() {
      for (const action of late.splice(0)) await action()
    },
  }
}

/** As an earlier server has left it. */
export async function storeState(root: string, id: string, value: unknown): Promise<void> {
  const { engine } = await openStores(root)
  const doc = JSON.stringify(value)
  await putRow(engine, 'state', { id, version: 1, isOpen: true, uniqueKey: null, doc })
}
