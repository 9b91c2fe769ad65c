import { cellOf, type Figure, type Turn } from './support/figure.js'
import type { LoadPlan } from './support/load.js'
import { pageRequests } from './support/orders.js'
import { startPlatform } from './support/platform.js'

/** In times of the server's capacity. */
const LOADS = [1, 2, 5]
const LAST = `load of ${LOADS.at(-1)}`
/** Later answers are of no use. */
const USEFUL_MS = 1_000
/** Far more than the server takes on at once. */
const CLIENTS = 2_000
/** They show the capacity: each asks again as soon as it is answered. */
const WAITING_CLIENTS = 64
const ROUND_MS = 12_000
const BAR = 0.9

export const overload: Figure = {
  name: 'overload',
  title: 'Overload',
  async prepare(context) {
    const platform = await startPlatform(context)
    const requests = await pageRequests(platform)
    async function send(own: Pick<LoadPlan, 'connections' | 'perSecond' | 'clients'>) {
      const plan = { requests, usefulMs: USEFUL_MS, durationMs: ROUND_MS, ...own }
      const result = await context.generator.load({ urls: [platform.server.url], ...plan })
      const each = (count: number) => (count * 1_000) / ROUND_MS
      return {
        'due/s': each(result.due),
        'sent/s': each(result.sent),
        'good/s': each(result.good),
        '503/s': each(result.refused),
        'p50 ms': result.p50Ms,
        'p99 ms': result.p99Ms,
        '503 p99 ms': result.refusedP99Ms,
      }
    }
    const capacities: number[] = []
    const atLoad = (times: number): Turn => {
      return async (round) => {
        capacities[round] ??= (await send({ connections: WAITING_CLIENTS }))['good/s']
        return send({ connections: CLIENTS, perSecond: capacities[round] * times, clients: {} })
      }
    }
    const loads = Object.fromEntries(LOADS.map((times) => [`load of ${times}`, atLoad(times)]))
    return {
      rows: loads,
      bars: [
        {
          what: 'good/s, last load ÷ best load',
          of: (round) =>
            cellOf(round, LAST, 'good/s') /
            Math.max(...Object.keys(loads).map((row) => cellOf(round, row, 'good/s'))),
          atLeast: BAR,
        },
      ],
      notes: [
        `${CLIENTS} clients; a load of 1 is what ${WAITING_CLIENTS} get in a closed loop, once in each round`,
        `an answer is good within ${USEFUL_MS} ms of when its request was due`,
      ],
    }
  },
}
