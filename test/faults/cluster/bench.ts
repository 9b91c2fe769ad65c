import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { findDisagreements } from '../../e2e/support/invariants.js'
import { settle } from '../orders/bench.js'
import { readBalances, takeCensus } from '../orders/census.js'
import { createCopies } from '../orders/copies.js'
import type { Desk } from '../orders/platform.js'
import { createReorganizations } from '../orders/reorganizations.js'
import { countOrders, createTraders, type Traders } from '../orders/traders.js'
import { count, createWord } from '../orders/word.js'
import { createWorld } from '../orders/world.js'
import { startHostileClient } from '../support/hostileClient.js'
import { allEvents, ask, lastHolder, readAudit, readRuns } from './audit.js'
import { type Cluster, type ClusterServer, startCluster } from './cluster.js'
import type { ClusterDatabase } from './database.js'
import { readNarration } from './narration.js'
import type { ClusterFault, ClusterPlan, PlannedFault } from './plan.js'
import {
  excusedUntil,
  forgottenOrders,
  judgeNarration,
  lateRows,
  narratorDeaths,
  sharedNonces,
  unsavedBroadcasts,
} from './verdicts.js'

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

/** What a run has shown. */
export interface ClusterReport {
  readonly seed: number
  /** Orders whose escrow was opened, how many of them were taken with 202, and how they ended. */
  readonly orders: Record<'placed' | 'accepted' | 'settled' | 'refunded', number> & {
    /** Taken with 202, and lost by a failover to an asynchronous standby. */
    readonly forgotten: number
  }
  /** By kind: how often each fault came about. */
  readonly struck: Record<string, number>
  readonly hostile: Record<string, number>
  /** Processes of servers that have ended, and were not asked to. */
  readonly deaths: number
  /** Runs that the enclave took, how often it was killed or replaced, and runs that a later boot said to be over. */
  readonly enclave: Record<'runs' | 'deaths' | 'replaced' | 'restarted', number>
  /** How often each lease was taken. */
  readonly terms: Record<string, number>
  /** Changes of rows and leases that were looked at. */
  readonly rows: number
  readonly broadcasts: number
  /** Nonces under which more than one call was sent. */
  readonly sharedNonces: number
  /** Runs that were begun beside another one of the same account. */
  readonly overlaps: number
  /** Events of the chain, those that no server has printed, and those that were printed again. */
  readonly narrated: Record<'events' | 'missing' | 'repeated', number>
  readonly settledAfterSeconds: number
  readonly seconds: number
  /** Everything that must not be. */
  readonly violations: readonly string[]
}

/** What is done to the connections of one link. */
const LINKED: ReadonlySet<ClusterFault> = new Set(['partitioned', 'cut', 'answers-lost', 'delayed'])
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
  const excuse = { replacedAt: cluster.replacedAt, calmAt: Date.now() }
  const isExcused = async () => Date.now() < excusedUntil(await readRuns(database.url()), excuse)
  print(`calm, ${traders.open()} orders open`)
  const forgotten = await submitForgotten(cluster, traders)
  const unsettled = await settle(around, patienceMs, isExcused)
  await hostile.stop()
  const settledAfterSeconds = seconds(calmAt)
  const leftovers = await untilNone(patienceMs, isExcused, () => findLeftovers(database, traders))
  const narration = await readNarration(cluster, patienceMs)
  const sent = [...cluster.broadcasts]
  const histories = [...database.lost, await readAudit(database.url())]
  const all = { events: allEvents(histories) }
  const { shared, violations: nonces } = sharedNonces(all, sent)
  const kills = narratorDeaths(all, cluster.deaths)
  const told = judgeNarration(narration.due, narration.told, {
    deaths: kills,
    losses: database.lost.length,
    later: narration.later,
  })
  const overlaps = await word.overlaps()
  return {
    seed: plan.seed,
    orders: { ...countOrders(traders), forgotten: forgotten.length },
    struck: {
      ...struck,
      ...world.struck(),
      ...reorgs.struck(),
      ...cluster.nodes.struck(),
      ...cluster.chainFaults.struck(),
      ...(await word.struck()),
      ...(await stopsOf(desk)),
    },
    hostile: hostile.answered(),
    deaths: cluster.deaths.length,
    enclave: {
      runs: word.runs('started'),
      deaths: (await word.deaths()).length,
      replaced: cluster.replacedAt.length,
      restarted: word.runs('restarted'),
    },
    terms: count(
      all.events
        .filter(({ table, kind }) => table === 'leases' && kind !== 'delete')
        .map(({ id }) => id.split(':')[0] ?? id),
    ),
    rows: all.events.length,
    broadcasts: sent.length,
    sharedNonces: shared,
    overlaps: overlaps.length,
    narrated: { events: narration.due.length, missing: told.missing, repeated: told.repeated },
    settledAfterSeconds,
    seconds: seconds(startedAt),
    violations: [
      ...unsettled,
      ...(await takeCensus(desk, traders, before)),
      ...(await findDisagreements(desk)).map((found) => JSON.stringify(found)),
      ...(await copies.faults()),
      ...hostile.faults(),
      // A run whose row is lost goes on beside the next one. The ledger and the escrow take one result.
      ...(plan.isAsynchronous ? [] : overlaps),
      ...(plan.isAsynchronous ? [] : forgotten.map((orderId) => `${orderId} was taken and is not stored`)),
      ...leftovers,
      ...cluster.faults(),
      ...new Set(histories.flatMap(lateRows)),
      ...unsavedBroadcasts(all, sent),
      ...nonces,
      ...told.violations,
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
    print(`${fault.kind} ${fault.target}, ${fault.forMs} ms, ${fault.link}`)
    await bringAbout(fault, cluster, plan)
  })
  const stops = plan.stops.map(async ({ atMs, step, stopMs }, index) => {
    await sleep(atMs)
    const name = `${String(index).padStart(4, '0')}-${stopMs > 0 ? 'stopped' : 'killed'}-at-${step}`
    // Appears whole or not at all.
    await writeFile(join(bench, name), JSON.stringify({ stopMs }))
    await rename(join(bench, name), join(bench, 'server-acts', name))
  })
  const acts = plan.acts.map(async ({ atMs, act }) => {
    await sleep(atMs)
    await world.order([act])
  })
  const replacements = plan.replacements.map(async ({ atMs }) => {
    await sleep(atMs)
    await cluster.replaceEnclave()
  })
  const orders = plan.orders.map(async ({ atMs, order }) => {
    await sleep(atMs)
    traders.begin([order])
  })
  const copied = sleep(plan.lengthMs / 2).then(() => {
    const last = [...traders.placed.values()].at(-1)
    if (last !== undefined) copies.copy(last.sealed).catch(() => undefined)
  })
  await Promise.all([...faults, ...stops, ...acts, ...replacements, ...orders, copied, sleep(plan.lengthMs)])
  await calm(around)
  return count(plan.faults.map(({ kind, link }) => `cluster ${LINKED.has(kind) ? `${link} ${kind}` : kind}`))
}

/** From now on nothing goes wrong. */
async function calm({ cluster, world, reorgs }: Surroundings): Promise<void> {
  const planned = join(cluster.desk.bench, 'server-acts')
  for (const name of await readdir(planned)) await rename(join(planned, name), join(planned, '..', name))
  cluster.nodes.calm()
  cluster.chainFaults.calm()
  await Promise.all([cluster.database.calm(), world.calm(), reorgs.calm()])
  for (const proxy of cluster.servers.flatMap(({ links }) => Object.values(links))) {
    proxy.set('pass')
    proxy.delay(0)
  }
  cluster.followPrimary()
}

async function stopsOf({ bench }: Desk): Promise<Record<string, number>> {
  const names = await readdir(join(bench, 'server-acted'))
  return count(names.map((name) => `server ${name.replace(/^\d+-/, '')}`))
}

async function bringAbout(
  fault: PlannedFault,
  cluster: Cluster,
  { isAsynchronous }: Pick<ClusterPlan, 'isAsynchronous'>,
): Promise<void> {
  const { kind, forMs, amount, link } = fault
  const { database } = cluster
  if (kind === 'database-killed') return database.crash(forMs)
  if (kind === 'database-read-only') return database.readOnly(forMs)
  if (kind === 'database-full') return database.full(forMs)
  if (kind === 'failed-over') {
    if (isAsynchronous) return database.failOverLate(forMs, cluster.followPrimary)
    return database.failOver(cluster.followPrimary)
  }
  const server = await targetOf(fault, cluster)
  if (kind === 'killed') return server.kill()
  if (kind === 'paused') return server.pause(forMs)
  if (kind === 'stopped') return server.stop()
  const proxy = server.links[link]
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

/** Their owners submit them again. @returns those that a server has taken, and that are not stored */
async function submitForgotten({ database }: Cluster, { placed, clients }: Traders): Promise<string[]> {
  const taken = [...placed].flatMap(([orderId, { accepted }]) => (accepted ? [orderId] : []))
  const forgotten = forgottenOrders(await readAudit(database.url()), taken)
  for (const [orderId, { planned, sealed }] of placed) {
    if (forgotten.includes(orderId)) await clients[planned.trader]?.submitOrder(sealed)
  }
  return forgotten
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

async function untilNone(
  patienceMs: number,
  isExcused: () => Promise<boolean>,
  look: () => Promise<string[]>,
): Promise<string[]> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const found = await look()
    if (found.length === 0 || (performance.now() > giveUpAt && !(await isExcused()))) return found
    await sleep(LOOK_MS)
  }
}
