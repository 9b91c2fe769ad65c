import type { OrderRequest } from '../../../src/client/index.js'
import { ONE_USDC } from '../../../src/protocol/units.js'
import { type PlannedKill, TIMED_KILLS } from '../engine/lives.js'
import { createRandom, type Random } from '../engine/random.js'
import type { PlannedFault } from '../nodes/plan.js'

/** Moments at which the server is killed, beside those by the clock. */
export const KILLS = [
  /** At any step of its stores: a read, a statement, before a commit or after it. */
  'store',
  /** When an order has just been answered with 202. */
  'answered',
  /** When a run of the enclave has just begun, or has just ended. */
  'run-started',
  'run-ended',
  ...TIMED_KILLS,
] as const
/**
 * A plan draws one of {@link KILLS}. `opening-sent` takes the place of `answered` where the life begins with an order that the platform
 * opens: the node forgets the opening as the server is killed, and the next server sends it again. Tests may also wait until the enclave
 * has just been killed.
 */
export type KillKind = (typeof KILLS)[number] | 'opening-sent' | 'enclave-killed'

/** Faults of the stores. */
export const STORE_FAULTS = [
  /** A read fails. */
  'read',
  /** There is no room for a write: its group is refused, and the server goes on. */
  'full',
  /** A commit fails before anything is written, or after all of it is: the server ends. */
  'commit',
  'sync',
] as const
export type StoreFault = (typeof STORE_FAULTS)[number]

/** Moments at which the enclave is killed, or stopped for a while, with every run that it has under way. */
export const ENCLAVE_STEPS = [
  /** A job is on its disk, and the server has no answer yet; then it has. */
  'noted',
  'taken',
  /** A portfolio is on its way to the relay; the relay has answered. */
  'before-write-ahead',
  'after-write-ahead',
  /** Between the look at the chain and the first byte to the broker; the broker has answered. */
  'before-send',
  'after-send',
  /** The same at the relay for a settlement or refund. */
  'before-end',
  'after-end',
  /** A run has its result, and the server has not. */
  'before-result',
  /** By the clock, some time after a job was taken. */
  'later',
] as const
export type EnclaveStep = (typeof ENCLAVE_STEPS)[number]

/** Events around server and enclave. */
export const WORLD_EVENTS = [
  'market-closed',
  /** The clock of server and enclave is set. */
  'clock-ahead',
  'clock-back',
  'disk-full',
  /** A broker that places the order and loses its answer; that never hears of it; that takes its time; that refuses. */
  'broker-lost',
  'broker-cut',
  'broker-slow',
  'broker-limited',
  'broker-failing',
  /** An order that fills late, in two parts, or not at all. */
  'fill-late',
  'fill-partial',
  'fill-rejected',
  /** An order that waits in a status of its own, or ends through one, in part or in full. */
  'order-held',
  'order-suspended',
  'order-stopped',
  'order-calculated',
  'order-done-for-day',
  /** An order that another one, under other ids, carries on after a part of its fill. */
  'order-replaced',
] as const
export type WorldEvent = (typeof WORLD_EVENTS)[number]

/** One order, by which of the employees, and how often its envelope is posted besides. */
export interface PlannedOrder {
  readonly trader: number
  readonly request: Omit<OrderRequest, 'deadline'>
  /**
   * Where the account holds shares once its earlier orders have ended, the order moves all of one equity's instead: out of the portfolio,
   * or back into it.
   */
  readonly moves?: 'shares-out' | 'shares-in'
  readonly repeats: number
  /** Whether the platform opens it, and pays the gas. */
  readonly isSponsored: boolean
  /** When its account cancels it, counted from its acceptance by a server. */
  readonly cancelAfterMs?: number
}

/** Strikes after so many occasions of its kind have passed, for so many in a row. */
export type PlannedStoreFault = Omit<PlannedFault<StoreFault>, 'amount'>

/** A kill of the enclave's process at a step, or a stop for a while. */
export interface PlannedAct {
  readonly step: EnclaveStep
  /** For `later`: counted from the acceptance of a job. */
  readonly afterMs: number
  /** Length of the stop; 0 for a kill. */
  readonly stopMs: number
}

export interface PlannedEvent {
  readonly kind: WorldEvent
  /** From the beginning of the life. */
  readonly afterMs: number
  /** For events that last. */
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
  /** Decides the new place of each transaction. */
  readonly seed: number
}

/** One life of the server: its orders, its faults, and the kill that ends it. */
export interface PlannedLife {
  readonly orders: readonly PlannedOrder[]
  readonly kill: PlannedKill<KillKind>
  readonly store: readonly PlannedStoreFault[]
  readonly acts: readonly PlannedAct[]
  readonly world: readonly PlannedEvent[]
  readonly reorgs: readonly PlannedReorg[]
}

/** Everything that is up to chance. */
export interface OrderPlan {
  readonly seed: number
  readonly lives: readonly PlannedLife[]
  /** Orders to the last server, which no kill ends. */
  readonly last: readonly PlannedOrder[]
}

export interface OrderPlanSize {
  readonly seed: number
  readonly orders: number
  readonly kills: number
  /** How many faults of each sort are planned. The kinds of a sort take turns. */
  readonly faults: {
    readonly store: number
    readonly deaths: number
    readonly stops: number
    readonly world: number
    readonly reorgs: number
  }
}

/** Blocks that a reorganization removes at most: enclave and relay act on deeper ones. */
export const DEEPEST_REORG = 10

const TRADERS = 3
const SYMBOLS = ['AAPL', 'AMZN', 'MSFT', 'NVDA'] as const
/** Above what the institution's rulebook allows for one order. */
const TOO_MUCH = 25_001n * ONE_USDC
const MAX_SEED = 1_000_000_000
/** Longer than a read of the chain stays valid, and than the server's health checks of the enclave are apart. */
const MOST_STOPPED_MS = 12_000
/** The platform opens one order of so many. */
const SPONSORED = 3
/** One order of so many is cancelled, before, during or after its run. Its number decides, so plans of earlier seeds stay. */
const CANCELLED = 4
/** One order of so many deposits USDC. */
const DEPOSITED = 9
/** One order of so many withdraws shares, and a later one of the same account deposits them again. */
const MOVED = 12
const CANCEL_STEP_MS = 377
const MOST_CANCEL_MS = 3_000
/** Steps of the stores for one order, and for a start. */
const STEPS_PER_ORDER = 50

/** Draws a plan. The same arguments always give the same one. */
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
      kill: atOpening(planKill(random, kind, share), work[life * share]),
      store: (store[life] ?? []).map((fault) => planStoreFault(random, fault)),
      acts: acts[life] ?? [],
      world: (world[life] ?? []).map((event) => planEvent(random, event)),
      reorgs: reorgs[life] ?? [],
    })),
    last: work.slice(kills * share),
  }
}

function atOpening(kill: PlannedKill<KillKind>, first: PlannedOrder | undefined): PlannedKill<KillKind> {
  return kill.kind === 'answered' && first?.isSponsored ? { ...kill, kind: 'opening-sent' } : kill
}

/** Gives each to a random life. */
function spread<T>(random: Random, items: readonly T[], lives: number): T[][] {
  const dealt: T[][] = Array.from({ length: lives }, () => [])
  for (const item of items) dealt[random.integer(0, lives - 1)]?.push(item)
  return dealt
}

function planOrder(random: Random, index: number): PlannedOrder {
  const trader = index % TRADERS
  const isSponsored = index % SPONSORED === 2
  const drawn = planRequest(random)
  const isDeposit = index % DEPOSITED === 4
  const request = isDeposit ? ({ side: 'DEPOSIT', symbol: 'USDC', maxSpend: drawn.maxSpend } as const) : drawn
  const moves = movesOf(index)
  const repeats = random.pick([0, 0, 0, 1, 3])
  const order = { trader, request, ...(moves && { moves }), repeats, isSponsored }
  // Every second withdrawal of shares is left alone, the first included: a short storm has no other.
  const isLeftAlone = moves !== undefined && index % (2 * MOVED) < MOVED
  if (index % CANCELLED !== 1 || isLeftAlone) return order
  return { ...order, cancelAfterMs: (index * CANCEL_STEP_MS) % MOST_CANCEL_MS }
}

/** Both are the first trader's, and its wallet opens them. Several purchases come before the first: one may be refused. */
function movesOf(index: number): PlannedOrder['moves'] {
  if (index % MOVED === 9) return 'shares-out'
  return index % MOVED === 0 && index > 0 ? 'shares-in' : undefined
}

/** Mostly buys from the wallet; sales, withdrawals and buys from cash, which may be refused; and one that must be. */
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

function planKill(random: Random, kind: KillKind, orders: number): PlannedKill<KillKind> {
  const most = kind === 'store' ? orders * STEPS_PER_ORDER : orders
  const afterMs = kind === 'starting' ? random.integer(200, 1_500) : random.integer(500, 6_000)
  return { kind, nth: random.integer(1, Math.max(1, most)), afterMs }
}

/** Half of them strike during the start. */
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

/** Seconds: as few as a run takes, or hours, which no order may wait for. */
function planStep(random: Random): number {
  return random.chance(0.5) ? random.integer(5, 90) : random.integer(3_600, 7_200)
}

function planEvent(random: Random, kind: WorldEvent): PlannedEvent {
  const afterMs = random.integer(0, 3_000)
  const amount = kind.startsWith('clock') ? planStep(random) : random.integer(200, 1_500)
  return { kind, afterMs, forMs: random.integer(1_000, 5_000), amount }
}
