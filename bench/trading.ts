import { setTimeout as sleep } from 'node:timers/promises'
import type { OrderStatus } from '../src/protocol/api.js'
import type { Hex } from '../src/protocol/hex.js'
import type { SandboxAccount } from '../src/sandbox/accounts.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import { BLOCK_TIME } from '../src/sandbox/settings.js'
import type { BrokerControl, SeenRequest } from '../src/simulator/index.js'
import { type EscrowReader, startEscrowReader } from '../test/support/escrowReader.js'
import { getFrom, postFrom } from './support/clients.js'
import {
  type Crowd,
  createCrowd,
  MOST_OPEN,
  openAll,
  readStatuses,
  type UnpostedOrder,
} from './support/crowd.js'
import { type BenchContext, bar, type Cells, type Figure } from './support/figure.js'
import { quantile } from './support/load.js'
import { type Server, startWhole } from './support/platform.js'
import { type PlatformCpu, platformCpu } from './support/platformProcesses.js'

/** The JIT compiler wants a few runs; these are not counted. */
const WARM_UP = 20
const SMALL_BURST = 40
const ALONE = 30
const HOUR_MS = 3_600_000
/** The enclave sees an unscheduled close after a minute. */
const KNOWN_OPEN_MS = 61_000
/** Between two looks at whether all orders wait. */
const WAITS_MS = 5_000
/** The stream's rate as a share of the burst's, which the platform can carry steadily. */
const STREAM_SHARE = 0.8

/** Everything that trades. */
interface Trade {
  readonly sandbox: Sandbox
  readonly server: Server
  readonly reader: EscrowReader
  readonly crowd: Crowd
}

export const trading: Figure = {
  name: 'trading',
  title: 'A sealed buy, from POST to SETTLED',
  async prepare(context) {
    const { options } = context
    const trade = await prepareTrade(context, options.accounts)
    const all = trade.crowd.accounts.slice(WARM_UP)

    let perSecond = 0
    const rows = {
      burst: async () => {
        const cells = await watch(trade, all, atOnce)
        perSecond = STREAM_SHARE * (cells['settled/s'] ?? 0)
        return cells
      },
      stream: () => watch(trade, inTurn(all, perSecond * options.stream), evenlyFor(options.stream)),
      'small burst': () => watch(trade, all.slice(0, SMALL_BURST), atOnce),
      'one alone': () => watch(trade, all.slice(0, ALONE), oneByOne),
    }
    return {
      rows,
      bars: [],
      notes: [
        'CPU and broker requests are for each order; refusals (429 and 503) are of all orders, each a client of its own',
        `blocks of ${BLOCK_TIME} s; blocks: from the one that opens an escrow to the one that settles it, the median`,
      ],
      serialRounds: 1,
    }
  },
}

/** The broker's documented limit. */
const REQUESTS_PER_MINUTE = 200
const OPENING = 1_000
/** More would wait for the gas of their account. */
const ORDERS_EACH = 10
const ABOUT_SIX_MINUTES = 6.5

/** Orders that were written ahead while the market was closed, at its opening. */
export const opening: Figure = {
  name: 'opening',
  title: `${OPENING} orders that wait for the market, and ${REQUESTS_PER_MINUTE} broker requests a minute`,
  async prepare(context) {
    const trade = await prepareTrade(context, OPENING / ORDERS_EACH)
    const all = inTurn(trade.crowd.accounts.slice(WARM_UP), OPENING)
    const row = async () => {
      const cells = await watch(trade, all, openLater(trade))
      return { minutes: OPENING / (60 * (cells['settled/s'] ?? 0)), ...cells }
    }
    return {
      rows: { opening: row },
      bars: [bar('minutes', 'opening', { atMost: ABOUT_SIX_MINUTES })],
      notes: [
        'times from the opening on; CPU and broker requests are for each order, those of the wait before it included',
      ],
      serialRounds: 1,
    }
  },
}

async function prepareTrade(context: BenchContext, accounts: number): Promise<Trade> {
  const { sandbox, server } = await startWhole(context)
  const reader = await startEscrowReader(sandbox.provider, sandbox.info.contracts.orderEscrow)
  context.cleanUp.defer(reader.stop)
  const crowd = await createCrowd(sandbox, accounts + WARM_UP)
  const trade = { sandbox, server, reader, crowd }
  await watch(trade, crowd.accounts.slice(0, WARM_UP), atOnce)
  return trade
}

/** @returns when the orders could trade, where that was later than their posts, by the monotonic clock */
type Act = (
  orders: readonly UnpostedOrder[],
  postOne: (order: UnpostedOrder) => Promise<void>,
  reader: EscrowReader,
) => Promise<number | undefined>

/** Posts all while the market is closed, and opens it once each waits for that. */
const openLater =
  ({ sandbox: { broker }, server }: Trade): Act =>
  async (orders, postOne) => {
    broker.clock({ open: false, nextOpen: new Date(Date.now() + HOUR_MS).toISOString() })
    await sleep(KNOWN_OPEN_MS)
    await Promise.all(orders.map(postOne))
    const isWaiting = ({ triggers }: OrderStatus) => triggers.at(-1)?.waitsFor === 'market-closed'
    const get = (url: string, index: number) => getFrom(index, url)
    while (!(await readStatuses(server.url, orders, get)).every(isWaiting)) await sleep(WAITS_MS)
    broker.limit({ perMinute: REQUESTS_PER_MINUTE })
    broker.clock({ open: true })
    return performance.now()
  }

const atOnce: Act = async (orders, postOne) => void (await Promise.all(orders.map(postOne)))

const evenlyFor =
  (seconds: number): Act =>
  async (orders, postOne) => {
    const postLater = (order: UnpostedOrder, index: number) =>
      sleep((index * seconds * 1_000) / orders.length).then(() => postOne(order))
    return void (await Promise.all(orders.map(postLater)))
  }

/** Each on an idle platform, at times that are spread evenly over a block. */
const oneByOne: Act = async (orders, postOne, reader) => {
  for (const [index, order] of orders.entries()) {
    await sleep((index / orders.length) * BLOCK_TIME * 1_000)
    await postOne(order)
    await reader.untilEnded([order.orderId])
  }
  return undefined
}

/** These accounts in turn, as many as are wanted. */
function inTurn(accounts: readonly SandboxAccount[], count: number): SandboxAccount[] {
  const length = Math.min(Math.ceil(count), MOST_OPEN * accounts.length)
  return Array.from({ length }, (_, index) => accounts[index % accounts.length] ?? []).flat()
}

/** Often enough that the stand-in, whose log keeps the last requests, has forgotten none. */
const LOOK_MS = 500

/** Counts the requests of the enclave's account from now on. @returns stops the count, and tells it */
function countBrokerRequests(control: BrokerControl): () => number {
  let last: SeenRequest | undefined = control.requests().at(-1)
  let count = 0
  function look(): void {
    const all = control.requests()
    const from = last === undefined ? 0 : all.lastIndexOf(last) + 1
    if (last !== undefined && from === 0) throw new Error('the stand-in has forgotten requests')
    count += all.slice(from).filter(({ account }) => account === 'enclave').length
    last = all.at(-1)
  }
  const timer = setInterval(look, LOOK_MS)
  return () => {
    clearInterval(timer)
    look()
    return count
  }
}

/** Posts an order of each account, and measures them until all have settled. @throws when one ends otherwise */
async function watch(
  { sandbox, server, reader, crowd }: Trade,
  accounts: readonly SandboxAccount[],
  act: Act,
): Promise<Cells> {
  const orders = await crowd.seal(accounts)
  await openAll(sandbox, orders)
  while (orders.some(({ orderId }) => !reader.orders.has(orderId))) await sleep(1)
  const ids = orders.map(({ orderId }) => orderId)
  const postedAt = new Map<Hex, number>()
  let refusals = 0
  const before = await platformCpu(sandbox, server.pid)
  const brokerRequests = countBrokerRequests(sandbox.broker)
  const startedAt = performance.now()
  const postOne = async (order: UnpostedOrder) => {
    postedAt.set(order.orderId, performance.now())
    refusals += await postFrom(postedAt.size, server.url, order)
  }
  const openedAt = await act(orders, postOne, reader)
  await reader.untilEnded(ids)
  const after = await platformCpu(sandbox, server.pid)
  const asked = brokerRequests()
  const ends = ids.map((orderId) => {
    const seen = reader.orders.get(orderId)
    const [end] = seen?.ends ?? []
    if (seen === undefined || end?.state !== 'SETTLED') throw new Error(`${orderId} ended as ${end?.state}`)
    const waitedMs = end.atMs - (openedAt ?? postedAt.get(orderId) ?? startedAt)
    return { waitedMs, blocks: end.block - seen.openedIn, atMs: end.atMs }
  })
  const tookSeconds = (Math.max(...ends.map(({ atMs }) => atMs)) - (openedAt ?? startedAt)) / 1_000
  const waitedMs = ends.map((end) => end.waitedMs)
  const each = (part: keyof PlatformCpu) => (after[part] - before[part]) / ids.length
  return {
    'settled/s': ids.length / tookSeconds,
    'p50 s': quantile(waitedMs, 0.5) / 1_000,
    'p99 s': quantile(waitedMs, 0.99) / 1_000,
    blocks: quantile(
      ends.map(({ blocks }) => blocks),
      0.5,
    ),
    'CPU ms of server': each('server'),
    'CPU ms of enclave': each('enclave'),
    'CPU ms of node': each('node'),
    'broker requests': asked / ids.length,
    refusals,
  }
}
