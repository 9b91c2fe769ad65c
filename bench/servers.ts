import { type BenchContext, type Figure, type Limit, ratio, type Table } from './support/figure.js'
import { type Fleet, startFleet } from './support/fleet.js'
import type { LoadPlan, LoadRequest } from './support/load.js'
import { openOrders, postRequest } from './support/openOrders.js'
import { settingsBeside } from './support/platform.js'
import { untilQuiet } from './support/processes.js'
import { RELAY_HEADERS, relayEnvironment, relayRequest, startRelayChain } from './support/relayChain.js'

const SERVERS = 4
/** The part of one server's capacity that each is offered: four of them leave half of the machine. */
const SHARE = 1 / 8
/** Requests that warm a server up, by those that show its capacity. */
const WARM_UP = 1 / 4

interface Work extends Pick<LoadPlan, 'expectedStatus' | 'headers'> {
  /** The settings of so many servers, but for their database. */
  settings(servers: number): Record<string, string>
  /** So many that were never sent. */
  requests(count: number): Promise<LoadRequest[]>
  /** So many show one server's capacity. */
  readonly saturating: number
  /** For each server. */
  readonly connections: number
}

/** Four servers on PostgreSQL beside one, each of them offered the same. */
export const servers: readonly Figure[] = [
  {
    name: 'servers-orders',
    title: 'POST /orders: four servers beside one, on PostgreSQL',
    async prepare(context) {
      const { sandbox } = await context.platform()
      return compareFleets(context, {
        settings: () => settingsBeside(sandbox),
        requests: async (count) => (await openOrders(sandbox, count)).map(postRequest),
        ...{ saturating: 1_536, connections: 64, expectedStatus: 202 },
      })
    },
  },
  {
    name: 'servers-relay',
    title: 'POST /relay: four servers beside one, on PostgreSQL',
    async prepare(context) {
      const chain = await startRelayChain(context)
      const left = [...chain.accounts]
      return compareFleets(context, {
        settings: (count) => relayEnvironment(chain, left.splice(0, count)),
        requests: async (count) => (await chain.portfolios(count))().map(relayRequest),
        ...{ saturating: 1_024, connections: 128, expectedStatus: 200, headers: RELAY_HEADERS },
      })
    },
  },
]

async function compareFleets(context: BenchContext, work: Work): Promise<Table> {
  const { settings, requests: newRequests, saturating, connections, ...plan } = work
  const one = await startFleet(context, 1, settings(1))
  const four = await startFleet(context, SERVERS, settings(SERVERS))

  async function send(
    { servers: own, cpu }: Pick<Fleet, 'servers' | 'cpu'>,
    count: number,
    perSecond?: number,
  ) {
    const requests = await newRequests(count)
    await untilQuiet(...one.servers, ...four.servers)
    const before = await cpu()
    const { good, perSecond: answered } = await context.generator.loadAll({
      ...{ ...plan, requests, durationMs: null },
      urls: own.map(({ url }) => url),
      connections: connections * own.length,
      ...(perSecond !== undefined && { perSecond: perSecond * own.length }),
    })
    const after = await cpu()
    return {
      'answers/s': answered,
      'CPU µs of servers': ((after.servers - before.servers) * 1_000) / good,
      'CPU µs of PostgreSQL': ((after.database - before.database) * 1_000) / good,
    }
  }

  // Each server compiles first, one after another: all at once would overload the machine.
  for (const { servers: own, cpu } of [one, four]) {
    for (const server of own) await send({ servers: [server], cpu }, saturating * WARM_UP)
  }
  const { 'answers/s': capacity } = await send(one, saturating)
  const offered = Math.floor(capacity * SHARE)
  const turn = (fleet: Fleet) => () =>
    send(fleet, Math.ceil(offered * fleet.servers.length * context.options.seconds), offered)
  const bar = (column: string, limit: Limit) => ratio(column, 'four', 'one', limit)
  return {
    rows: { one: turn(one), four: turn(four) },
    bars: [
      bar('answers/s', { atLeast: 3.6 }),
      bar('CPU µs of servers', { atMost: 1.15 }),
      bar('CPU µs of PostgreSQL', { atMost: 1.15 }),
    ],
    notes: [
      `each server is offered ${offered} a second, open loop: ${SHARE} of the ${capacity.toFixed(0)} that one carries alone`,
      'CPU of all threads for each answer; PostgreSQL and its processes on the same machine',
    ],
  }
}
