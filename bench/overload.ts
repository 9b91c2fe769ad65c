import type { Figure, Row } from './support/figure.js'
import { type LoadPlan, type LoadRequest, type LoadResult, startGenerator } from './support/load.js'
import { openOrders, postAll, postRequest } from './support/openOrders.js'
import { type Platform, startPlatform } from './support/platform.js'
import { untilQuiet } from './support/processes.js'
import { spreadOf } from './support/statistics.js'

const ORDERS = 6
/** In times of the server's capacity. */
const LOADS = [1, 2, 5]
/** Later answers are of no use. */
const USEFUL_MS = 1_000
/** Far more than the server takes on at once. */
const CLIENTS = 2_000
/** They show the capacity: each asks again at once. */
const WAITING_CLIENTS = 64
/** More than twice as long as the server leaves a connection unread. */
const ROUND_MS = 12_000
const BAR = 0.9

/** Every load, one right after the other. */
interface OverloadRound {
  readonly capacity: number
  readonly levels: readonly LoadResult[]
}

export const overload: Figure = {
  name: 'overload',
  title: 'Overload',
  async measure({ nodeOptions, rounds, print }) {
    const platform = await startPlatform({ nodeOptions, print })
    const generator = startGenerator()
    try {
      const plan = { url: platform.server.url, requests: await pageRequests(platform), usefulMs: USEFUL_MS }
      const send = (own: Pick<LoadPlan, 'connections' | 'perSecond' | 'clients'>) =>
        generator.load({ ...plan, durationMs: ROUND_MS, ...own })
      const measured: OverloadRound[] = []
      for (let round = 0; round <= rounds; round++) {
        const { perSecond: capacity } = await send({ connections: WAITING_CLIENTS })
        const levels: LoadResult[] = []
        for (const times of LOADS) {
          levels.push(await send({ connections: CLIENTS, perSecond: capacity * times, clients: {} }))
        }
        print(`  round ${round} of ${rounds}`)
        // The first round warms up.
        if (round > 0) measured.push({ capacity, levels })
      }
      const capacity = spreadOf(measured.map((round) => round.capacity)).median
      const kept = spreadOf(measured.map(goodputKept))
      return {
        rows: LOADS.map((times, index) => levelRow(measured, times, index)),
        bars: [
          { what: 'good answers under the last load, by the most under any', value: kept, atLeast: BAR },
        ],
        notes: [
          `the server can carry ${capacity.toFixed(0)} a second`,
          `${CLIENTS} clients, none of which heeds Retry-After; an answer counts within ${USEFUL_MS} ms of when its request was due`,
          `while a client waits for an answer, its due requests stay unsent; ${ROUND_MS / 1_000} s of each load`,
          'in equal parts: an order posted again, its status, a wallet',
        ],
        rounds: measured,
      }
    } finally {
      await generator.stop()
      await platform.stop()
    }
  },
}

/** A frontend's requests, each of which costs the server something. */
export async function pageRequests({ sandbox, server }: Platform): Promise<LoadRequest[]> {
  const opened = await openOrders(sandbox, ORDERS)
  await postAll(server.url, opened)
  await untilQuiet(server.pid)
  const [employee] = sandbox.accounts.employees
  return opened.flatMap((order): LoadRequest[] => [
    postRequest(order),
    { method: 'GET', path: `/orders/${order.orderId}` },
    { method: 'GET', path: `/wallet/${employee.address}` },
  ])
}

function goodputKept({ levels }: OverloadRound): number {
  const peak = Math.max(...levels.map(({ perSecond }) => perSecond))
  return (levels.at(-1)?.perSecond ?? 0) / peak
}

function levelRow(measured: readonly OverloadRound[], times: number, index: number): Row {
  const spread = (of: (level: LoadResult) => number | null) =>
    spreadOf(measured.flatMap(({ levels }) => levels[index] ?? []).map((level) => of(level) ?? Number.NaN))
  const each = (of: (level: LoadResult) => number) => spread((level) => (of(level) * 1_000) / ROUND_MS)
  const cells = {
    'due/s': each(({ due }) => due),
    'sent/s': each(({ sent }) => sent),
    'good/s': each(({ good }) => good),
    '503/s': each(({ refused }) => refused),
    'p50 ms': spread(({ p50Ms }) => p50Ms),
    'p99 ms': spread(({ p99Ms }) => p99Ms),
    '503 p99 ms': spread(({ refusedP99Ms }) => refusedP99Ms),
  }
  return { what: `load of ${times}`, cells }
}
