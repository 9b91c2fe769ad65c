import type { OrderTerms } from '../../src/client/index.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { createRandom, type Random } from './random.js'

/** Statements and requests of a server, before and after which it is killed or stopped. */
const STATEMENTS = [
  ...['take', 'renew', 'release', 'first-read', 'commit', 'offer'],
  ...['write-orders', 'write-relays', 'write-runs', 'write-state', 'write-cursor'],
] as const
const SERVER_STEPS = [
  ...STATEMENTS.flatMap((statement) => [`before-${statement}`, `after-${statement}`] as const),
  /** An order has been answered with 202; the enclave has been told that the result of its run is stored. */
  ...['order-answered', 'result-answered'],
] as const

/** Everything that goes wrong, by the part that it strikes. The kinds of a part take turns. */
export const FAULTS = {
  /** SIGKILL; again during the start that follows; SIGSTOP and SIGCONT; SIGTERM, as in a rolling upgrade. */
  server: ['killed', 'killed-at-start', 'paused', 'stopped'],
  step: SERVER_STEPS,
  enclave: [
    /** A job is on its disk, and the server has no answer yet; then it has. */
    ...['noted', 'taken'],
    /** A portfolio is on its way to the relay; the relay has answered. */
    ...['before-write-ahead', 'after-write-ahead'],
    /** Between the look at the chain and the first byte to the broker; the broker has answered. */
    ...['before-send', 'after-send'],
    /** The same at the relay for a settlement or refund. */
    ...['before-end', 'after-end'],
    /** A run has its result, and the server has not. */
    'before-result',
    /** Some time after a job was taken. */
    'later',
  ],
  /**
   * The disk of a server with SQLite: a read fails; there is no room for a write; a commit fails before anything is written, or after all of
   * it is; there is no room for a while.
   */
  store: ['read', 'full', 'commit', 'sync', 'full-for-long'],
  /** A crash that ends; no writes; no room; the standby takes its place. */
  database: ['crashed', 'read-only', 'full', 'failed-over'],
  /** Half-open connections; connections that end at once; answers that are lost; delays. */
  link: ['partitioned', 'cut', 'answers-lost', 'delayed'],
  market: ['closed'],
  /** The clock of servers and enclave is set. */
  clock: ['ahead', 'back'],
  broker: [
    /** It places the order and loses its answer; never hears of it; takes its time; refuses. */
    ...['lost', 'cut', 'slow', 'limited', 'failing'],
    /** An order fills late, in two parts, or not at all. */
    ...['fill-late', 'fill-partial', 'fill-rejected'],
    /** An order waits in a status of its own, or ends through one, in part or in full. */
    ...['order-held', 'order-suspended', 'order-stopped', 'order-calculated', 'order-done-for-day'],
    /** Another order, under other ids, carries it on after a part of its fill. */
    'order-replaced',
  ],
  /** The latest blocks are removed, and others stand in their place. */
  blocks: ['reorganized'],
  /** A transaction leaves the pool; the base fee jumps; the key is used elsewhere, under the next nonce or in a transaction's place. */
  chain: ['dropped', 'base-fee', 'outside-next', 'outside-replaces'],
  /** The node forgets an opening that a server has taken and sent, as this server is killed. */
  opening: ['forgotten'],
  /** A node's answer to anything but a transaction. */
  read: [
    ...['cut', 'lost', 'late', 'half-open', 'garbage', 'refused', 'limited'],
    ...['repeated', 'missing', 'reversed', 'empty', 'wrong-type'],
    /** A node that trails. */
    'stale',
  ],
  /** A transaction on its way to the node: `forgotten` is dropped after a good answer. */
  send: ['cut', 'lost', 'late', 'half-open', 'refused', 'twice', 'forgotten'],
  /** One node for a while, while the others are well. */
  spell: ['down', 'trails', 'broken'],
} as const
export type Part = keyof typeof FAULTS
export type KindOf<P extends Part> = (typeof FAULTS)[P][number]

/** Connections with a proxy: a server's to database and enclave, the balancers' to its two ports, the enclave's to its balancer. */
export const LINKS = ['database', 'enclave', 'balancer', 'relay', 'home'] as const
export type Link = (typeof LINKS)[number]
export const LEASES = ['narrator', 'trigger', 'relayer'] as const
export type LeaseKind = (typeof LEASES)[number]

/** One fault at its time. */
export type Fault = { [P in Part]: FaultOf<P> }[Part]
export interface FaultOf<P extends Part> {
  readonly part: P
  readonly kind: KindOf<P>
  /** From the beginning of the storm. */
  readonly atMs: number
  /** For what begins and ends; 0 for a process that is killed and not stopped. */
  readonly forMs: number
  /** Milliseconds, seconds, blocks, nonces, gwei or times, by its kind. */
  readonly amount: number
  /** A server by its number, or the one that holds a lease. */
  readonly target: number | LeaseKind
  readonly link: Link
  /** Decides what a reorganization does. */
  readonly seed: number
}

/** One order, by which of the employees, and how often its envelope is posted besides. */
export interface PlannedOrder {
  readonly atMs: number
  readonly trader: number
  readonly request: OrderTerms
  /** Where the account holds shares once its earlier orders have ended, the order moves all of one equity's instead. */
  readonly moves?: 'shares-out' | 'shares-in'
  readonly repeats: number
  /** Whether the platform opens it, and pays the gas. */
  readonly isSponsored: boolean
  /** When its account cancels it, counted from its acceptance by a server. */
  readonly cancelAfterMs?: number
}

/** Everything that is up to chance. */
export type Plan = ReturnType<typeof createPlan>

interface PlanSize {
  readonly seed: number
  readonly lengthMs: number
  readonly orders: number
  /** How many of each part. */
  readonly faults: Partial<Readonly<Record<Part, number>>>
}

export const SERVERS = 3
/** For which a lease lives. */
export const LEASE_TTL_MS = 2_000
/** Blocks that a reorganization removes at most: enclave and relay act on deeper ones. */
export const DEEPEST_REORG = 10
/** The share of the storm in which orders are placed and faults begin: the last ones are to have their effect in it, too. */
const PLANNED_BY = 0.8
const KILLS = 0.75
const MAX_SEED = 1_000_000_000
const TRADERS = 3
const SYMBOLS = ['AAPL', 'AMZN', 'MSFT', 'NVDA'] as const
/** Above what the institution's rulebook allows for one order. */
const TOO_MUCH = 25_001n * ONE_USDC
/** One order of so many: opened by the platform; cancelled; deposits USDC; withdraws shares, which a later one deposits again. */
const EVERY = { sponsored: 3, cancelled: 4, deposited: 9, moved: 12 }
const CANCEL_STEP_MS = 377
const MOST_CANCEL_MS = 3_000

/** Draws a plan. The same arguments always give the same one. */
export function createPlan({ seed, lengthMs, orders, faults }: PlanSize) {
  const random = createRandom(seed)
  const plannedIn = PLANNED_BY * lengthMs

  function draw<P extends Part>(part: P): FaultOf<P>[] {
    return random.deal<KindOf<P>>(FAULTS[part], faults[part] ?? 0).map((kind) => ({
      part,
      kind,
      atMs: random.integer(0, plannedIn),
      forMs: drawLength(random, part),
      amount: drawAmount(random, part, kind),
      target: random.chance(0.5) ? random.pick(LEASES) : random.integer(0, SERVERS - 1),
      link: random.chance(0.5) ? 'database' : random.pick(LINKS),
      seed: random.integer(1, MAX_SEED),
    }))
  }

  const planned = Array.from(
    { length: orders },
    (_, index): PlannedOrder => ({
      ...planOrder(random, index),
      atMs: Math.floor((index * plannedIn) / orders),
    }),
  )
  const all: Fault[] = [
    ...[...draw('server'), ...draw('step'), ...draw('enclave'), ...draw('store')],
    ...[...draw('database'), ...draw('link')],
    ...[...draw('market'), ...draw('clock'), ...draw('broker'), ...draw('opening')],
    ...[...draw('blocks'), ...draw('chain')],
    ...[...draw('read'), ...draw('send'), ...draw('spell')],
  ]
  return { seed, lengthMs, orders: planned, faults: all }
}

/** Most of what happens at a step is a kill. Pauses take 0.3 to 4 times the lease's length. */
function drawLength(random: Random, part: Part): number {
  const pauses = part === 'step' || part === 'enclave'
  if (pauses && random.chance(KILLS)) return 0
  // Long enough that runs begin and end meanwhile. The enclave does nothing by a clock that is hours ahead of the chain's.
  if (part === 'clock') return random.integer(4 * LEASE_TTL_MS, 10 * LEASE_TTL_MS)
  if (pauses || part === 'server') return random.integer(0.3 * LEASE_TTL_MS, 4 * LEASE_TTL_MS)
  return random.integer(500, 2 * LEASE_TTL_MS)
}

function drawAmount(random: Random, part: Part, kind: Fault['kind']): number {
  const { integer } = random
  switch (part) {
    case 'clock':
      // Seconds, about as many as a run takes.
      return integer(5, 90)
    case 'read':
      return kind === 'late' ? integer(50, 1_500) : integer(1, 5)
    case 'send':
      return integer(100, 2_000)
    case 'spell':
      return integer(1, 15)
    case 'blocks':
      return integer(1, DEEPEST_REORG)
    case 'chain':
      return integer(20, 100)
    case 'link':
      return integer(20, 400)
    default:
      return integer(200, 1_500)
  }
}

function planOrder(random: Random, index: number): Omit<PlannedOrder, 'atMs'> {
  const trader = index % TRADERS
  const isSponsored = index % EVERY.sponsored === 2
  const drawn = planRequest(random)
  const isDeposit = index % EVERY.deposited === 4
  const request = isDeposit ? ({ side: 'DEPOSIT', usdc: drawn.usdc } as const) : drawn
  const moves = movesOf(index)
  const order = {
    trader,
    request,
    ...(moves && { moves }),
    repeats: random.pick([0, 0, 0, 1, 3]),
    isSponsored,
  }
  // Every second withdrawal of shares is left alone, the first included: a short storm has no other.
  const isLeftAlone = moves !== undefined && index % (2 * EVERY.moved) < EVERY.moved
  if (index % EVERY.cancelled !== 1 || isLeftAlone) return order
  return { ...order, cancelAfterMs: (index * CANCEL_STEP_MS) % MOST_CANCEL_MS }
}

/** Both are the first trader's, and its wallet opens them. Several purchases come before the first: one may be refused. */
function movesOf(index: number): PlannedOrder['moves'] {
  if (index % EVERY.moved === 9) return 'shares-out'
  return index % EVERY.moved === 0 && index > 0 ? 'shares-in' : undefined
}

/** Mostly buys from the wallet; sales, withdrawals and buys from cash, which may be refused; and one that must be. */
function planRequest(random: Random): OrderTerms & { readonly usdc: bigint } {
  const symbol = random.pick(SYMBOLS)
  const usdc = BigInt(random.integer(2_000_000, 60_000_000))
  const percent = random.integer(1, 100)
  if (percent <= 4) return { side: 'BUY', symbol, usdc: TOO_MUCH, payFrom: 'cash' }
  if (percent <= 20) return { side: 'SELL', symbol, usdc: usdc / 2n }
  if (percent <= 28) return { side: 'WITHDRAW', usdc: usdc / 4n }
  if (percent <= 34) return { side: 'BUY', symbol, usdc: usdc / 4n, payFrom: 'cash' }
  return { side: 'BUY', symbol, usdc }
}
