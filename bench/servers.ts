import type { Sandbox } from '../src/sandbox/sandbox.js'
import { type BenchContext, type Cells, type Figure, ratio, type Table } from './support/figure.js'
import { openOrders, postRequest } from './support/orders.js'
import { type Fleet, settingsBeside, startFleet, startPlatform } from './support/platform.js'
import { untilQuiet } from './support/processes.js'

const SERVERS = 4
/** The part of one server's capacity that each is offered: four of them leave half of the machine. */
const SHARE = 1 / 8
/** Requests that warm a server up, by those that show its capacity. */
const WARM_UP = 1 / 4

/** Requests that show one server's capacity. */
const SATURATING = 1_536
/** For each server. */
const CONNECTIONS = 64

/** Four servers on PostgreSQL beside one, each of them offered the same. */
export const servers: Figure = {
  name: 'servers-orders',
  title: 'POST /orders: four servers beside one, on PostgreSQL',
  async prepare(context) {
    const { sandbox } = await startPlatform(context)
    return compareFleets(context, sandbox)
  },
}

async function compareFleets(context: BenchContext, sandbox: Sandbox): Promise<Table> {
  const one = await startFleet(context, 1, settingsBeside(sandbox))
  const four = await startFleet(context, SERVERS, settingsBeside(sandbox))

  async function send(fleet: Pick<Fleet, 'servers' | 'cpu'>, count: number, offered = {}): Promise<Cells> {
    const requests = (await openOrders(sandbox, count)).map(postRequest)
    const plan = { requests, ...offered, expectedStatus: 202, durationMs: null }
    await untilQuiet(...one.servers, ...four.servers)
    const before = await fleet.cpu()
    const { good, perSecond } = await context.generator.loadAll({
      ...plan,
      urls: fleet.servers.map(({ url }) => url),
      connections: CONNECTIONS * fleet.servers.length,
    })
    const after = await fleet.cpu()
    return {
      'answers/s': perSecond,
      'CPU µs of servers': ((after.servers - before.servers) * 1_000) / good,
      'CPU µs of PostgreSQL': ((after.database - before.database) * 1_000) / good,
    }
  }

  // Each server compiles first, one after another: all at once would overload the machine.
  for (const { servers: own, cpu } of [one, four]) {
    for (const server of own) await send({ servers: [server], cpu }, SATURATING * WARM_UP)
  }
  const { 'answers/s': capacity = 0 } = await send(one, SATURATING)
  const offered = Math.floor(capacity * SHARE)
  const turn = (fleet: Fleet) => () => {
    const perSecond = offered * fleet.servers.length
    return send(fleet, Math.ceil(perSecond * context.options.seconds), { perSecond })
  }
  return {
    rows: { one: turn(one), four: turn(four) },
    bars: [
      ratio('answers/s', 'four', 'one', { atLeast: 3.6 }),
      ratio('CPU µs of servers', 'four', 'one', { atMost: 1.15 }),
      ratio('CPU µs of PostgreSQL', 'four', 'one', { atMost: 1.15 }),
    ],
    notes: [
      `each server is offered ${offered} a second, open loop: ${SHARE} of the ${capacity.toFixed(0)} that one carries alone`,
      'CPU for each answer; PostgreSQL and its processes run on the same machine',
    ],
  }
}
