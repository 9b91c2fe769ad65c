import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { Hex } from '../src/protocol/hex.js'
import { postOrderSchema } from '../src/protocol/postedOrder.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import type { Engine } from '../src/server/store/engine.js'
import { createOrderRecords, emptyOrderRecord, type OrderRecord } from '../src/server/store/orderRecords.js'
import { createDatabases, openPostgres } from '../src/server/store/postgres/postgresEngine.js'
import { createLogger } from '../src/service/logger.js'
import type { Secret } from '../src/service/secret.js'
import { eventually } from '../test/support/eventually.js'
import { metricsOf } from '../test/support/ops.js'
import { startPostgres } from '../test/support/postgres.js'
import { openQuickly } from '../test/support/quickStores.js'
import type { UnpostedOrder } from './support/crowd.js'
import {
  type Bar,
  BENCH_DIRECTORY,
  type BenchContext,
  type Cells,
  type Figure,
  ratio,
  type Turn,
} from './support/figure.js'
import { logEvents, openings, settlements } from './support/loggedPast.js'
import { newOrderIds, openOrders } from './support/orders.js'
import { makeDirectory, startPlatform, startServer } from './support/platform.js'

const OPEN = 50
/** More orders than end in the 38 days of events that a start reads. */
const MOST_ON_CHAIN = 100_000
const PER_BLOCK = 2_000
/** Starts of each; their medians count. */
const STARTS = 3
/** Narrator and relay have looked by then as well. */
const SETTLE_MS = 5_000
const COLLECT_MS = 1_000
const READY_WITHIN_MS = 120_000
/** Rows of one commit. */
const GROUP = 5_000
/** So far ahead that no run starts. */
const NEXT_RUN_MS = 24 * 3_600_000
/** A start with the most stored, by one with nothing. RSS differs by a tenth between two starts. */
const FLAT = 1.2
const JUDGED = ['listens ms', 'ready ms', 'RSS MiB', 'heap MiB']

export const idle: Figure = {
  name: 'idle',
  title: 'Starts, and idle servers',
  async prepare(context) {
    const { cleanUp, options } = context
    const { sandbox, server } = await startPlatform(context)
    await server.stop()
    const postgres = await startPostgres(BENCH_DIRECTORY)
    cleanUp.defer(postgres.remove)
    const open = await openOrders(sandbox, OPEN)
    const finished = newOrderIds(options.stored)

    /** Fills a store before the first start. */
    function startsOn(ids: readonly Hex[], newDatabase?: () => Promise<Secret>): Turn {
      let env: Record<string, string> = {}
      return async (round) => {
        if (round === 1) {
          const [DATA_DIR, url] = [await makeDirectory(context, 'idle'), await newDatabase?.()]
          const engine = await (url ? openPostgres(createDatabases(url)) : openQuickly(DATA_DIR))
          await storeOrders(engine, open, ids)
          await engine.stop()
          env = { DATA_DIR, ...(url && { DATABASE_URL: url.reveal() }) }
        }
        return measureStart(context, sandbox, env)
      }
    }

    const rows: Record<string, Turn> = {}
    const bars: Bar[] = []
    for (const [store, newDatabase] of [['SQLite'], ['PostgreSQL', postgres.createDatabase]] as const) {
      const [none, all] = [`${store}, none stored`, `${store}, ${finished.length} stored`]
      rows[none] = startsOn([], newDatabase)
      rows[all] = startsOn(finished, newDatabase)
      bars.push(...JUDGED.map((column) => ratio(column, all, none, { atMost: FLAT })))
    }
    const orderIds = finished.slice(0, MOST_ON_CHAIN)
    const startOnEvents = startsOn(orderIds)
    rows[`SQLite, ${orderIds.length} stored and in events`] = async (round) => {
      const { provider, info, accounts } = sandbox
      const from = accounts.owner.address
      const past = [openings(orderIds, [from]), settlements(orderIds, from)]
      for (const events of round === 1 ? past : []) {
        await logEvents(provider, { contract: info.contracts.orderEscrow, from }, events, {
          perBlock: PER_BLOCK,
        })
      }
      return startOnEvents(round)
    }
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

/** Stores the open orders as they are while they wait at the broker. The finished ones are copies of an open one's row. */
async function storeOrders(
  engine: Engine,
  open: readonly UnpostedOrder[],
  finished: readonly Hex[],
): Promise<void> {
  const records = createOrderRecords({ engine, logger: createLogger({ level: 'warn' }) })
  const nextTriggerAt = new Date(Date.now() + NEXT_RUN_MS).toISOString()
  for (const order of open) {
    await records.update(order.orderId, () => ({ ...recordOf(order), nextTriggerAt }))
  }
  const pattern = open[0]?.orderId ?? '0x'
  const row = await engine.get('orders', pattern)
  if (row === undefined) throw new Error('the store has lost a record')
  for (let at = 0; at < finished.length; at += GROUP) {
    const copies = finished.slice(at, at + GROUP).map((id) => {
      const doc = row.doc.replace(pattern, id)
      const copy = { ...row, version: 1, id, isOpen: false, doc }
      return engine.transact([{ kind: 'put', table: 'orders', row: copy }])
    })
    await Promise.all(copies)
  }
}

function recordOf({ body, commit }: UnpostedOrder): OrderRecord {
  const { orderId, ...envelope } = z.decode(postOrderSchema, JSON.parse(body))
  const now = new Date().toISOString()
  return {
    ...emptyOrderRecord(orderId),
    candidates: [{ envelope, commit, receivedAt: now }],
    escrowCommit: commit,
    triggers: [{ attempt: 1, reason: 'received', startedAt: now, finishedAt: now, outcome: 'placed' }],
  }
}

const MIB = 2 ** 20
/** Collects garbage on a signal. */
const COLLECTOR = `data:text/javascript,process.on('SIGUSR2', () => globalThis.gc())`

/** Starts a server in place of the sandbox's own, and looks at it while it idles. */
async function measureStart(
  context: BenchContext,
  { directory, info }: Sandbox,
  variables: Record<string, string>,
): Promise<Cells> {
  const startedAt = Date.now()
  const log = join(directory, 'server.log')
  await rm(log, { force: true })
  const nodeOptions = ['--expose-gc', '--import', COLLECTOR]
  const server = await startServer(context, { directory, url: info.url, variables, nodeOptions })
  const ready = await timeOf(log, 'open orders read')
  const listening = await timeOf(log, 'server started')
  await sleep(SETTLE_MS)
  process.kill(server.pid, 'SIGUSR2')
  await sleep(COLLECT_MS)
  const { find } = await metricsOf(info.opsUrl)
  await server.stop()
  return {
    'listens ms': listening - startedAt,
    'ready ms': ready - startedAt,
    'RSS MiB': (find('process_resident_memory_bytes') ?? Number.NaN) / MIB,
    'heap MiB': (find('nodejs_heap_size_used_bytes') ?? Number.NaN) / MIB,
  }
}

const lineSchema = z.object({ time: z.iso.datetime().transform((text) => Date.parse(text)) })

/** Unix milliseconds of the log's first line with that message, once it is there. */
function timeOf(log: string, message: string): Promise<number> {
  const look = async () => {
    const line = (await readFile(log, 'utf8')).split('\n').find((text) => text.includes(`"${message}"`))
    return line === undefined ? undefined : lineSchema.parse(JSON.parse(line)).time
  }
  return eventually(`"${message}" in ${log}`, look, READY_WITHIN_MS)
}
