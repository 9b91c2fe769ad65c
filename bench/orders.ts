import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../src/sandbox/postgres.js'
import { compare, ratioBar, rowsOf, type Target, withPeers } from './support/compare.js'
import type { BenchContext, Figure, Result } from './support/figure.js'
import { openOrders, postRequest, readStatuses, type UnpostedOrder } from './support/openOrders.js'
import { BENCH_DIRECTORY, startServerBeside } from './support/platform.js'
import { type ServerProcess, untilQuiet } from './support/processes.js'

/** Each is posted once. */
const ORDERS_PER_ROUND = 3_072
/** Callers for each connection of the other figures: fewer would wait for the disk, and the server with them. */
const MORE_CALLERS = 4
const BARS = { bare: 0.6, plain: 1.5, sqlite: 0.8 }

export const orders: Figure = {
  name: 'orders',
  title: 'POST /orders',
  measure: async (context) => measure(context, (await context.platform()).server),
}

export const postgresOrders: Figure = {
  name: 'postgres-orders',
  title: 'POST /orders on PostgreSQL, beside SQLite',
  async measure(context) {
    const { sandbox, server } = await context.platform()
    const database = await startPostgres(BENCH_DIRECTORY)
    const directory = join(BENCH_DIRECTORY, `postgres-${Date.now()}`)
    await mkdir(directory)
    let ours: ServerProcess | undefined
    try {
      const databaseUrl = (await database.createDatabase()).reveal()
      const { nodeOptions } = context
      ours = await startServerBeside(sandbox, { directory, databaseUrl, nodeOptions })
      return await measure(context, ours, { sqlite: server })
    } finally {
      await ours?.stop()
      await database.remove()
      await rm(directory, { recursive: true })
    }
  },
}

/** @param others servers of ours on other stores */
async function measure(
  context: BenchContext,
  ours: Target,
  others: { readonly sqlite?: Target } = {},
): Promise<Result> {
  const { sandbox } = await context.platform()
  const { rounds, print } = context
  const connections = MORE_CALLERS * context.connections
  const count = ORDERS_PER_ROUND * (1 + rounds)
  print(`opening ${count} escrows for POST /orders`)
  const opened = await openOrders(sandbox, count)
  // The servers follow the openings on the chain, which is no part of POST /orders.
  for (const { pid } of [ours, ...Object.values(others)]) await untilQuiet(pid)
  const route = { method: 'POST' as const, path: '/orders', status: 202, body: exampleOf(opened) }
  return withPeers({ ...route, directory: sandbox.directory, stores: true }, async (peers) => {
    const servers = { ours, ...others, ...peers }
    const from = Date.now()
    const measured = await compare({
      servers,
      rounds,
      plan: (round) => ({ connections, requests: requestsOf(opened, round), durationMs: null }),
    })
    const bars = [
      ratioBar(measured, 'bare', { atLeast: BARS.bare }),
      ratioBar(measured, 'plain', { atLeast: BARS.plain }),
    ]
    if (others.sqlite !== undefined) bars.push(ratioBar(measured, 'sqlite', { atLeast: BARS.sqlite }))
    const notes = [
      'plain: Express, helmet, cors, pino-http, express-rate-limit, and an insert into SQLite with a sync for each order',
      `each stored and fsynced before the answer; each with an OPEN escrow of its commit; ${connections} callers`,
      `${ORDERS_PER_ROUND} orders a round, medians of ${rounds} rounds in turns; all found stored afterwards`,
      await runsBetween(ours, opened, from, Date.now()),
    ]
    return { rows: rowsOf(measured), bars, notes, rounds: measured }
  })
}

/** As long as our answer. */
function exampleOf([first]: readonly UnpostedOrder[]) {
  if (!first) throw new Error('there are no orders')
  const { orderId, commit } = first
  return { orderId, result: 'received', commit, receivedAt: new Date().toISOString() }
}

function requestsOf(opened: readonly UnpostedOrder[], round: number) {
  return opened.slice(round * ORDERS_PER_ROUND, (round + 1) * ORDERS_PER_ROUND).map(postRequest)
}

/** Asks the server for every order: all must be stored, and the enclave's runs are counted. */
async function runsBetween(
  { url }: Target,
  opened: readonly UnpostedOrder[],
  from: number,
  to: number,
): Promise<string> {
  const statuses = await readStatuses(url, opened)
  // A server does not keep an order that another server's enclave has ended before it came.
  const lost = statuses.filter(({ receivedAt, state }) => receivedAt === null && state === 'OPEN').length
  if (lost > 0) throw new Error(`${lost} of ${statuses.length} orders were answered 202 and are not stored`)
  const starts = statuses
    .flatMap(({ triggers }) => triggers.map(({ startedAt }) => Date.parse(startedAt)))
    .filter((at) => at >= from && at <= to).length
  const seconds = ((to - from) / 1_000).toFixed(1)
  return `${starts} enclave runs started in the ${seconds} s of measuring: the others wait for their turn`
}
