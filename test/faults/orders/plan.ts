import type { OrderRequest } from '../../../src/client/index.js'
import { ONE_USDC } from '../../../src/protocol/units.js'
import { createRandom, type Random } from '../support/random.js'
import {
  ENCLAVE_STEPS,
  type EnclaveStep,
  KILLS,
  type KillKind,
  STORE_FAULTS,
  type StoreFault,
  WORLD_EVENTS,
  type WorldEvent,
} from './kinds.js'
import { DEEPEST_REORG } from './settings.js'

/** One order, by which of the employees, and how often its envelope is posted besides. */
export interface PlannedOrder {
  readonly trader: number
  readonly request: Omit<OrderRequest, 'deadline'>
  readonly repeats: number
}

/** What ends a life of the server: at the nth occasion of its kind, or by the clock. */
export interface PlannedKill {
  readonly kind: KillKind
  readonly nth: number
  readonly afterMs: number
}

/** Strikes after so many occasions of its kind have passed, for so many in a row. */
export interface PlannedStoreFault {
  readonly kind: StoreFault
  readonly after: number
  readonly times: number
}

/** The end of the enclave's process at a step, or its standing still. The server starts it again, or it goes on. */
export interface PlannedAct {
  readonly step: EnclaveStep
  /** For `later`: from when a job was taken. */
  readonly afterMs: number
  /** How long it stands still; 0: it is killed. */
  readonly stopMs: number
}

export interface PlannedEvent {
  readonly kind: WorldEvent
  /** From the beginning of the life. */
  readonly afterMs: number
  /** For what begins and ends. */
  readonly forMs: number
  /** Seconds of a clock's step, milliseconds of a delay. */
  readonly amount: number
}

/** A reorganization: transactions come back in another order, or later, or others stand in their place. */
export interface PlannedReorg {
  /** From the beginning of the life. */
  readonly afterMs: number
  /** Blocks that it removes. */
  readonly depth: number
  /** Decides which transactions come back where. */
  readonly seed: number
}

/** One life of the server: what is ordered, what goes wrong, and what ends it. */
export interface PlannedLife {
  readonly orders: readonly PlannedOrder[]
  readonly kill: PlannedKill
  readonly store: readonly PlannedStoreFault[]
  readonly acts: readonly PlannedAct[]
  readonly world: readonly PlannedEvent[]
  readonly reorgs: readonly PlannedReorg[]
}

/** Everything that is up to chance. */
export interface OrderPlan {
  readonly seed: number
  readonly lives: readonly PlannedLife[]
  /** What is ordered of the last server, which nobody kills. */
  readonly last: readonly PlannedOrder[]
}

export interface OrderPlanSize {
  readonly seed: number
  readonly orders: number
  readonly kills: number
  /** How many of each sort of fault are planned: all of its kinds take their turns. */
  readonly faults: {
    readonly store: number
    readonly deaths: number
    readonly stops: number
    readonly world: number
    readonly reorgs: number
  }
}

const TRADERS = 3
const SYMBOLS = ['AAPL', 'AMZN', 'MSFT', 'NVDA'] as const
/** Above what the institution's rulebook allows for one order. */
const TOO_MUCH = 25_001n * ONE_USDC
const MAX_SEED = 1_000_000_000
/** Longer than a look at the chain counts, and than the server asks the enclave for its health. */
const MOST_STOPPED_MS = 12_000
/** Steps of the stores that one order brings about, and a start. */
const STEPS_PER_ORDER = 50

/** The same for the same arguments, always. */
export function createOrderPlan({ seed, orders, kills, faults }: OrderPlanSize): OrderPlan {
  const random = createRandom(seed)
  const kinds = random.deal(KILLS, kills)
  const work = Array.from({ length: orders }, (_, index) => planOrder(random, index))
  const share = Math.floor(orders / (kills + 1))
  const ends = [
    ...random.deal(ENCLAVE_STEPS, faults.deaths).map((step) => planAct(random, step)),
    ...random.deal(ENCLAVE_STEPS, faults.stops).map((step) => planAct(random, step, MOST_STOPPED_MS)),
  ]
  const store = spread(random, random.deal(STORE_FAULTS, faults.store), kills)
  const acts = spread(random, random.shuffled(ends), kills)
  const world = spread(random, random.deal(WORLD_EVENTS, faults.world), kills)
  const reorgs = spread(
    random,
    Array.from({ length: faults.reorgs }, () => planReorg(random)),
    kills,
  )
  return {
    seed,
    lives: kinds.map((kind, life) => ({
      orders: work.slice(life * share, (life + 1) * share),
      kill: planKill(random, kind, share),
      store: (store[life] ?? []).map((fault) => planStoreFault(random, fault)),
      acts: acts[life] ?? [],
      world: (world[life] ?? []).map((event) => planEvent(random, event)),
      reorgs: reorgs[life] ?? [],
    })),
    last: work.slice(kills * share),
  }
}

/** Each to a chance life. */
function spread<T>(random: Random, items: readonly T[], lives: number): T[][] {
  const dealt: T[][] = Array.from({ length: lives }, () => [])
  for (const item of items) dealt[random.integer(0, lives - 1)]?.push(item)
  return dealt
}

function planOrder(random: Random, index: number): PlannedOrder {
  const trader = index % TRADERS
  return { trader, request: planRequest(random), repeats: random.pick([0, 0, 0, 1, 3]) }
}

/** Mostly buys from the wallet; sales, withdrawals and buys from cash, which may be refused; and one that has to be. */
function planRequest(random: Random): PlannedOrder['request'] {
  const symbol = random.pick(SYMBOLS)
  const maxSpend = BigInt(random.integer(2_000_000, 60_000_000))
  const percent = random.integer(1, 100)
  if (percent <= 4) return { side: 'BUY', symbol, maxSpend: TOO_MUCH, payFrom: 'cash' }
  if (percent <= 20) return { side: 'SELL', symbol, maxSpend: maxSpend / 2n }
  if (percent <= 28) return { side: 'WITHDRAW', symbol: 'USDC', maxSpend: maxSpend / 4n }
  if (percent <= 34) return { side: 'BUY', symbol, maxSpend: maxSpend / 4n, payFrom: 'cash' }
  return { side: 'BUY', symbol, maxSpend }
}

function planKill(random: Random, kind: KillKind, orders: number): PlannedKill {
  const most = kind === 'store' ? orders * STEPS_PER_ORDER : orders
  const afterMs = kind === 'starting' ? random.integer(200, 1_500) : random.integer(500, 6_000)
  return { kind, nth: random.integer(1, Math.max(1, most)), afterMs }
}

/** Half of them within the start. */
function planStoreFault(random: Random, kind: StoreFault): PlannedStoreFault {
  return { kind, after: random.integer(0, random.chance(0.5) ? 8 : 60), times: random.integer(1, 3) }
}

function planAct(random: Random, step: EnclaveStep, mostStoppedMs = 0): PlannedAct {
  const stopMs = mostStoppedMs > 0 ? random.integer(1_000, mostStoppedMs) : 0
  return { step, afterMs: random.integer(300, 3_000), stopMs }
}

function planReorg(random: Random): PlannedReorg {
  return {
    afterMs: random.integer(500, 8_000),
    depth: random.integer(1, DEEPEST_REORG),
    seed: random.integer(1, MAX_SEED),
  }
}

/** Seconds: as little as a run takes, or hours, which nothing may wait for. */
function planStep(random: Random): number {
  return random.chance(0.5) ? random.integer(5, 90) : random.integer(3_600, 7_200)
}

function planEvent(random: Random, kind: WorldEvent): PlannedEvent {
  const afterMs = random.integer(0, 3_000)
  const amount = kind.startsWith('clock') ? planStep(random) : random.integer(200, 1_500)
  return { kind, afterMs, forMs: random.integer(1_000, 5_000), amount }
}
