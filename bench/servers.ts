import type { Bar, BenchContext, Figure, Row } from './support/figure.js'
import { type Fleet, startFleet, startRelayFleet } from './support/fleet.js'
import { type Generator, type LoadPlan, type LoadRequest, startGenerator } from './support/load.js'
import { openOrders, postRequest } from './support/openOrders.js'
import { startServerBeside } from './support/platform.js'
import { untilQuiet } from './support/processes.js'
import { type RelayChain, relayHeaders, relayRequest, startRelayChain } from './support/relayPlatform.js'
import { spreadOf } from './support/statistics.js'

const SERVERS = 4
/** The part of one server's capacity that each is offered: four of them leave half of the machine. */
const SHARE = 1 / 8
const BARS = { cpu: 1.15, rate: 3.6 }
/** Requests that warm a server up, by those that show its capacity. */
const WARM_UP = 1 / 4
const CALLERS = { order: 64, authorization: 128 }
const TTL_MS = 10_000

interface Work {
  readonly what: string
  start(servers: number): Promise<Fleet>
  /** So many that were never sent. */
  requests(count: number): Promise<LoadRequest[]>
  /** So many show one server's capacity. */
  readonly saturating: number
  readonly plan: Pick<LoadPlan, 'connections' | 'expectedStatus' | 'headers'>
}

interface FleetRound {
  readonly perSecond: number
  readonly serversUs: number
  readonly databaseUs: number
}

/** Four servers on PostgreSQL beside one, each of them offered the same. */
export const servers: Figure = {
  name: 'servers',
  title: 'Four servers beside one, on PostgreSQL',
  async measure(context) {
    const chain = await startRelayChain()
    const authorizations = await compareFleets(context, authorizationsOn(chain, context)).finally(chain.stop)
    const orders = await compareFleets(context, await ordersOn(context))
    const notes = [
      `each server is offered ${SHARE} of one server's capacity alone, open loop`,
      'CPU of all threads; PostgreSQL and its processes on the same machine',
    ]
    return {
      rows: [...authorizations.rows, ...orders.rows],
      bars: [...authorizations.bars, ...orders.bars],
      notes,
      rounds: { authorizations: authorizations.rounds, orders: orders.rounds },
    }
  },
}

async function ordersOn({ platform, nodeOptions, print }: BenchContext): Promise<Work> {
  const { sandbox } = await platform()
  return {
    what: 'order',
    start: (count) =>
      startFleet(count, (databaseUrl, directory) =>
        startServerBeside(sandbox, { directory, databaseUrl, nodeOptions }),
      ),
    async requests(count) {
      print(`opening ${count} escrows`)
      return (await openOrders(sandbox, count)).map(postRequest)
    },
    saturating: 1_536,
    plan: { connections: CALLERS.order, expectedStatus: 202 },
  }
}

function authorizationsOn(chain: RelayChain, { nodeOptions }: BenchContext): Work {
  const all = chain.relayers
  return {
    what: 'authorization',
    start(count) {
      // The last account is the lone server's.
      const accounts = count === 1 ? all.slice(-1) : all.slice(0, count)
      const callers = CALLERS.authorization
      return startRelayFleet(chain, { accounts, callers, leaseTtlMs: TTL_MS, nodeOptions })
    },
    requests: async (count) => chain.authorizations(count).map(relayRequest),
    saturating: 1_024,
    plan: { connections: CALLERS.authorization, expectedStatus: 200, headers: relayHeaders(chain) },
  }
}

/** Rounds with one server and with four in turns. */
async function compareFleets({ rounds, roundMs, print }: BenchContext, work: Work) {
  const fleets = [await work.start(1), await work.start(SERVERS)] as const
  const generators = Array.from({ length: SERVERS }, startGenerator)
  const send = (fleet: Fleet, requests: LoadRequest[], perSecond?: number) => {
    const pace = perSecond === undefined ? {} : { perSecond }
    return sendTo(fleet, generators, { ...work.plan, durationMs: null, ...pace }, requests)
  }
  try {
    // Each server compiles first, one after another: all at once would overload the machine.
    for (const fleet of fleets) {
      for (const server of fleet.servers) {
        await send({ ...fleet, servers: [server] }, await work.requests(work.saturating * WARM_UP))
      }
    }
    const { perSecond: capacity } = await send(fleets[0], await work.requests(work.saturating))
    const offered = Math.floor(capacity * SHARE)
    print(
      `  ${capacity.toFixed(0)} a second of each ${work.what} with one server; each is offered ${offered}`,
    )
    const count = Math.ceil((offered * roundMs) / 1_000)
    const found: { one: FleetRound; four: FleetRound }[] = []
    for (let round = 0; round < rounds; round++) {
      const requests = await work.requests(count * (1 + SERVERS))
      for (const { servers } of fleets) for (const { pid } of servers) await untilQuiet(pid)
      const one = await send(fleets[0], requests.slice(0, count), offered)
      found.push({ one, four: await send(fleets[1], requests.slice(count), offered) })
    }
    return { ...tableOf(work.what, found), rounds: { capacity, offered, found } }
  } finally {
    await Promise.all(generators.map((generator) => generator.stop()))
    await Promise.all(fleets.map((fleet) => fleet.stop()))
  }
}

function tableOf(what: string, found: readonly { one: FleetRound; four: FleetRound }[]) {
  const row = (size: 'one' | 'four'): Row => ({
    what: `${what}s, ${size} of the servers`,
    cells: {
      'answers/s': spreadOf(found.map((round) => round[size].perSecond)),
      'CPU µs of servers': spreadOf(found.map((round) => round[size].serversUs)),
      'CPU µs of PostgreSQL': spreadOf(found.map((round) => round[size].databaseUs)),
    },
  })
  const ratio = (
    name: string,
    of: (round: FleetRound) => number,
    limit: Pick<Bar, 'atLeast' | 'atMost'>,
  ): Bar => ({
    what: `${name}, four servers ÷ one`,
    value: spreadOf(found.map(({ one, four }) => of(four) / of(one))),
    ...limit,
  })
  const bars = [
    ratio(`${what}s a second`, ({ perSecond }) => perSecond, { atLeast: BARS.rate }),
    ratio(`CPU of the servers for each ${what}`, ({ serversUs }) => serversUs, { atMost: BARS.cpu }),
    ratio(`CPU of PostgreSQL for each ${what}`, ({ databaseUs }) => databaseUs, { atMost: BARS.cpu }),
  ]
  return { rows: [row('one'), row('four')], bars }
}

/** Every server gets an equal part of the requests, each from a generator of its own. */
async function sendTo(
  fleet: Fleet,
  generators: readonly Generator[],
  plan: Omit<LoadPlan, 'url' | 'requests'>,
  requests: readonly LoadRequest[],
): Promise<FleetRound> {
  const share = requests.length / fleet.servers.length
  const before = await fleet.cpu()
  const results = await Promise.all(
    fleet.servers.map(async ({ url }, index) => {
      const own = requests.slice(index * share, (index + 1) * share)
      const result = await generators[index]?.loadAll({ url, ...plan, requests: own })
      if (result === undefined) throw new Error('there are fewer generators than servers')
      return result
    }),
  )
  const after = await fleet.cpu()
  const answered = results.reduce((sum, { good }) => sum + good, 0)
  const each = (ms: number) => (ms * 1_000) / answered
  return {
    perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
    serversUs: each(after.servers - before.servers),
    databaseUs: each(after.database - before.database),
  }
}
