// A day of a firm: what its employees order, what goes wrong meanwhile, and how it ended.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Client,
  ClientError,
  isSignedOrder,
  type OrderTerms,
  type SealedOrder,
  ServerError,
  TradingError,
} from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { inBatches } from '../../src/service/waiting.js'
import type { SeenRequest } from '../../src/simulator/index.js'
import { createRandom, type Random } from '../faults/random.js'
import type { World } from '../faults/world.js'
import { startEscrowReader } from '../support/escrowReader.js'
import type { Employee } from './firm.js'

const SYMBOLS = ['AAPL', 'AMZN', 'MSFT', 'NVDA', 'TSLA'] as const
const ACCOUNT = 'enclave'
const HOURS = 6 * 3_600
/** A fill takes as long as at a real broker, and one in twenty comes in two parts. */
const [LEAST_FILL_MS, MOST_FILL_MS, PARTIAL_SHARE] = [50, 2_000, 0.05]
const PARTS_MS = 1_000
const WATCH_MS = 500
/** Employees who look at what they hold, in the same moment. */
const READ_AT_ONCE = 200
/** Orders on their way to the servers at once, of all these clients in one process; the others wait behind them. */
const PLACING_AT_ONCE = 100
/** A page that was refused posts again after a few seconds. */
const RETRY_MS = 3_000

interface Placed {
  readonly orderId: Hex
  /** Of `performance.now()`: when its employee pressed the button. */
  readonly from: number
}

/** Statuses of a server that takes the same order later. */
const LATER = new Set([429, 502, 503, 504])

/** Has employees order within a minute, and follows their orders to the end. */
export async function createDay({ sandbox, notes }: World, seed: number) {
  const { broker, provider, info } = sandbox
  const random = createRandom(seed)
  const reader = await startEscrowReader(provider, info.contracts.orderEscrow)
  const releasing = setInterval(() => broker.release({ account: ACCOUNT }), PARTS_MS)
  const refusals: string[] = []

  /** As the page does: a signed order is posted again until it is open, and a new one is signed once that signature opens nothing. */
  async function place({ account, client }: Employee, request: OrderTerms, from: number): Promise<Placed> {
    await sleep(from - performance.now())
    for (;;) {
      const signed: SealedOrder[] = []
      const deadline = Math.floor(Date.now() / 1_000) + HOURS
      const beforeOpen = (sealed: SealedOrder) => {
        signed.push(sealed)
        return notes.nameAccount(sealed.orderId, account.address)
      }
      try {
        const { order } = await client.placeOrder({ ...request, deadline }, { sponsored: true, beforeOpen })
        return { orderId: order.orderId, from }
      } catch (error) {
        const sealed = signed.at(-1)
        note(error, sealed !== undefined)
        if (sealed === undefined) await sleep(RETRY_MS)
        else if (await comesToBeOpen(client, sealed)) return { orderId: sealed.orderId, from }
      }
    }
  }

  async function comesToBeOpen(client: Client, order: SealedOrder): Promise<boolean> {
    if (!isSignedOrder(order)) return false
    for (;;) {
      await sleep(RETRY_MS)
      try {
        const state = await client.getOpeningState(order)
        if (state !== 'usable') return state === 'open'
        await client.submitOrder(order)
      } catch (error) {
        note(error)
      }
    }
  }

  /** No call that may have opened an order is `retryable`. */
  function note(error: unknown, isSigned = false): void {
    const isLater = error instanceof ServerError ? LATER.has(error.status) : error instanceof ClientError
    if (!(error instanceof TradingError) || !(error.retryable || (isSigned && isLater))) throw error
    refusals.push(error.code)
  }

  return {
    random,
    /** What employees were told before their order was taken, by code. */
    refusals: refusals as readonly string[],
    /** Everybody orders once within so long. */
    async round(
      employees: readonly Employee[],
      requestOf: (employee: Employee, random: Random) => Promise<OrderTerms>,
      withinMs: number,
    ) {
      const wishes = await inBatches(employees, READ_AT_ONCE, async (employee) => ({
        employee,
        afterMs: random.integer(0, withinMs),
        request: await requestOf(employee, random),
      }))
      wishes.sort((one, other) => one.afterMs - other.afterMs)
      for (let number = 0; number < 2 * wishes.length; number++) fillOnce()
      const watching = watchBroker()
      const startedAt = performance.now()
      const placed: Placed[] = []
      async function placeInTurn(): Promise<void> {
        for (let wish = wishes.shift(); wish !== undefined; wish = wishes.shift()) {
          placed.push(await place(wish.employee, wish.request, startedAt + wish.afterMs))
        }
      }
      await Promise.all(Array.from({ length: PLACING_AT_ONCE }, placeInTurn))
      await reader.untilEnded(placed.map(({ orderId }) => orderId))
      broker.clear({ what: 'fills' })
      return { ...figuresOf(placed, startedAt), ...watching(placed.length) }
    },
    async stop() {
      clearInterval(releasing)
      await reader.stop()
    },
  }

  function fillOnce(): void {
    const isPartial = random.chance(PARTIAL_SHARE)
    const delayMs = random.integer(LEAST_FILL_MS, MOST_FILL_MS)
    const how = isPartial
      ? ({ mode: 'partial', fraction: '0.4' } as const)
      : ({ mode: 'delay', delayMs } as const)
    broker.fill({ account: ACCOUNT, times: 1, ...how })
  }

  function figuresOf(placed: readonly Placed[], startedAt: number) {
    const ends = placed.map(({ orderId, from }) => {
      const [end] = reader.orders.get(orderId)?.ends ?? []
      return { state: end?.state, seconds: ((end?.atMs ?? from) - from) / 1_000, atMs: end?.atMs ?? 0 }
    })
    const waited = ends.map(({ seconds }) => seconds).sort((one, other) => one - other)
    const at = (share: number) => waited[Math.min(waited.length - 1, Math.floor(share * waited.length))] ?? 0
    const lastMinutes = (Math.max(...ends.map(({ atMs }) => atMs)) - startedAt) / 60_000
    return {
      orders: placed.length,
      settled: ends.filter(({ state }) => state === 'SETTLED').length,
      refunded: ends.filter(({ state }) => state === 'REFUNDED').length,
      perMinute: placed.length / lastMinutes,
      p50Seconds: at(0.5),
      p99Seconds: at(0.99),
    }
  }

  /**
   * Counts the enclave's requests from now on. @returns stops the count, and tells the requests of each order, those by method and path, and
   * the placements that the broker refused for an opposite order that was open
   */
  function watchBroker() {
    let last = broker.requests().at(-1)
    const seen: SeenRequest[] = []
    const look = () => {
      const all = broker.requests()
      const from = last === undefined ? 0 : all.lastIndexOf(last) + 1
      seen.push(...all.slice(from).filter(({ account }) => account === ACCOUNT))
      last = all.at(-1)
    }
    const timer = setInterval(look, WATCH_MS)
    return (orders: number) => {
      clearInterval(timer)
      look()
      const refused = seen.filter(({ method, outcome }) => method === 'POST' && outcome === 403)
      const byRoute = countOf(seen.map(routeOf))
      return { brokerRequests: seen.length / orders, byRoute, refusedPlacements: refused.length }
    }
  }
}

/** Method and path, without what the path names. */
function routeOf({ method, url }: SeenRequest): string {
  const [path = ''] = url.split('?')
  return `${method} ${path.replace(/(?<=^\/v2\/(?:orders|assets)\/).+/, '…')}`
}

export function countOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** A buy of some symbol: the broker account has cash for ten thousand of them, and as many again in the afternoon. */
export async function someBuy(_: Employee, random: Random): Promise<OrderTerms> {
  return { side: 'BUY', symbol: random.pick(SYMBOLS), usdc: BigInt(random.integer(20, 80)) * ONE_USDC }
}

/** A sale of a part of what the employee holds, or a buy. */
export async function buyOrSale(employee: Employee, random: Random): Promise<OrderTerms> {
  const opened = random.chance(0.5) ? await employee.client.getPortfolio() : null
  const [symbol] = Object.keys(opened?.portfolio.positions ?? {})
  if (symbol === undefined) return someBuy(employee, random)
  return { side: 'SELL', symbol, usdc: BigInt(random.integer(10, 18)) * ONE_USDC }
}
