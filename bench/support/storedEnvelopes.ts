import { z } from 'zod'
import { postOrderSchema } from '../../src/protocol/api.js'
import type { Hex } from '../../src/protocol/hex.js'
import type { Engine } from '../../src/server/store/engine.js'
import {
  createOrderRecords,
  emptyOrderRecord,
  type OrderRecord,
} from '../../src/server/store/orderRecords.js'
import { openSqlite } from '../../src/server/store/sqlite/sqliteEngine.js'
import { createLogger } from '../../src/service/logger.js'
import type { UnpostedOrder } from './openOrders.js'

/** Rows of one commit. */
const GROUP = 5_000
/** Far ahead, so that nothing runs meanwhile. */
const NEXT_RUN_MS = 24 * 3_600_000

/**
 * Fills a data directory: the open orders as they are while they wait at the broker, and so many finished ones, in the
 * server's own store.
 *
 * @param finished their ids; the first one is written by the store, and the others as it wrote that one
 */
export async function storeEnvelopes(
  root: string,
  open: readonly UnpostedOrder[],
  finished: readonly Hex[],
): Promise<void> {
  const engine = openSqlite({ directory: root, onBroken: fail })
  const records = createOrderRecords({ engine, logger: createLogger({ level: 'warn' }) })
  for (const order of open) {
    const nextTriggerAt = new Date(Date.now() + NEXT_RUN_MS).toISOString()
    await records.update(order.orderId, () => ({ ...recordOf(order, 'placed'), nextTriggerAt }))
  }
  const [pattern, ...others] = finished
  const [example] = open
  if (pattern !== undefined && example !== undefined) {
    await records.update(pattern, () => ({ ...recordOf(example, 'settled'), orderId: pattern }))
    await records.finish(pattern)
    await copyRow(engine, pattern, others)
  }
  await engine.stop()
}

async function copyRow(engine: Engine, pattern: Hex, others: readonly Hex[]): Promise<void> {
  const row = await engine.get('orders', pattern)
  if (row === undefined) throw new Error('the store has lost a record')
  for (let at = 0; at < others.length; at += GROUP) {
    const group = others.slice(at, at + GROUP)
    await Promise.all(
      group.map((id) => engine.put('orders', { ...row, version: 1, id, doc: row.doc.replace(pattern, id) })),
    )
  }
}

function fail(error: Error): never {
  throw error
}

function recordOf({ body, commit }: UnpostedOrder, outcome: 'placed' | 'settled'): OrderRecord {
  const { orderId, ...envelope } = z.decode(postOrderSchema, JSON.parse(body))
  const now = new Date().toISOString()
  return {
    ...emptyOrderRecord(orderId),
    candidates: [{ envelope, commit, receivedAt: now }],
    escrowCommit: commit,
    triggers: [{ attempt: 1, reason: 'received', startedAt: now, finishedAt: now, outcome }],
  }
}
