import { setTimeout as sleep } from 'node:timers/promises'
import { findDisagreements } from '../../e2e/support/invariants.js'
import { startHostileClient } from '../engine/hostileClient.js'
import { lookUntilNone, type Print, runStorm } from '../engine/storm.js'
import { findLostCancels } from './cancels.js'
import { type Balances, readBalances, takeCensus } from './census.js'
import { type Copies, createCopies } from './copies.js'
import { createFullDisk } from './fullDisk.js'
import { findLeftovers } from './leftovers.js'
import { createOrderLives } from './lives.js'
import { createDeaths, createNotes, RESTART_BOUND_MS } from './notes.js'
import { countOpenings, findOpeningFaults } from './openings.js'
import type { OrderPlan } from './plan.js'
import { benchIn, startPlatform } from './platform.js'
import { createReorganizations } from './reorganizations.js'
import { countOrders, createTraders, type Traders } from './traders.js'
import { createWorld } from './world.js'

export interface OrderStormOptions {
  readonly plan: OrderPlan
  /** Keeps everything: the server's data and log, and the notes of the processes. */
  readonly directory: string
  readonly print?: Print
  /** Whether the data directory may be a file system of its own, which takes the right to mount one. */
  readonly mayMount?: boolean
  /** Further variables of every server. */
  readonly variables?: Record<string, string>
  /** How long no order may end in calm. Default: the stall bound. */
  readonly patienceMs?: number
  /** How long a life of the server waits for its kill. Default: the engine's limit. */
  readonly lifeLimitMs?: number
  /** How many further starts a life tries when its server gives up. Default: as many as a full disk may spoil. */
  readonly starts?: number
}

/**
 * The longest that no order may end after the last fault. A run whose enclave does not answer counts as under way until
 * thirty seconds after its end (120 s). Then it begins again. The rest is for a machine that others use.
 */
const STALL_BOUND_MS = 180_000

/**
 * The same for the long form. The enclave repeats an action after half of the time since its first try, at most after a
 * quarter of an hour. A clock that is set ahead by an hour makes that time long. One minute is for the run.
 */
export const LONG_STALL_BOUND_MS = 16 * 60_000

/** How long records and processes of ended orders may stay after the last order's end. */
const LEFTOVER_BOUND_MS = 15_000

/** A life begins with its orders when all but so many of the earlier ones have ended, or after this long. */
const BACKLOG = 6
const BACKLOG_LIMIT_MS = 20_000
const LOOK_MS = 100

/** Runs the plan against real server and enclave processes on a real chain. Needs `npm run build`. */
export async function runOrderStorm(options: OrderStormOptions) {
  return runStorm(workloadOf(await surround(options), options))
}

type Surroundings = Awaited<ReturnType<typeof surround>>

/** Builds the platform, its traders, and everything that goes wrong around them. */
async function surround(options: OrderStormOptions) {
  const { plan, directory, variables, mayMount = false, print = () => undefined } = options
  const { lifeLimitMs: limitMs, starts } = options
  const notes = createNotes(benchIn(directory))
  const deaths = createDeaths(notes)
  const platform = await startPlatform({ directory, variables, heard: deaths.heard })
  const disk = await createFullDisk(platform.dataDir, `${platform.bench}/full`, mayMount)
  const traders = createTraders(platform)
  const copies = createCopies(platform)
  return {
    ...{ platform, disk, traders, notes, deaths, copies, print },
    lives: createOrderLives({ platform, traders, notes, disk, print, limitMs, starts }),
    reorgs: createReorganizations(platform, traders),
    world: createWorld(platform, disk, notes),
    hostile: startHostileClient({ url: platform.server.url, seed: plan.seed, copies: copies.bodies }),
  }
}

function workloadOf(around: Surroundings, { plan, patienceMs = STALL_BOUND_MS }: OrderStormOptions) {
  const { platform, disk, traders, notes, deaths, lives, reorgs, copies, hostile, world } = around
  const leftoverMs = Math.min(patienceMs, LEFTOVER_BOUND_MS)
  let before: Balances = new Map()
  return {
    seed: plan.seed,
    hostile,
    async rage() {
      await copies.clear()
      before = await readBalances(platform)
      await rage(plan, around)
    },
    async settle() {
      const unsettled = await settle(around, patienceMs)
      await hostile.stop()
      return unsettled
    },
    async judge() {
      const unended = await lookUntilNone(Math.min(patienceMs, RESTART_BOUND_MS), () =>
        deaths.unended(platform.server.uptimes()),
      )
      const { violations: late, figures: enclave } = await deaths.judge(platform.server.uptimes())
      const [lost, left] = await Promise.all([
        lookUntilNone(leftoverMs, () => findLostCancels(traders, notes)),
        lookUntilNone(leftoverMs, () => findLeftovers(platform, traders)),
      ])
      const violations = [
        ...unended,
        ...late,
        ...(await takeCensus(platform, traders, before)),
        ...(await findDisagreements(platform)).map((found) => JSON.stringify(found)),
        ...(await copies.faults()),
        ...(await findOpeningFaults(platform, traders)),
        ...lost,
        ...left,
        ...(await notes.overlaps()),
        ...lives.violations(),
      ]
      const figures = {
        orders: countOrders(traders),
        openings: countOpenings(traders),
        kills: lives.kills,
        unreached: lives.unreached(),
        spoilt: lives.spoilt(),
        copies: copies.ids().size,
        disk: disk.kind,
        /** Runs that the enclave accepted. */
        runs: notes.runs('started'),
        enclave,
      }
      return { figures, violations }
    },
    struck: async () => ({ ...(await notes.struck()), ...world.struck(), ...reorgs.struck() }),
    async stop() {
      await traders.stop()
      await platform.stop()
      await disk.remove()
    },
  }
}

/** One life of the server after the other, under faults. The last server works on in calm. */
async function rage(plan: OrderPlan, around: Surroundings): Promise<void> {
  const { platform, traders, lives, notes, reorgs, copies, world, print } = around
  for (const life of plan.lives) {
    print(`${traders.open()} orders open`)
    await lives.live(life, async () => {
      await catchUp(around)
      await notes.order(life.acts)
      world.begin(life.world)
      reorgs.begin(life.reorgs)
      traders.begin(life.orders)
      copyLast(traders, copies)
    })
  }
  print(`the last life, ${traders.open()} orders open`)
  traders.begin(plan.last)
  await platform.server.start()
  await Promise.all([world.calm(), reorgs.calm()])
}

/** Another wallet copies the newest order. */
export function copyLast(traders: Traders, copies: Copies): void {
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
 * Waits in calm until every order has ended by itself.
 * @param patienceMs how long none may end
 * @param isExcused whether a known cause explains a longer wait
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
