import { setTimeout as sleep } from 'node:timers/promises'
import { findDisagreements } from '../../e2e/support/invariants.js'
import { startHostileClient } from '../support/hostileClient.js'
import { type Balances, readBalances, takeCensus } from './census.js'
import { type Copies, createCopies } from './copies.js'
import { createDeaths, type Deaths } from './deaths.js'
import { createFullDisk, type FullDisk } from './fullDisk.js'
import { findLeftovers } from './leftovers.js'
import { createLives } from './lives.js'
import type { OrderPlan } from './plan.js'
import { benchIn, type Platform, startPlatform } from './platform.js'
import { createReorganizations } from './reorganizations.js'
import { BACKLOG, BACKLOG_LIMIT_MS, LEFTOVER_BOUND_MS, STALL_BOUND_MS } from './settings.js'
import { countOrders, createTraders, type Traders } from './traders.js'
import { createWord, type Word } from './word.js'
import { createWorld } from './world.js'

export interface OrderBenchOptions {
  readonly plan: OrderPlan
  /** Where everything is kept: the server's data and log, and what the processes left word of. */
  readonly directory: string
  readonly print: (line: string) => void
  /** Whether the data directory may be a file system of its own, which takes the right to mount one. */
  readonly mayMount: boolean
  /** Further variables of every server. */
  readonly variables?: Record<string, string>
  /** How long no order may end when nothing goes wrong any more. Default: the stall bound. */
  readonly patienceMs?: number
}

/** What a run has shown. */
export interface OrderReport {
  readonly seed: number
  /** Orders whose escrow was opened, how many of them were taken with 202, and how they ended. */
  readonly orders: Record<'placed' | 'accepted' | 'settled' | 'refunded', number>
  /** By kind: how often the server was killed there. */
  readonly kills: Record<string, number>
  readonly unreached: number
  readonly spoilt: number
  /** By kind: how often each fault came about. */
  readonly struck: Record<string, number>
  /** Answers to the hostile client by status, and how many orders it copied. */
  readonly hostile: Record<string, number>
  /** What was filled up. */
  readonly disk: string
  /** Runs that the enclave took. */
  readonly runs: number
  /** How often it was killed, and what came of the runs that it had under way. */
  readonly enclave: Record<'deaths' | 'cutOff' | 'restarted' | 'medianMs' | 'slowestMs', number>
  readonly settledAfterSeconds: number
  readonly seconds: number
  /** Everything that must not be. */
  readonly violations: readonly string[]
}

const LOOK_MS = 100
const MS_PER_SECOND = 1_000

/** Runs the plan against real server and enclave processes on a real chain, and looks at what is left. Needs `npm run build`. */
export async function runOrderBench(options: OrderBenchOptions): Promise<OrderReport> {
  const { directory, variables } = options
  const word = createWord(benchIn(directory))
  const deaths = createDeaths(word)
  const platform = await startPlatform({ directory, variables, heard: deaths.heard })
  const disk = await createFullDisk(platform.dataDir, `${platform.bench}/full`, options.mayMount)
  const around = surround(platform, { disk, word, deaths }, options.plan)
  try {
    await around.copies.clear()
    return await run(options, around, await readBalances(platform))
  } finally {
    await Promise.all([around.traders.stop(), around.hostile.stop()])
    await platform.stop()
    await disk.remove()
  }
}

type Surroundings = ReturnType<typeof surround>

function surround(
  platform: Platform,
  { disk, word, deaths }: { disk: FullDisk; word: Word; deaths: Deaths },
  plan: OrderPlan,
) {
  const traders = createTraders(platform)
  const lives = createLives(platform.server, traders, word, disk)
  const copies = createCopies(platform)
  return {
    platform,
    disk,
    traders,
    word,
    deaths,
    lives,
    copies,
    reorgs: createReorganizations(platform, traders),
    world: createWorld(platform, disk),
    hostile: startHostileClient({ url: platform.server.url, seed: plan.seed, copies: copies.bodies }),
  }
}

async function run(
  { plan, print, patienceMs = STALL_BOUND_MS }: OrderBenchOptions,
  around: Surroundings,
  before: Balances,
): Promise<OrderReport> {
  const { platform, disk, traders, word, deaths, lives, reorgs, copies, hostile, world } = around
  const startedAt = performance.now()
  await storm(plan, around, print)
  const calmAt = performance.now()
  const unsettled = await settle(around, patienceMs)
  await hostile.stop()
  const settledAt = performance.now()
  const { violations: late, ...enclave } = await deaths.judge(platform.server.uptimes())
  const violations = [
    ...unsettled,
    ...late,
    ...(await takeCensus(platform, traders, before)),
    ...(await findDisagreements(platform)).map((found) => JSON.stringify(found)),
    ...(await copies.faults()),
    ...hostile.faults(),
    ...(await findLeftovers(platform, traders, Math.min(patienceMs, LEFTOVER_BOUND_MS))),
    ...(await word.overlaps()),
    ...(lives.unstarted() > 0 ? [`in ${lives.unstarted()} lives no server could start`] : []),
    ...platform.server.gaveUp
      .filter((_, index) => !lives.spoilt.has(index))
      .map((code) => `a server ended by itself, with ${code}`),
  ]
  return {
    seed: plan.seed,
    orders: countOrders(traders),
    kills: lives.kills,
    unreached: lives.unreached(),
    spoilt: lives.spoilt.size,
    struck: { ...(await word.struck()), ...world.struck(), ...reorgs.struck() },
    hostile: { ...hostile.answered(), copies: copies.ids().size },
    disk: disk.kind,
    runs: word.runs('started'),
    enclave,
    settledAfterSeconds: Math.round((settledAt - calmAt) / MS_PER_SECOND),
    seconds: Math.round((performance.now() - startedAt) / MS_PER_SECOND),
    violations,
  }
}

/** One life of the server after the other, while things go wrong. It is over when the last server works on in calm. */
async function storm(plan: OrderPlan, around: Surroundings, print: (line: string) => void): Promise<void> {
  const { platform, traders, lives, reorgs, copies, world } = around
  for (const [index, life] of plan.lives.entries()) {
    const { kill, orders, world: events, acts, reorgs: planned } = life
    print(`life ${index + 1} of ${plan.lives.length}, ${traders.open()} orders open: killed at ${kill.kind}`)
    await lives.live(life, async () => {
      await catchUp(around)
      await world.order(acts)
      world.begin(events)
      reorgs.begin(planned)
      traders.begin(orders)
      copyLast(traders, copies)
    })
  }
  print(`the last life, ${traders.open()} orders open`)
  traders.begin(plan.last)
  await platform.server.start()
  await Promise.all([world.calm(), reorgs.calm()])
}

/** Another wallet copies the order that was placed last. */
function copyLast(traders: Traders, copies: Copies): void {
  const last = [...traders.placed.values()].at(-1)
  // A reorganization may take the copy's opening away.
  if (last !== undefined) copies.copy(last.sealed).catch(() => undefined)
}

/** Lets a life begin with hardly more than its own orders, so that kills strike all of them. */
async function catchUp({ platform: { server }, traders }: Surroundings): Promise<void> {
  const giveUpAt = performance.now() + BACKLOG_LIMIT_MS
  const isBusy = () => server.url() !== undefined && traders.open() > BACKLOG
  while (isBusy() && performance.now() < giveUpAt) await sleep(LOOK_MS)
}

/**
 * Nothing goes wrong any more: whatever was ordered ends by itself, one order after the other.
 * @param isExcused whether something that is known explains a longer wait
 */
export async function settle(
  { traders, copies }: Pick<Surroundings, 'traders' | 'copies'>,
  patienceMs: number,
  isExcused: () => Promise<boolean> = async () => false,
): Promise<string[]> {
  const count = async () => traders.open() + (await copies.open())
  let open = await count()
  let lastEndAt = performance.now()
  while (open > 0 && (performance.now() - lastEndAt < patienceMs || (await isExcused()))) {
    await sleep(LOOK_MS)
    const now = await count()
    if (now < open) lastEndAt = performance.now()
    open = now
  }
  return open === 0
    ? []
    : [`${open} orders do not end: none has for ${patienceMs} ms, and nothing goes wrong`]
}
