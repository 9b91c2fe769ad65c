import { startBareServer } from './support/bareRoute.js'
import { type Comparison, compare } from './support/compare.js'
import { untilQuiet } from './support/cpuTime.js'
import type { BenchContext, Figure } from './support/figure.js'
import type { LoadRequest } from './support/load.js'
import { openOrders, type UnpostedOrder } from './support/openOrders.js'
import { startPeer } from './support/peer.js'
import { readStatuses } from './support/statuses.js'

/** Per connection and round: each order is posted once. */
const ORDERS_PER_CONNECTION = 48
const GOALS = { bare: 0.6, plain: 1.5 }

export const orders: Figure = {
  name: 'orders',
  title: 'POST /orders',
  async measure(context) {
    const { sandbox, server } = await context.platform()
    const perRound = context.rounds.connections * ORDERS_PER_CONNECTION
    const count = perRound * (1 + context.rounds.rounds)
    context.print(`opening ${count} escrows for POST /orders`)
    const opened = await openOrders(sandbox, count)
    // It follows the openings on the chain, which is no part of POST /orders.
    await untilQuiet(server.pid)
    const body = exampleOf(opened)
    const bare = await startBareServer({ method: 'POST', path: '/orders', status: 202, body })
    const plain = await startPeer('./plainOrders.ts', { directory: sandbox.directory })
    try {
      const comparison = await compare({
        ...context.rounds,
        ours: server,
        peers: { bare, plain },
        requests: (round) => requestsOf(opened, perRound, round),
        once: true,
      })
      const notes = await notesOf(context, opened, comparison, perRound)
      return { kind: 'route', comparison, goals: GOALS, notes }
    } finally {
      await Promise.all([bare.stop(), plain.stop()])
    }
  },
}

/** What a bare route answers: as long as our answer. */
function exampleOf([first]: readonly UnpostedOrder[]) {
  if (!first) throw new Error('there are no orders')
  const { orderId, commit } = first
  return { orderId, result: 'received', commit, receivedAt: new Date().toISOString() }
}

function requestsOf(opened: readonly UnpostedOrder[], perRound: number, round: number): LoadRequest[] {
  const own = opened.slice(round * perRound, (round + 1) * perRound)
  return own.map(({ body }) => ({ method: 'POST', path: '/orders', body }))
}

/** Asks the server for every order: all must be stored, and the enclave's runs are counted. */
async function notesOf(
  context: BenchContext,
  opened: readonly UnpostedOrder[],
  { between: [from, to] }: Comparison,
  perRound: number,
): Promise<string[]> {
  const { server } = await context.platform()
  const statuses = await readStatuses(server.url, opened)
  const lost = statuses.filter(({ receivedAt }) => receivedAt === null).length
  if (lost > 0) throw new Error(`${lost} of ${statuses.length} orders were answered 202 and are not stored`)
  const starts = statuses
    .flatMap(({ triggers }) => triggers.map(({ startedAt }) => Date.parse(startedAt)))
    .filter((at) => at >= from && at <= to).length
  const seconds = ((to - from) / 1_000).toFixed(1)
  return [
    'plain: Express, helmet, cors, pino-http, express-rate-limit, and an insert into SQLite, a statement and a sync each',
    'each stored and fsynced before the answer; each with an OPEN escrow of its commit',
    `${perRound} orders a round, ${ORDERS_PER_CONNECTION} on each connection; all found stored afterwards`,
    `${starts} enclave runs started in the ${seconds} s of measuring: the others wait for their turn`,
  ]
}
