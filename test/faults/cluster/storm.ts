import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { TradingError } from '../../../src/client/index.js'
import { findDisagreements } from '../../e2e/support/invariants.js'
import { eventually } from '../../support/eventually.js'
import { startHostileClient } from '../engine/hostileClient.js'
import { count, lookUntilNone, type Print, runStorm } from '../engine/storm.js'
import { findLostCancels } from '../orders/cancels.js'
import { type Balances, readBalances, takeCensus } from '../orders/census.js'
import { createCopies } from '../orders/copies.js'
import { createNotes } from '../orders/notes.js'
import type { Desk } from '../orders/platform.js'
import { createReorganizations } from '../orders/reorganizations.js'
import { copyLast, settle } from '../orders/storm.js'
import { countOrders, createTraders, type Traders } from '../orders/traders.js'
import { createWorld } from '../orders/world.js'
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

export interface ClusterStormOptions {
  readonly plan: ClusterPlan
  readonly leaseTtlMs: number
  /** Where everything is kept. */
  readonly directory: string
  readonly print?: Print
  /** Whether the database may be on a file system of its own, which takes the right to mount one. */
  readonly mayMount?: boolean
  /** Further variables of every server. */
  readonly variables?: Record<string, string>
  /** How long nothing may end in calm. Default: a lease's length and a minute. */
  readonly patienceMs?: number
}

/** Faults of the connections of one link. */
const LINKED: ReadonlySet<ClusterFault> = new Set(['partitioned', 'cut', 'answers-lost', 'delayed'])
const LOOK_MS = 200
const PATIENCE_MS = 60_000
const MS_PER_SECOND = 1_000

/** Runs the plan against three real servers and their database. Needs `npm run build`. */
export async function runClusterStorm(options: ClusterStormOptions) {
  const { plan, directory, leaseTtlMs, print = () => undefined, mayMount = false, variables = {} } = options
  const startedAt = performance.now()
  const cluster = await startCluster({ plan, directory, leaseTtlMs, mayMount, variables })
  print(`all up after ${Math.round((performance.now() - startedAt) / MS_PER_SECOND)} s`)
  return runStorm(workloadOf(surround(cluster, plan), options))
}

type Surroundings = ReturnType<typeof surround>

function surround(cluster: Cluster, plan: ClusterPlan) {
  const { desk, database } = cluster
  const traders = createTraders(desk)
  const copies = createCopies(desk)
  const notes = createNotes(desk.bench)
  const { url } = desk.sandbox.info
  return {
    cluster,
    traders,
    copies,
    notes,
    reorgs: createReorganizations(desk, traders),
    // A full disk is the database's, which has a fault of its own for it.
    world: createWorld(desk, { kind: 'injected', ...noDisk(database) }, notes),
    hostile: startHostileClient({ url: () => url, seed: plan.seed, copies: copies.bodies }),
  }
}

const noDisk = (database: ClusterDatabase) => ({
  fill: () => database.readOnly(LOOK_MS),
  free: async () => undefined,
  wasFullSince: () => false,
  remove: async () => undefined,
})

function workloadOf(around: Surroundings, options: ClusterStormOptions) {
  const { plan, print = () => undefined, leaseTtlMs, patienceMs = leaseTtlMs + PATIENCE_MS } = options
  const { cluster, traders, notes, world, reorgs, hostile, copies } = around
  const { desk, database } = cluster
  let before: Balances = new Map()
  let forgotten: readonly string[] = []
  let calmAt = 0
  const isExcused = async () =>
    Date.now() < excusedUntil(await readRuns(database.url()), { replacedAt: cluster.replacedAt, calmAt })

  return {
    seed: plan.seed,
    hostile,
    async rage() {
      await copies.clear()
      before = await readBalances(desk)
      await rage(plan, around, print)
      print(`calm, ${traders.open()} orders open`)
    },
    async settle() {
      calmAt = Date.now()
      forgotten = await submitForgotten(cluster, traders)
      const unsettled = await settle(around, patienceMs, isExcused)
      await hostile.stop()
      return unsettled
    },
    async judge() {
      const leftovers = await lookUntilNone(patienceMs, () => findLeftovers(database, traders), isExcused)
      // A failover to an asynchronous standby may lose cancels, too.
      const lostCancels = plan.isAsynchronous
        ? []
        : await lookUntilNone(patienceMs, () => findLostCancels(traders, notes))
      const overlaps = await notes.overlaps()
      const { figures, violations } = await judgeHistories(cluster, patienceMs)
      return {
        figures: {
          orders: { ...countOrders(traders), forgotten: forgotten.length },
          enclave: {
            runs: notes.runs('started'),
            deaths: (await notes.deaths()).length,
            replaced: cluster.replacedAt.length,
            restarted: notes.runs('restarted'),
          },
          overlaps: overlaps.length,
          ...figures,
        },
        violations: [
          ...(await takeCensus(desk, traders, before)),
          ...(await findDisagreements(desk)).map((found) => JSON.stringify(found)),
          ...(await copies.faults()),
          // A run whose row is lost goes on beside the next one. The ledger and the escrow take one result.
          ...(plan.isAsynchronous ? [] : overlaps),
          ...(plan.isAsynchronous
            ? []
            : forgotten.map((orderId) => `${orderId} was taken and is not stored`)),
          ...lostCancels,
          ...leftovers,
          ...cluster.faults(),
          ...violations,
        ],
      }
    },
    struck: async () => ({
      ...count(plan.faults.map(({ kind, link }) => `cluster ${LINKED.has(kind) ? `${link} ${kind}` : kind}`)),
      ...world.struck(),
      ...reorgs.struck(),
      ...cluster.nodes.struck(),
      ...cluster.chainFaults.struck(),
      ...(await notes.struck()),
      ...(await stopsOf(desk)),
    }),
    async stop() {
      await traders.stop()
      await cluster.stop()
    },
  }
}

/** Holds the histories of all databases against the broadcasts, and the narration against the chain. */
async function judgeHistories(cluster: Cluster, patienceMs: number) {
  const { database, deaths } = cluster
  const narration = await readNarration(cluster, patienceMs)
  const sent = [...cluster.broadcasts]
  const histories = [...database.lost, await readAudit(database.url())]
  const all = { events: allEvents(histories) }
  const { shared, violations: nonces } = sharedNonces(all, sent)
  const told = judgeNarration(narration.due, narration.told, {
    deaths: narratorDeaths(all, deaths),
    losses: database.lost.length,
    later: narration.later,
  })
  const takes = all.events.filter(({ table, kind }) => table === 'leases' && kind !== 'delete')
  return {
    figures: {
      /** Processes of servers that ended without a request. */
      deaths: deaths.length,
      /** How often each lease was taken. */
      terms: count(takes.map(({ id }) => id.split(':')[0] ?? id)),
      /** Changes of rows and leases. */
      rows: all.events.length,
      broadcasts: sent.length,
      /** Nonces under which more than one call was sent. */
      sharedNonces: shared,
      narrated: { events: narration.due.length, missing: told.missing, repeated: told.repeated },
    },
    violations: [
      ...new Set(histories.flatMap(lateRows)),
      ...unsavedBroadcasts(all, sent),
      ...nonces,
      ...told.violations,
    ],
  }
}

/** Strikes with everything that was planned, each at its time, and resolves once all of it is over. */
async function rage(plan: ClusterPlan, around: Surroundings, print: Print): Promise<void> {
  const { cluster, traders, notes, world, reorgs, copies } = around
  const { bench } = cluster.desk
  let stops = 0
  world.begin(plan.world)
  reorgs.begin(plan.reorgs)
  await Promise.all([
    eachAtItsTime(plan.faults, async (fault) => {
      print(`${fault.kind} ${fault.target}, ${fault.forMs} ms, ${fault.link}`)
      await bringAbout(fault, cluster, plan)
    }),
    eachAtItsTime(plan.stops, async ({ step, stopMs }) => {
      const name = `${String(stops++).padStart(4, '0')}-${stopMs > 0 ? 'stopped' : 'killed'}-at-${step}`
      // A rename lets it appear whole or not at all.
      await writeFile(join(bench, name), JSON.stringify({ stopMs }))
      await rename(join(bench, name), join(bench, 'server-acts', name))
    }),
    eachAtItsTime(plan.acts, ({ act }) => notes.order([act])),
    eachAtItsTime(plan.replacements, cluster.replaceEnclave),
    eachAtItsTime(plan.orders, async ({ order }) => traders.begin([order])),
    sleep(plan.lengthMs / 2).then(() => copyLast(traders, copies)),
    sleep(plan.lengthMs),
  ])
  await calm(around)
}

async function eachAtItsTime<T extends { readonly atMs: number }>(
  planned: readonly T[],
  strike: (one: T) => Promise<void>,
): Promise<void> {
  await Promise.all(planned.map((one) => sleep(one.atMs).then(() => strike(one))))
}

/** Ends every fault. */
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
    const client = clients[planned.trader]
    if (!forgotten.includes(orderId) || client === undefined) continue
    // The traders' clients give up after two attempts.
    await eventually('a forgotten order is taken again', () =>
      client.submitOrder(sealed).then(() => true, refusedForGood),
    )
  }
  return forgotten
}

function refusedForGood(error: unknown): false {
  if (error instanceof TradingError && error.retryable) return false
  throw error
}

const idsSchema = z.array(z.object({ tbl: z.string(), id: z.string() }))

/** Rows that are open once all has ended. Junk without an escrow waits until it expires. */
async function findLeftovers(database: ClusterDatabase, { placed }: Traders): Promise<string[]> {
  const rows = await ask(
    database.url(),
    `SELECT 'orders' AS tbl, id FROM orders WHERE is_open
     UNION ALL SELECT 'relays', id FROM relays WHERE is_open
     UNION ALL SELECT 'cancels', id FROM cancels WHERE is_open
     UNION ALL SELECT 'runs', id FROM runs WHERE is_open AND unique_key IS NOT NULL`,
  )
  return idsSchema
    .parse(rows)
    .filter(({ tbl, id }) => tbl !== 'orders' || [...placed.keys()].some((orderId) => id.includes(orderId)))
    .map(({ tbl, id }) => `${tbl} ${id} is left`)
}
