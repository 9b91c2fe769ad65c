import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { postOrderSchema } from '../../src/protocol/api.js'
import type { Hex } from '../../src/protocol/hex.js'
import { createAtomicFiles } from '../../src/server/store/atomicFiles.js'
import {
  createOrderRecords,
  emptyOrderRecord,
  type OrderRecord,
} from '../../src/server/store/orderRecords.js'
import { createLogger } from '../../src/service/logger.js'
import type { UnpostedOrder } from './openOrders.js'

const PRIVATE = { directory: 0o700, file: 0o600 }
/** Far ahead, so that nothing runs meanwhile. */
const NEXT_RUN_MS = 24 * 3_600_000

/**
 * Fills a data directory: the open orders as they are while they wait at the broker, and so many finished ones, in the
 * files of the server's own store.
 *
 * @param finished their ids; the first one is written by the store, and the others as it wrote that one
 */
export async function storeEnvelopes(
  root: string,
  open: readonly UnpostedOrder[],
  finished: readonly Hex[],
): Promise<void> {
  const records = createOrderRecords({
    files: createAtomicFiles({ root }),
    logger: createLogger({ level: 'warn' }),
  })
  for (const order of open) {
    const nextTriggerAt = new Date(Date.now() + NEXT_RUN_MS).toISOString()
    await records.update(order.orderId, () => ({ ...recordOf(order, 'placed'), nextTriggerAt }))
  }
  const [pattern, ...others] = finished
  const [example] = open
  if (pattern === undefined || example === undefined) return
  await records.update(pattern, () => ({ ...recordOf(example, 'settled'), orderId: pattern }))
  await records.finish(pattern)
  const text = await readFile(pathOf(root, pattern), 'utf8')
  for (let shard = 0; shard < 256; shard++) {
    mkdirSync(join(root, directoryOf(shard.toString(16).padStart(2, '0'))), {
      recursive: true,
      mode: PRIVATE.directory,
    })
  }
  for (const orderId of others) {
    writeFileSync(pathOf(root, orderId), text.replace(pattern, orderId), { mode: PRIVATE.file })
  }
}

function directoryOf(shard: string): string {
  return `envelopes/done/${shard}`
}

function pathOf(root: string, orderId: Hex): string {
  return join(root, directoryOf(orderId.slice(2, 4)), `${orderId}.json`)
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
