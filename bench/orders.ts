import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { claimPorts } from '../src/sandbox/ports.js'
import { startPostgres } from '../src/sandbox/postgres.js'
import { startBareServer } from './support/bareRoute.js'
import { type Comparison, compare, type Target } from './support/compare.js'
import { untilQuiet } from './support/cpuTime.js'
import type { BenchContext, Figure, RouteResult } from './support/figure.js'
import type { LoadRequest } from './support/load.js'
import { openOrders, type UnpostedOrder } from './support/openOrders.js'
import { startServerProcess } from './support/ourServer.js'
import { type Peer, startPeer } from './support/peer.js'
import { BENCH_DIRECTORY } from './support/platform.js'
import { readStatuses } from './support/statuses.js'

/** Per connection and round: each order is posted once. */
const ORDERS_PER_CONNECTION = 48
const GOALS = { bare: 0.6, plain: 1.5 }

export const orders: Figure = {
  name: 'orders',
  title: 'POST /orders',
  async measure(context) {
    const { sandbox, server } = await context.platform()
    return measure(context, server, GOALS, async (body) => ({
      bare: await startBareServer({ method: 'POST', path: '/orders', status: 202, body }),
      plain: await startPeer('./plainOrders.ts', { directory: sandbox.directory }),
    }))
  },
}

export const postgresOrders: Figure = {
  name: 'postgres-orders',
  title: 'POST /orders, PostgreSQL beside SQLite',
  async measure(context) {
    const { sandbox, server } = await context.platform()
    const database = await startPostgres(BENCH_DIRECTORY)
    const { server: port } = await claimPorts({ server: 0, rpc: 0, broker: 0 })
    const url = `http://127.0.0.1:${port}`
    const env = {
      ENV_FILE: join(sandbox.directory, '.env'),
      DATABASE_URL: (await database.createDatabase()).reveal(),
      PORT: `${port}`,
      OPS_PORT: '0',
    }
    const directory = join(BENCH_DIRECTORY, `postgres-${Date.now()}`)
    await mkdir(directory)
    try {
      const { child, stop } = await startServerProcess({
        directory,
        url,
        env,
        nodeOptions: context.nodeOptions,
      })
      const sqlite = { ...server, stop: async () => {} }
      return await measure(context, { url, pid: child.pid }, { sqlite: 0.8 }, async () => ({
        sqlite,
      })).finally(stop)
    } finally {
      await database.remove()
      await rm(directory, { recursive: true })
    }
  },
}

/** @param startPeers gets an answer of ours, for what answers the same */
async function measure(
  context: BenchContext,
  ours: Target,
  goals: Record<string, number>,
  startPeers: (answer: ReturnType<typeof exampleOf>) => Promise<Record<string, Peer>>,
): Promise<RouteResult> {
  const { sandbox } = await context.platform()
  const perRound = context.rounds.connections * ORDERS_PER_CONNECTION
  const count = perRound * (1 + context.rounds.rounds)
  context.print(`opening ${count} escrows for POST /orders`)
  const opened = await openOrders(sandbox, count)
  // It follows the openings on the chain, which is no part of POST /orders.
  await untilQuiet(ours.pid)
  const peers = await startPeers(exampleOf(opened))
  try {
    const comparison = await compare({
      ...context.rounds,
      ours,
      peers,
      requests: (round) => requestsOf(opened, perRound, round),
      once: true,
    })
    const notes = await notesOf(ours, opened, comparison, perRound)
    return { kind: 'route', comparison, goals, notes }
  } finally {
    await Promise.all(Object.values(peers).map((peer) => peer.stop()))
  }
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
  ours: Target,
  opened: readonly UnpostedOrder[],
  { between: [from, to] }: Comparison,
  perRound: number,
): Promise<string[]> {
  const statuses = await readStatuses(ours.url, opened)
  // One that another server's enclave has ended before it came is not kept.
  const lost = statuses.filter(({ receivedAt, state }) => receivedAt === null && state === 'OPEN').length
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
