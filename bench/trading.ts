import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toQuantity } from 'ethers'
import { z } from 'zod'
import type { Hex } from '../src/protocol/hex.js'
import type { SandboxAccount } from '../src/sandbox/accounts.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import { BLOCK_TIME } from '../src/sandbox/settings.js'
import { startBrokerTally } from '../test/support/brokerTally.js'
import {
  type Crowd,
  createCrowd,
  MOST_OPEN,
  openAll,
  post,
  type UnpostedOrder,
} from '../test/support/crowd.js'
import type { EscrowReader } from '../test/support/escrowReader.js'
import { enclavePids, platformCpu, residentEnclave } from '../test/support/platformProcesses.js'
import { withTradingSandbox } from '../test/support/tradingSandbox.js'
import type { BenchContext, Figure, Result, Row } from './support/figure.js'
import { BENCH_DIRECTORY, replaceServer } from './support/platform.js'
import { sendFloor, signFloor } from './support/presigned.js'
import type { ServerProcess } from './support/processes.js'
import { quantile } from './support/statistics.js'

/** Orders that were posted together, or one after the other. */
interface TradingRow extends Row {
  /** From the first post until the block that settled the last was seen. */
  readonly tookMs: number
  readonly perSecond: number
}

/** Everything that a burst needs. */
interface Bench {
  readonly sandbox: Sandbox
  readonly server: ServerProcess
  readonly reader: EscrowReader
  readonly crowd: Crowd
  /** Each has had one order, before the clock started. */
  readonly warmedUp: readonly SandboxAccount[]
  readonly print: (line: string) => void
}

/** The JIT compiler wants a few runs; these are not counted. */
const WARM_UP = 20
const SMALL_BURST = 40
const ALONE = 30
/** The stream's rate as a share of the burst's, which the platform can carry steadily. */
const STREAM_SHARE = 0.8
const PER_MINUTE = 200
const MINUTE_MS = 60_000
const MS_PER_SECOND = 1_000
const BROKER_PROBE = { requests: 400, atOnce: 16 }
const receiptsSchema = z.array(
  z.object({ from: z.string().toLowerCase(), gasUsed: z.string().transform(Number) }),
)

export const trading: Figure = {
  name: 'trading',
  title: 'A sealed buy, from POST to SETTLED',
  async measure(context) {
    const { accounts, inFlight } = context.trading
    const platform = {
      directory: join(BENCH_DIRECTORY, `sandbox-${Date.now()}`),
      serverSettings: { RELAY_MAX_IN_FLIGHT: String(inFlight) },
      // As it is without a sandbox: this market neither opens nor closes.
      enclaveSettings: { BROKER_CLOCK_MAX_AGE: '1m' },
    }
    try {
      return await withTradingSandbox(platform, async (sandbox, reader) => {
        const server = await replaceServer(sandbox, context.nodeOptions)
        try {
          const { accounts: all, seal } = await createCrowd(sandbox, accounts + WARM_UP)
          const [crowd, warmedUp] = [{ accounts: all.slice(0, accounts), seal }, all.slice(accounts)]
          return await measure({ sandbox, server, reader, crowd, warmedUp, print: context.print }, context)
        } finally {
          await server.stop()
        }
      })
    } finally {
      await rm(platform.directory, { recursive: true, force: true })
    }
  },
}

async function measure(bench: Bench, { trading: options }: BenchContext): Promise<Result> {
  const { sandbox, crowd, warmedUp } = bench
  const { inFlight, limitedMinutes, streamSeconds } = options
  const everyone = crowd.accounts
  const few = everyone.slice(0, SMALL_BURST)
  await measureBurst(bench, 'warm-up', warmedUp)
  const burst = await measureBurst(bench, `burst of ${everyone.length}`, everyone)
  const rows = [
    burst,
    await measureStream(bench, STREAM_SHARE * burst.perSecond, streamSeconds),
    await measureBurst(bench, `burst of ${few.length}`, few),
    await measureAlone(bench),
  ]
  const killed = await measureKill(bench)
  const floor = [
    await measureFloor(bench, `floor, ${inFlight} in flight`, inFlight),
    await measureFloor(bench, 'floor, no limit', Number.POSITIVE_INFINITY),
  ]
  const brokerPerSecond = await probeBroker(sandbox)
  const limited = limitedMinutes > 0 ? await measureLimited(bench, limitedMinutes) : []
  const notes = [
    'server, enclave, node: ms of CPU for each order; broker: requests; tx: transactions',
    `blocks of ${BLOCK_TIME} s; at most ${inFlight} authorizations under way in the relay (RELAY_MAX_IN_FLIGHT)`,
    'the escrows are open before the clock starts; all posts at once; settled as a block shows it to one reader',
    `the stream: ${STREAM_SHARE} of the burst's rate, evenly, for ${streamSeconds} s; alone: posted at any time of a block`,
    'floor: a write-ahead and a settlement for each order, signed beforehand and sent straight to the node',
    `the stand-in alone: ${brokerPerSecond.toFixed(0)} requests/s`,
    killed,
    ...limited,
  ]
  return { rows: [...rows, ...floor].map(({ what, cells }) => ({ what, cells })), bars: [], notes }
}

/** One order for each of the accounts, posted at once. */
async function measureBurst(
  bench: Bench,
  what: string,
  accounts: readonly SandboxAccount[],
  options: Watching = {},
): Promise<TradingRow> {
  const orders = await open(bench, accounts)
  return watch(bench, what, orders, (postOne) => Promise.all(orders.map(postOne)), options)
}

async function measureStream(bench: Bench, perSecond: number, streamSeconds: number): Promise<TradingRow> {
  const { accounts } = bench.crowd
  const count = Math.min(Math.ceil(perSecond * streamSeconds), MOST_OPEN * accounts.length)
  const turns = Array.from({ length: count }, (_, index) => accounts[index % accounts.length])
  const orders = await open(
    bench,
    turns.filter((account) => account !== undefined),
  )
  const pauseMs = (streamSeconds * MS_PER_SECOND) / count
  const what = `stream of ${(count / streamSeconds).toFixed(1)} a second`
  const row = await watch(bench, what, orders, async (postOne) => {
    const startedAt = performance.now()
    const posts = orders.map(async (order, index) => {
      await sleep(Math.max(0, startedAt + index * pauseMs - performance.now()))
      await postOne(order)
    })
    await Promise.all(posts)
  })
  return withCells(row, { blocks: null })
}

/** One after the other, each on an idle platform; at times that are spread evenly over a block. */
async function measureAlone(bench: Bench): Promise<TradingRow> {
  const orders = await open(bench, bench.crowd.accounts.slice(0, ALONE))
  const row = await watch(bench, 'one alone', orders, async (postOne) => {
    for (const [index, order] of orders.entries()) {
      await sleep((index / orders.length) * BLOCK_TIME * MS_PER_SECOND)
      await postOne(order)
      await bench.reader.untilEnded([order.orderId])
    }
  })
  return withCells(row, { blocks: null })
}

/** Compares a burst with one in which the enclave that stays up is killed when half of it has settled. */
async function measureKill(bench: Bench): Promise<string> {
  const { sandbox, crowd, print } = bench
  const what = 'enclave killed in the middle of a burst, added until all are settled'
  if ((await residentEnclave(sandbox)) === undefined) return `${what}: not measured, no enclave stays up`
  const { tookMs: undisturbedMs } = await measureBurst(bench, 'burst, undisturbed', crowd.accounts)
  let killed = false
  const { tookMs } = await measureBurst(bench, 'burst, enclave killed', crowd.accounts, {
    onBlock(ended) {
      if (killed || ended < crowd.accounts.length / 2) return
      killed = true
      void killEnclave(sandbox, () =>
        print(`  killed when ${ended} of ${crowd.accounts.length} were settled`),
      )
    },
  })
  return `${what}: ${((tookMs - undisturbedMs) / MS_PER_SECOND).toFixed(2)} s`
}

async function killEnclave(sandbox: Sandbox, tell: () => void): Promise<void> {
  for (const pid of await enclavePids(sandbox)) process.kill(pid, 'SIGKILL')
  tell()
}

async function measureFloor(bench: Bench, what: string, inFlight: number): Promise<TradingRow> {
  const { sandbox, crowd, warmedUp, reader } = bench
  const [like] = warmedUp
  if (like === undefined) throw new Error('there are no accounts')
  // Each account's first two writes are signed: they must be new.
  const { accounts, seal } = await createCrowd(sandbox, crowd.accounts.length, { published: false })
  const orders = await open({ ...bench, crowd: { accounts, seal } }, accounts)
  const sender = sandbox.accounts.brokerFunding
  const ready = await signFloor(sandbox, sender, orders, like.address)
  const send = () => sendFloor(sandbox, sender, ready, inFlight, reader)
  const row = await watch(bench, what, orders, send, { payer: sender.address })
  return withCells(row, { blocks: null, broker: null })
}

/** Posts orders for the whole time at its start, with the broker's documented limit enforced. Orders still waiting at its end are left. */
async function measureLimited(bench: Bench, minutes: number): Promise<string[]> {
  const { sandbox, crowd, server, reader, print } = bench
  const rounds = Math.min(MOST_OPEN, Math.ceil(((minutes + 1) * PER_MINUTE) / crowd.accounts.length))
  const orders = await open(bench, Array.from({ length: rounds }, () => crowd.accounts).flat())
  print(`  ${orders.length} orders, ${PER_MINUTE} broker requests a minute`)
  sandbox.broker.limit({ perMinute: PER_MINUTE })
  const tally = startBrokerTally(sandbox.broker)
  const startedAt = performance.now()
  await Promise.all(orders.map((order) => post(server.url, order)))
  await sleep(Math.max(0, startedAt + minutes * MINUTE_MS - performance.now()))
  tally.stop()
  const settled = Array.from({ length: minutes }, () => 0)
  for (const { orderId } of orders) {
    const [end] = reader.orders.get(orderId)?.ends ?? []
    if (end?.state !== 'SETTLED') continue
    const minute = Math.floor((end.atMs - startedAt) / MINUTE_MS)
    if (minute < minutes) settled[minute] = (settled[minute] ?? 0) + 1
  }
  const refused = tally.requests.filter(({ outcome }) => outcome === 429).length
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  // The first minute begins with a full budget.
  const mean = sum(settled.slice(1)) / (minutes - 1)
  const each = tally.requests.length / sum(settled)
  return [
    `${PER_MINUTE} broker requests a minute enforced: ${settled.join(', ')} settled by minute, ${mean.toFixed(0)} from the second on`,
    `  ${each.toFixed(2)} requests each, ${refused} of ${tally.requests.length} refused (429); floor: one request for each order`,
  ]
}

function withCells(row: TradingRow, cells: Row['cells']): TradingRow {
  return { ...row, cells: { ...row.cells, ...cells } }
}

/** Buys of these accounts, with open escrows that the reader has seen. */
async function open(
  { sandbox, crowd, reader }: Bench,
  accounts: readonly SandboxAccount[],
): Promise<UnpostedOrder[]> {
  const orders = await crowd.seal(accounts)
  await openAll(sandbox, orders)
  while (orders.some(({ orderId }) => !reader.orders.has(orderId))) await sleep(1)
  return orders
}

interface Watching {
  readonly payer?: Hex
  readonly onBlock?: (ended: number) => void
}

/** Has orders posted and measures them until all have settled. @throws when one ends otherwise */
async function watch(
  { sandbox, server, reader, print }: Bench,
  what: string,
  orders: readonly UnpostedOrder[],
  act: (postOne: (order: UnpostedOrder) => Promise<void>) => Promise<unknown>,
  { payer = sandbox.accounts.relayer.address, onBlock = () => {} }: Watching = {},
): Promise<TradingRow> {
  const ids = orders.map(({ orderId }) => orderId)
  const postedAt = new Map<Hex, number>()
  const before = await platformCpu(sandbox, server.pid)
  const tally = startBrokerTally(sandbox.broker)
  const [startedAt, firstBlock] = [performance.now(), reader.head() + 1]
  const acting = act(async (order) => {
    postedAt.set(order.orderId, performance.now())
    await post(server.url, order)
  })
  await Promise.all([acting, reader.untilEnded(ids, { onBlock })])
  const after = await platformCpu(sandbox, server.pid)
  tally.stop()
  const ends = orders.map(({ orderId }) => {
    const seen = reader.orders.get(orderId)
    const [end] = seen?.ends ?? []
    if (seen === undefined || end?.state !== 'SETTLED') throw new Error(`${orderId} ended as ${end?.state}`)
    const waitedMs = end.atMs - (postedAt.get(orderId) ?? startedAt)
    return { waitedMs, blocks: end.block - seen.openedIn, atMs: end.atMs }
  })
  const waits = ends.map(({ waitedMs }) => waitedMs).sort((a, b) => a - b)
  const tookMs = Math.max(...ends.map(({ atMs }) => atMs)) - startedAt
  const count = orders.length
  const perSecond = (count * MS_PER_SECOND) / tookMs
  const paid = await paidBy(sandbox, payer, firstBlock, reader.head())
  const blocks = ends.map((end) => end.blocks).sort((a, b) => a - b)
  const cells = {
    orders: count,
    'settled/s': perSecond,
    'p50 s': quantile(waits, 0.5) / MS_PER_SECOND,
    'p99 s': quantile(waits, 0.99) / MS_PER_SECOND,
    // From the block that opened an order to the one that settled it.
    blocks: quantile(blocks, 0.5),
    server: (after.server - before.server) / count,
    enclave: (after.enclave - before.enclave) / count,
    node: (after.node - before.node) / count,
    broker: tally.requests.length / count,
    gas: paid.gas / count,
    tx: paid.transactions / count,
  }
  print(`  ${what}: ${count} settled in ${(tookMs / MS_PER_SECOND).toFixed(1)} s`)
  return { what, cells, tookMs, perSecond }
}

/** Gas and transactions of an account in these blocks. */
async function paidBy({ provider }: Sandbox, payer: Hex, from: number, to: number) {
  let [gas, transactions] = [0, 0]
  for (let block = from; block <= to; block++) {
    const receipts = receiptsSchema.parse(await provider.send('eth_getBlockReceipts', [toQuantity(block)]))
    const own = receipts.filter((receipt) => receipt.from === payer.toLowerCase())
    gas += own.reduce((sum, { gasUsed }) => sum + gasUsed, 0)
    transactions += own.length
  }
  return { gas, transactions }
}

/** How fast the stand-in answers, in this very process. */
async function probeBroker({ info, secrets }: Sandbox): Promise<number> {
  const { keyId, secretKey } = secrets.serverBroker
  const headers = { 'apca-api-key-id': keyId, 'apca-api-secret-key': secretKey }
  let left = BROKER_PROBE.requests
  const startedAt = performance.now()
  const worker = async () => {
    while (left-- > 0) await (await fetch(`${info.brokerUrl}/v2/clock`, { headers })).text()
  }
  await Promise.all(Array.from({ length: BROKER_PROBE.atOnce }, worker))
  return (BROKER_PROBE.requests * MS_PER_SECOND) / (performance.now() - startedAt)
}
