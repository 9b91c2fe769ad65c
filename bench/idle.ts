import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { postOrderSchema } from '../src/protocol/api.js'
import { bytesToHex, type Hex } from '../src/protocol/hex.js'
import { startPostgres } from '../src/sandbox/postgres.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import type { Engine } from '../src/server/store/engine.js'
import { createOrderRecords, emptyOrderRecord, type OrderRecord } from '../src/server/store/orderRecords.js'
import { createDatabases, openPostgres } from '../src/server/store/postgres/postgresEngine.js'
import { openSqlite } from '../src/server/store/sqlite/sqliteEngine.js'
import { createLogger } from '../src/service/logger.js'
import { emitOrders } from './support/emittedOrders.js'
import type { Bar, BenchContext, Figure, Row } from './support/figure.js'
import { openOrders, type UnpostedOrder } from './support/openOrders.js'
import { BENCH_DIRECTORY, replaceServer, startBenchSandbox } from './support/platform.js'
import { MEMORY_OPTIONS, type Memory, memoryOf } from './support/processes.js'
import { spreadOf } from './support/statistics.js'

/** A start with so much stored, and the idle server that it leaves. */
export interface IdleRow extends Memory {
  readonly store: 'SQLite' | 'PostgreSQL'
  readonly stored: number
  /** The stored orders in the events of the last 38 days, which a start reads. */
  readonly onChain: number
  /** From the start of the process until it answers. */
  readonly listeningMs: number
  /** From the start of the process until it knows every open order. */
  readonly readyMs: number
}

const OPEN = 50
/** Fewer orders than these end in 38 days: the older ones are on no page that a start reads. */
const MOST_ON_CHAIN = 100_000
const PER_BLOCK = 2_000
const ID_BYTES = 32
/** Starts of each; their medians count. */
const STARTS = 3
/** Narrator and relay have looked by then as well. */
const SETTLE_MS = 5_000
const READY_WITHIN_MS = 120_000
const POLL_MS = 50
/** Rows of one commit. */
const GROUP = 5_000
/** So far ahead that no run starts. */
const NEXT_RUN_MS = 24 * 3_600_000
/** Blocks in one query of events. Nodes give about ten thousand events at once. */
const SETTINGS = { RPC_LOG_RANGE: '4' }

/** The bar of a start with 100,000 envelopes. */
const READY_MS = 5_000
const READY_STORED = 100_000
/** A start with the most stored, by one with the least. */
const FLAT = 1.2
/**
 * The memory that a start with the most stored leaves in use, by one with the least. 1.25 of a heap of some 26 MiB is less
 * than 7 bytes for each of a million envelopes: not even a pointer. RSS is twice as lax: it differs by a tenth between two
 * starts. It also keeps pages that the listing of a million names needed for a moment.
 * Knowledge of the last 38 days' orders is not judged: it comes from the chain, whatever is stored.
 */
const MEMORY = { rssMiB: 1.5, heapMiB: 1.25 }

export const idle: Figure = {
  name: 'idle',
  title: 'Starts, and idle servers',
  async measure(context) {
    const sandbox = await startBenchSandbox()
    try {
      await sandbox.server().stop()
      const rows = await measure(sandbox, context)
      const ofStore = (store: IdleRow['store']) => rows.filter((row) => row.store === store)
      return {
        rows: rows.map(tableRow),
        bars: [ofStore('SQLite'), ofStore('PostgreSQL')].flatMap((own) => [
          ...startBars(own),
          ...flatBars(own),
        ]),
        notes: [
          `${OPEN} orders open in each; the others finished, as the store writes them; medians of ${STARTS} starts`,
          'ready: every open order is known; memory after a garbage collection, seconds later',
        ],
        rounds: rows,
      }
    } finally {
      await sandbox.stop()
      await rm(sandbox.directory, { recursive: true })
    }
  },
}

/** @param rows of one store */
export function startBars(rows: readonly IdleRow[]): Bar[] {
  const judged = rows.filter(({ stored }) => stored <= READY_STORED)
  const longest = Math.max(...judged.map(({ readyMs }) => readyMs))
  return [
    {
      what: `${storeOf(rows)}, ready, ms, with up to ${READY_STORED}`,
      value: spreadOf([longest]),
      atMost: READY_MS,
    },
    { what: `${storeOf(rows)}, RSS near flat`, value: growth(rows, 'rssMiB'), atMost: MEMORY.rssMiB },
    { what: `${storeOf(rows)}, heap near flat`, value: growth(rows, 'heapMiB'), atMost: MEMORY.heapMiB },
  ]
}

function flatBars(rows: readonly IdleRow[]): Bar[] {
  return [
    {
      what: `${storeOf(rows)}, listens, most stored ÷ least`,
      value: growth(rows, 'listeningMs'),
      atMost: FLAT,
    },
    { what: `${storeOf(rows)}, ready, most stored ÷ least`, value: growth(rows, 'readyMs'), atMost: FLAT },
  ]
}

function storeOf([row]: readonly IdleRow[]): string {
  return row?.store ?? 'no store'
}

/** Null where there is one number of stored orders. */
function growth(rows: readonly IdleRow[], of: 'rssMiB' | 'heapMiB' | 'listeningMs' | 'readyMs') {
  const offChain = rows.filter(({ onChain }) => onChain === 0).sort((a, b) => a.stored - b.stored)
  const [least, most] = [offChain.at(0), offChain.at(-1)]
  if (least === undefined || most === undefined || least.stored === most.stored) return null
  return spreadOf([most[of] / least[of]])
}

function tableRow({ store, stored, onChain, listeningMs, readyMs, rssMiB, heapMiB }: IdleRow): Row {
  const cells = {
    stored,
    'on chain': onChain,
    'listens ms': listeningMs,
    'ready ms': readyMs,
    'RSS MiB': rssMiB,
    'heap MiB': heapMiB,
  }
  return { what: store, cells }
}

/** Both stores with nothing stored and with each number; at the end, SQLite with orders in the events of the chain, too. */
async function measure(sandbox: Sandbox, { stored, print, nodeOptions }: BenchContext): Promise<IdleRow[]> {
  const open = await openOrders(sandbox, OPEN)
  const finished = Array.from({ length: Math.max(...stored) }, () => bytesToHex(randomBytes(ID_BYTES)))
  const rows: IdleRow[] = []
  const look = async (store: IdleRow['store'], count: number, onChain: number) => {
    print(`  ${STARTS} starts with ${count} stored in ${store}, ${onChain} of them on the chain`)
    const starts = await withStored(store, open, finished.slice(0, count), async (env) => {
      const found: Start[] = []
      while (found.length < STARTS) found.push(await measureStart(sandbox, env, nodeOptions))
      return found
    })
    const median = (of: (start: Start) => number) => spreadOf(starts.map(of)).median
    rows.push({
      ...{ store, stored: count, onChain },
      listeningMs: median(({ listeningMs }) => listeningMs),
      readyMs: median(({ readyMs }) => readyMs),
      rssMiB: median(({ rssMiB }) => rssMiB),
      heapMiB: median(({ heapMiB }) => heapMiB),
    })
  }
  for (const store of ['SQLite', 'PostgreSQL'] as const) {
    for (const count of [0, ...stored]) await look(store, count, 0)
  }
  const onChain = Math.min(MOST_ON_CHAIN, Math.min(...stored))
  const { provider, info, accounts } = sandbox
  const emission = {
    ...{ escrow: info.contracts.orderEscrow, from: accounts.owner.address },
    ...{ orderIds: finished.slice(0, onChain), perBlock: PER_BLOCK },
    mine: () => provider.send('evm_mine', []),
  }
  await emitOrders(provider, { ...emission, name: 'OrderOpened' })
  await emitOrders(provider, { ...emission, name: 'OrderSettled' })
  await look('SQLite', Math.min(...stored), onChain)
  return rows
}

/** A store with these orders, for as long as servers start on it. */
async function withStored<T>(
  store: IdleRow['store'],
  open: readonly UnpostedOrder[],
  finished: readonly Hex[],
  look: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const directory = join(BENCH_DIRECTORY, `idle-${Date.now()}`)
  const database = store === 'PostgreSQL' ? await startPostgres(BENCH_DIRECTORY) : undefined
  try {
    const url = await database?.createDatabase()
    const engine =
      url === undefined ? openSqlite({ directory, onBroken: fail }) : await openPostgres(createDatabases(url))
    await storeOrders(engine, open, finished)
    await engine.stop()
    return await look({ DATA_DIR: directory, ...(url !== undefined && { DATABASE_URL: url.reveal() }) })
  } finally {
    await database?.remove()
    await rm(directory, { recursive: true, force: true })
  }
}

function fail(error: Error): never {
  throw error
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

type Start = Omit<IdleRow, 'store' | 'stored' | 'onChain'>

/** Starts the compiled server in the place of the sandbox's own, and looks at it while it idles. */
async function measureStart(
  sandbox: Sandbox,
  env: Record<string, string>,
  nodeOptions: readonly string[],
): Promise<Start> {
  const startedAt = Date.now()
  const { child, stop } = await replaceServer(sandbox, [...nodeOptions, ...MEMORY_OPTIONS], {
    ...env,
    ...SETTINGS,
  })
  try {
    const log = join(sandbox.directory, 'measured.log')
    const readyMs = (await timeOf(log, 'open orders read')) - startedAt
    const listeningMs = (await timeOf(log, 'listening')) - startedAt
    await sleep(SETTLE_MS)
    return { listeningMs, readyMs, ...(await memoryOf(child)) }
  } finally {
    await stop()
  }
}

const lineSchema = z.object({ time: z.iso.datetime().transform((text) => Date.parse(text)), msg: z.string() })

/** Unix milliseconds of the log's first line with that message, once it is there. */
async function timeOf(log: string, message: string): Promise<number> {
  for (const giveUpAt = Date.now() + READY_WITHIN_MS; Date.now() < giveUpAt; await sleep(POLL_MS)) {
    const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes(`"${message}"`))
    const [first] = lines.map((line) => lineSchema.parse(JSON.parse(line)))
    if (first !== undefined) return first.time
  }
  throw new Error(`the server does not log "${message}": see measured.log`)
}
