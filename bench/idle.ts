import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { postOrderSchema } from '../src/protocol/api.js'
import type { Hex } from '../src/protocol/hex.js'
import { startPostgres } from '../src/sandbox/postgres.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import { startServerProcess } from '../src/sandbox/serverProcess.js'
import type { Engine } from '../src/server/store/engine.js'
import { createOrderRecords, emptyOrderRecord, type OrderRecord } from '../src/server/store/orderRecords.js'
import { createDatabases, openPostgres } from '../src/server/store/postgres/postgresEngine.js'
import { createLogger } from '../src/service/logger.js'
import type { Secret } from '../src/service/secret.js'
import type { UnpostedOrder } from '../test/support/crowd.js'
import { eventually } from '../test/support/eventually.js'
import { openQuickly } from '../test/support/quickStores.js'
import { emitOrders, newOrderIds } from './support/emittedOrders.js'
import { type Bar, BENCH_DIRECTORY, type Cells, type Figure, ratio, type Turn } from './support/figure.js'
import { openOrders } from './support/openOrders.js'
import { makeDirectory, startPlatform } from './support/platform.js'

const OPEN = 50
/** Fewer orders than these end in 38 days: the older ones are on no page that a start reads. */
const MOST_ON_CHAIN = 100_000
const PER_BLOCK = 2_000
/** Starts of each; their medians count. */
const STARTS = 3
/** Narrator and relay have looked by then as well. */
const SETTLE_MS = 5_000
const READY_WITHIN_MS = 120_000
/** Rows of one commit. */
const GROUP = 5_000
/** So far ahead that no run starts. */
const NEXT_RUN_MS = 24 * 3_600_000
/** Blocks in one query of events. Nodes give about ten thousand events at once. */
const SETTINGS = { RPC_LOG_RANGE: '4' }
/** A start with the most stored, by one with nothing. RSS differs by a tenth between two starts. */
const FLAT = 1.2
const JUDGED = ['listens ms', 'ready ms', 'RSS MiB', 'heap MiB']

export const idle: Figure = {
  name: 'idle',
  title: 'Starts, and idle servers',
  async prepare(context) {
    const { cleanUp, nodeOptions, options } = context
    const { sandbox, server } = await startPlatform(context)
    await server.stop()
    const database = await startPostgres(BENCH_DIRECTORY)
    cleanUp.add(database.remove)
    const open = await openOrders(sandbox, OPEN)
    const finished = newOrderIds(options.stored)
    const onChain = finished.slice(0, MOST_ON_CHAIN)

    async function fill(url: Secret | undefined, ids: readonly Hex[]): Promise<Record<string, string>> {
      const directory = await makeDirectory(context, 'idle')
      const engine = await (url ? openPostgres(createDatabases(url)) : openQuickly(directory))
      await storeOrders(engine, open, ids)
      await engine.stop()
      return { ...SETTINGS, DATA_DIR: directory, ...(url && { DATABASE_URL: url.reveal() }) }
    }
    /** Fills a store at the first start. */
    function startsOn(filling: () => Promise<Record<string, string>>): Turn {
      let env: Promise<Record<string, string>> | undefined
      return async () => {
        env ??= filling()
        return measureStart(sandbox, await env, nodeOptions)
      }
    }

    const rows: Record<string, Turn> = {}
    const bars: Bar[] = []
    const stores = { SQLite: async () => undefined, PostgreSQL: () => database.createDatabase() }
    for (const [store, place] of Object.entries(stores)) {
      const [none, all] = [`${store}, none stored`, `${store}, ${finished.length} stored`]
      rows[none] = startsOn(async () => fill(await place(), []))
      rows[all] = startsOn(async () => fill(await place(), finished))
      bars.push(...JUDGED.map((column) => ratio(column, all, none, { atMost: FLAT })))
    }
    const { provider, info, accounts } = sandbox
    const emission = { escrow: info.contracts.orderEscrow, from: accounts.owner.address, perBlock: PER_BLOCK }
    rows[`SQLite, ${onChain.length} stored and in events`] = startsOn(async () => {
      await emitOrders(provider, { ...emission, method: 'open', orderIds: onChain })
      await emitOrders(provider, { ...emission, method: 'settle', orderIds: onChain })
      return fill(undefined, onChain)
    })
    return {
      rows,
      bars,
      notes: [
        `${OPEN} more orders are open in each; ready: all of these are known`,
        'in events: of the last 38 days, which a start reads',
      ],
      serialRounds: STARTS,
    }
  },
}

/**
 * The open orders as they are while they wait at the broker, and the finished ones: the first is written by the server's own
 * code, and the others are copies of its row.
 */
async function storeOrders(
  engine: Engine,
  open: readonly UnpostedOrder[],
  [pattern, ...others]: readonly Hex[],
): Promise<void> {
  const records = createOrderRecords({ engine, logger: createLogger({ level: 'warn' }) })
  for (const order of open) {
    const nextTriggerAt = new Date(Date.now() + NEXT_RUN_MS).toISOString()
    await records.update(order.orderId, () => ({ ...recordOf(order, 'placed'), nextTriggerAt }))
  }
  const [example] = open
  if (pattern === undefined || example === undefined) return
  await records.update(pattern, () => ({ ...recordOf(example, 'settled'), orderId: pattern }))
  await records.finish(pattern)
  const row = await engine.get('orders', pattern)
  if (row === undefined) throw new Error('the store has lost a record')
  for (let at = 0; at < others.length; at += GROUP) {
    const copies = others.slice(at, at + GROUP).map((id) => ({ ...row, version: 1, id }))
    await Promise.all(
      copies.map((copy) => engine.put('orders', { ...copy, doc: row.doc.replace(pattern, copy.id) })),
    )
  }
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

/** Starts a server in the place of the sandbox's own, and looks at it while it idles. */
async function measureStart(
  sandbox: Sandbox,
  env: Record<string, string>,
  nodeOptions: readonly string[],
): Promise<Cells> {
  const { directory, info } = sandbox
  const startedAt = Date.now()
  const [log, memory] = [`${startedAt}.log`, join(directory, `${startedAt}.json`)]
  const server = await startServerProcess({
    ...{ directory, log, url: info.url },
    variables: { ...env, MEMORY_FILE: memory },
    nodeOptions: [...nodeOptions, '--expose-gc', '--import', REPORTER],
  })
  try {
    const ready = await timeOf(join(directory, log), 'open orders read')
    const listening = await timeOf(join(directory, log), 'listening')
    await sleep(SETTLE_MS)
    process.kill(server.pid, 'SIGUSR2')
    const text = await eventually('the memory', () => readFile(memory, 'utf8').catch(() => undefined))
    const { rss, heapUsed } = memorySchema.parse(JSON.parse(text))
    return {
      'listens ms': listening - startedAt,
      'ready ms': ready - startedAt,
      'RSS MiB': rss / MIB,
      'heap MiB': heapUsed / MIB,
    }
  } finally {
    await server.stop()
  }
}

const MIB = 2 ** 20
const memorySchema = z.object({ heapUsed: z.number(), rss: z.number() })
/** Reports the memory of the process that loads it after a garbage collection. The file appears whole. */
const REPORTER = `data:text/javascript,${encodeURIComponent(`
import { renameSync, writeFileSync } from 'node:fs'
process.on('SIGUSR2', () => {
  globalThis.gc()
  writeFileSync(process.env.MEMORY_FILE + '.new', JSON.stringify(process.memoryUsage()))
  renameSync(process.env.MEMORY_FILE + '.new', process.env.MEMORY_FILE)
})`)}`

const lineSchema = z.object({ time: z.iso.datetime().transform((text) => Date.parse(text)) })

/** Unix milliseconds of the log's first line with that message, once it is there. */
function timeOf(log: string, message: string): Promise<number> {
  const look = async () => {
    const line = (await readFile(log, 'utf8')).split('\n').find((text) => text.includes(`"${message}"`))
    return line === undefined ? undefined : lineSchema.parse(JSON.parse(line)).time
  }
  return eventually(`"${message}" in ${log}`, look, READY_WITHIN_MS)
}
