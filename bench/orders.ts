import { type Comparison, compare } from './support/compare.js'
import { untilQuiet } from './support/cpuTime.js'
import type { BenchContext, Figure } from './support/figure.js'
import type { LoadRequest } from './support/load.js'
import { openOrders, type UnpostedOrder } from './support/openOrders.js'
import { readStatuses } from './support/statuses.js'

/** Per connection and round: each order is posted once. */
const ORDERS_PER_CONNECTION = 24
/** How often the warm-up posts a round's worth of orders of its own: the JIT compiler wants thousands of requests. */
const WARM_UP_REPEATS = 5
const GOAL = 0.7

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
    const comparison = await compare({
      ...context.rounds,
      ours: server,
      bare: { method: 'POST', path: '/orders', status: 202, body: exampleOf(opened) },
      requests: (round) => requestsOf(opened, perRound, round),
      once: true,
    })
    return {
      kind: 'route',
      comparison,
      goal: GOAL,
      notes: await notesOf(context, opened, comparison, perRound),
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
  const orders = round === 0 ? Array.from({ length: WARM_UP_REPEATS }, () => own).flat() : own
  return orders.map(({ body }) => ({ method: 'POST', path: '/orders', body }))
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
    'each stored and fsynced before the answer; each with an OPEN escrow of its commit',
    `${perRound} orders a round, ${ORDERS_PER_CONNECTION} on each connection; all found stored afterwards`,
    `${starts} enclave runs started in the ${seconds} s of measuring: the others wait for their turn`,
  ]
}
