import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { RpcProvider } from '../../../src/chain/provider.js'
import { createChainReader } from '../../../src/server/narrator/chainReader.js'
import { narrate } from '../../../src/server/narrator/events.js'
import { jsonLine } from '../../../src/server/narrator/jsonLine.js'
import { findDisagreements } from '../../e2e/support/invariants.js'
import { settle } from '../orders/bench.js'
import { readBalances, takeCensus } from '../orders/census.js'
import { createCopies } from '../orders/copies.js'
import type { Desk } from '../orders/platform.js'
import { createReorganizations } from '../orders/reorganizations.js'
import { createTraders, type Traders } from '../orders/traders.js'
import { count, createWord } from '../orders/word.js'
import { createWorld } from '../orders/world.js'
import { startHostileClient } from '../support/hostileClient.js'
import { ask, lastHolder, readAudit } from './audit.js'
import { type Cluster, type ClusterServer, startCluster } from './cluster.js'
import type { ClusterDatabase } from './database.js'
import type { ClusterPlan, PlannedFault } from './plan.js'
import type { ClusterReport } from './report.js'
import { judgeNarration, lateRows, narratorDeaths, sharedNonces, unsavedBroadcasts } from './verdicts.js'

export interface ClusterBenchOptions {
  readonly plan: ClusterPlan
  readonly leaseTtlMs: number
  /** Where everything is kept. */
  readonly directory: string
  readonly print: (line: string) => void
  /** Whether the database may be on a file system of its own, which takes the right to mount one. */
  readonly mayMount?: boolean
  /** Further variables of every server. */
  readonly variables?: Record<string, string>
  /** How long nothing may end when nothing goes wrong any more. Default: a lease's length and a minute. */
  readonly patienceMs?: number
}

const LOOK_MS = 200
const PATIENCE_MS = 60_000
const MS_PER_SECOND = 1_000

/** Runs the plan against three real servers and their database, and looks at what is left. Needs `npm run build`. */
export async function runClusterBench(options: ClusterBenchOptions): Promise<ClusterReport> {
  const { plan, directory, leaseTtlMs, mayMount = false, variables = {} } = options
  const startedAt = performance.now()
  const cluster = await startCluster({ plan, directory, leaseTtlMs, mayMount, variables })
  const around = surround(cluster, plan)
  try {
    await around.copies.clear()
    return await run(options, around, startedAt)
  } finally {
    await Promise.all([around.traders.stop(), around.hostile.stop()])
    await cluster.stop()
  }
}

type Surroundings = ReturnType<typeof surround>

function surround(cluster: Cluster, plan: ClusterPlan) {
  const { desk, database } = cluster
  const traders = createTraders(desk)
  const copies = createCopies(desk)
  const { url } = desk.sandbox.info
  return {
    cluster,
    traders,
    copies,
    word: createWord(desk.bench),
    reorgs: createReorganizations(desk, traders),
    // A full disk is the database's, which has a fault of its own for it.
    world: createWorld(desk, { kind: 'injected', ...noDisk(database) }),
    hostile: startHostileClient({ url: () => url, seed: plan.seed, copies: copies.bodies }),
  }
}

const noDisk = (database: ClusterDatabase) => ({
  fill: () => database.readOnly(LOOK_MS),
  free: async () => undefined,
  wasFullSince: () => false,
  remove: async () => undefined,
})

async function run(
  options: ClusterBenchOptions,
  around: Surroundings,
  startedAt: number,
): Promise<ClusterReport> {
  const { plan, print, leaseTtlMs, patienceMs = leaseTtlMs + PATIENCE_MS } = options
  const { cluster, traders, word, world, reorgs, hostile, copies } = around
  const { desk, database } = cluster
  const before = await readBalances(desk)
  print(`all up after ${seconds(startedAt)} s`)
  const struck = await storm(plan, around, print)
  const calmAt = performance.now()
  print(`calm, ${traders.open()} orders open`)
  const unsettled = await settle(around, patienceMs)
  await hostile.stop()
  const settledAfterSeconds = seconds(calmAt)
  const leftovers = await untilNone(patienceMs, () => findLeftovers(database, traders))
  const narration = await narrated(cluster, patienceMs)
  const audit = await readAudit(database.url())
  const { shared, violations: nonces } = sharedNonces(audit, cluster.broadcasts)
  const placed = [...traders.placed.values()]
  return {
    seed: plan.seed,
    orders: {
      placed: placed.length,
      accepted: placed.filter(({ accepted }) => accepted).length,
      settled: placed.filter(({ end }) => end === 'SETTLED').length,
      refunded: placed.filter(({ end }) => end === 'REFUNDED').length,
    },
    struck: {
      ...struck,
      ...world.struck(),
      ...reorgs.struck(),
      ...cluster.nodes.struck(),
      ...(await stopsOf(desk)),
    },
    hostile: hostile.answered(),
    deaths: cluster.deaths.length,
    terms: count(
      audit.events
        .filter(({ table, kind }) => table === 'leases' && kind !== 'delete')
        .map(({ id }) => id.split(':')[0] ?? id),
    ),
    rows: audit.events.length,
    broadcasts: cluster.broadcasts.length,
    sharedNonces: shared,
    narrated: { events: narration.expected.length, missing: narration.missing },
    settledAfterSeconds,
    seconds: seconds(startedAt),
    violations: [
      ...unsettled,
      ...(await takeCensus(desk, traders, before)),
      ...(await findDisagreements(desk)).map((found) => JSON.stringify(found)),
      ...(await copies.faults()),
      ...hostile.faults(),
      ...(await word.overlaps()),
      ...leftovers,
      ...cluster.faults(),
      ...lateRows(audit),
      ...unsavedBroadcasts(audit, cluster.broadcasts),
      ...nonces,
      ...judgeNarration(narration.expected, cluster.told, narratorDeaths(audit, cluster.deaths)).violations,
    ],
  }
}

function seconds(from: number): number {
  return Math.round((performance.now() - from) / MS_PER_SECOND)
}

/** Everything that was planned, at its time. Over when all of it has come about and ended. @returns how often, by kind */
async function storm(
  plan: ClusterPlan,
  around: Surroundings,
  print: (line: string) => void,
): Promise<Record<string, number>> {
  const { cluster, traders, world, reorgs, copies } = around
  const { bench } = cluster.desk
  world.begin(plan.world)
  reorgs.begin(plan.reorgs)
  const faults = plan.faults.map(async (fault) => {
    await sleep(fault.atMs)
    print(`${fault.kind} ${fault.target}, ${fault.forMs} ms`)
    await bringAbout(fault, cluster)
  })
  const stops = plan.stops.map(async ({ atMs, step, stopMs }, index) => {
    await sleep(atMs)
    const name = `${String(index).padStart(4, '0')}-${stopMs > 0 ? 'stopped' : 'killed'}-at-${step}`
    // Appears whole or not at all.
    await writeFile(join(bench, name), JSON.stringify({ stopMs }))
    await rename(join(bench, name), join(bench, 'server-acts', name))
  })
  const orders = plan.orders.map(async ({ atMs, order }) => {
    await sleep(atMs)
    traders.begin([order])
  })
  const copied = sleep(plan.lengthMs / 2).then(() => {
    const last = [...traders.placed.values()].at(-1)
    if (last !== undefined) copies.copy(last.sealed).catch(() => undefined)
  })
  await Promise.all([...faults, ...stops, ...orders, copied, sleep(plan.lengthMs)])
  await calm(around)
  return count(plan.faults.map(({ kind }) => `cluster ${kind}`))
}

/** From now on nothing goes wrong. */
async function calm({ cluster, world, reorgs }: Surroundings): Promise<void> {
  const planned = join(cluster.desk.bench, 'server-acts')
  for (const name of await readdir(planned)) await rename(join(planned, name), join(planned, '..', name))
  cluster.nodes.calm()
  await Promise.all([cluster.database.calm(), world.calm(), reorgs.calm()])
  for (const { proxy } of cluster.servers) {
    proxy.set('pass')
    proxy.delay(0)
  }
  cluster.followPrimary()
}

async function stopsOf({ bench }: Desk): Promise<Record<string, number>> {
  const names = await readdir(join(bench, 'server-acted'))
  return count(names.map((name) => `server ${name.replace(/^\d+-/, '')}`))
}

async function bringAbout(fault: PlannedFault, cluster: Cluster): Promise<void> {
  const { kind, forMs, amount } = fault
  const { database } = cluster
  if (kind === 'database-killed') return database.crash(forMs)
  if (kind === 'database-read-only') return database.readOnly(forMs)
  if (kind === 'database-full') return database.full(forMs)
  if (kind === 'failed-over') return database.failOver(cluster.followPrimary)
  const server = await targetOf(fault, cluster)
  if (kind === 'killed') return server.kill()
  if (kind === 'paused') return server.pause(forMs)
  const { proxy } = server
  if (kind === 'partitioned') proxy.set('hang')
  if (kind === 'answers-lost') proxy.set('lose-answers')
  if (kind === 'delayed') proxy.delay(amount)
  if (kind !== 'cut') await sleep(forMs)
  proxy.set('pass')
  proxy.delay(0)
  if (kind !== 'delayed') proxy.cut()
}

async function targetOf({ target }: PlannedFault, { servers, database }: Cluster): Promise<ClusterServer> {
  const holder =
    typeof target === 'string' ? await lastHolder(database.url(), target).catch(() => undefined) : undefined
  const number = typeof target === 'string' ? Number(holder?.split('.')[0] ?? 0) : target
  const server = servers[number]
  if (server === undefined) throw new RangeError(`there is no server ${number}`)
  return server
}

const idsSchema = z.array(z.object({ tbl: z.string(), id: z.string() }))

/** Rows that are open once all has ended. Junk without an escrow waits until it expires. */
async function findLeftovers(database: ClusterDatabase, { placed }: Traders): Promise<string[]> {
  const rows = await ask(
    database.url(),
    `SELECT 'orders' AS tbl, id FROM orders WHERE is_open
     UNION ALL SELECT 'relays', id FROM relays WHERE is_open
     UNION ALL SELECT 'runs', id FROM runs WHERE is_open AND unique_key IS NOT NULL`,
  )
  return idsSchema
    .parse(rows)
    .filter(({ tbl, id }) => tbl !== 'orders' || [...placed.keys()].some((orderId) => id.includes(orderId)))
    .map(({ tbl, id }) => `${tbl} ${id} is left`)
}

async function untilNone(patienceMs: number, look: () => Promise<string[]>): Promise<string[]> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const found = await look()
    if (found.length === 0 || performance.now() > giveUpAt) return found
    await sleep(LOOK_MS)
  }
}

const cursorSchema = z.looseObject({
  start: z.looseObject({ number: z.int() }),
  blocks: z.array(z.looseObject({ number: z.int() })),
})

/** The lines of the chain's events from the narration's start to the head of now, once narration has come that far. */
async function narrated({ desk, database, told }: Cluster, patienceMs: number) {
  const { info, provider: node } = desk.sandbox
  const head = await node.getBlockNumber()
  const giveUpAt = performance.now() + patienceMs
  const cursorOf = async () => {
    const rows = await ask(database.url(), "SELECT doc FROM state WHERE id = 'narrator'")
    const [{ doc }] = z.tuple([z.object({ doc: z.string() })]).parse(rows)
    return cursorSchema.parse(JSON.parse(doc))
  }
  let cursor = await cursorOf()
  const last = () => cursor.blocks.at(-1)?.number ?? 0
  while (last() < head && performance.now() < giveUpAt) {
    await sleep(LOOK_MS)
    cursor = await cursorOf()
  }
  // What was saved is printed at once.
  await sleep(LOOK_MS * 5)
  const range = { from: cursor.start.number + 1, to: last() }
  const { usdc: _, ...contracts } = info.contracts
  const provider = new RpcProvider({ chainId: info.chainId, urls: [info.rpcUrl], timeoutMs: 20_000 })
  const reader = createChainReader({ transport: provider.transport, contracts })
  const logs = (await reader.look(0, range)).logs()?.logs ?? []
  provider.destroy()
  const expected = logs.flatMap((log) => {
    const narration = narrate(log.contract, log)
    return narration === null
      ? []
      : [jsonLine({ kind: 'event', time: BigInt(log.blockTimestamp ?? 0), narration })]
  })
  return { expected, missing: judgeNarration(expected, told, 0).missing }
}
