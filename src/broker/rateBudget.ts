import { type Answer, type Clocks, createRateLimit, type Purpose } from './rateLimit.js'

/** A placement that was told when to ask again is waited for so long after that. */
const LATE_MS = 15_000

const PURPOSES: readonly Purpose[] = ['cancel', 'place', 'awaited', 'other']

/** Which of several placements goes first: the one whose escrow is the oldest. */
export interface PlacementTurn {
  readonly orderId: string
  /** Where the order's escrow stands among all, such as its block and index in one number. */
  readonly openedAt: bigint | number
}

/** The right to send one request. Exactly one of its methods is called, once. */
export interface Token {
  /** The request was sent: with the answer's status and headers, or without where none came. */
  spent(answer?: Answer): void
  /** The request was not sent. */
  release(): void
}

interface Waiter {
  readonly turn: PlacementTurn | undefined
  grant(): void
}

/**
 * A bucket of tokens, one for each request to one host of the broker. The broker's answers fill it.
 *
 * @example
 * const token = await budget.take({ purpose: 'awaited', withinMs: 10_000 })
 * if (token === null) throw new BrokerError('rate-limited', …)
 */
export function createRateBudget(clocks: Partial<Clocks> = {}) {
  const { now = () => performance.now(), unixNow = Date.now } = clocks
  const limit = createRateLimit({ now, unixNow })
  const line = createLine(now)
  let wake: NodeJS.Timeout | undefined
  const queues = {
    cancel: createQueue(),
    place: createQueue(),
    awaited: createQueue(),
    other: createQueue(),
  }

  function grant(): Token {
    limit.begin()
    let isOver = false
    const end = (sent: Parameters<typeof limit.end>[0]) => {
      if (isOver) return
      isOver = true
      limit.end(sent)
      pump()
    }
    return { spent: (answer) => end({ answer }), release: () => end('unsent') }
  }

  /** Hands out what there is, and looks again when time alone may bring more. */
  function pump(): void {
    for (const purpose of PURPOSES) {
      const queue = queues[purpose]
      for (let first = queue.first(); first !== undefined; first = queue.first()) {
        if (!limit.allows(purpose, line.dueBefore(first.turn))) break
        queue.remove(first)
        first.grant()
      }
    }
    clearTimeout(wake)
    const isAsked = PURPOSES.some((purpose) => queues[purpose].size() > 0)
    const next = isAsked ? earlier(limit.nextChange(), line.nextChange()) : undefined
    if (next !== undefined) wake = setTimeout(pump, Math.max(1, Math.ceil(next - now())))
  }

  function wait(purpose: Purpose, turn: PlacementTurn | undefined, withinMs: number): Promise<Token | null> {
    const queue = queues[purpose]
    const granted = () => {
      if (turn) line.leave(turn)
      return grant()
    }
    const due = line.dueBefore(turn)
    if (queue.first() === undefined && limit.allows(purpose, due)) return Promise.resolve(granted())
    const ahead = PURPOSES.slice(0, PURPOSES.indexOf(purpose) + 1)
      .map((each) => queues[each].size())
      .reduce((sum, count) => sum + count, due)
    if (withinMs <= 0 || !limit.isNear(purpose, withinMs, ahead)) return Promise.resolve(null)
    return new Promise((resolve) => {
      const waiter: Waiter = {
        turn,
        grant: () => {
          clearTimeout(timer)
          resolve(granted())
        },
      }
      const timer = setTimeout(() => {
        queue.remove(waiter)
        resolve(null)
      }, withinMs)
      queue.add(waiter)
      pump()
    })
  }

  return {
    /**
     * A token at its turn; null when it would take longer than `withinMs`, as far as can be foreseen at once.
     * Requests for one purpose go in the order of asking; placements go by their escrows, see {@link PlacementTurn}.
     */
    async take(
      ask:
        | { readonly purpose: 'place'; readonly turn: PlacementTurn; readonly withinMs: number }
        | { readonly purpose: Exclude<Purpose, 'place'>; readonly withinMs: number },
    ): Promise<Token | null> {
      const { purpose, withinMs } = ask
      return wait(purpose, ask.purpose === 'place' ? ask.turn : undefined, withinMs)
    },
    isScarce: limit.isScarce,
    resetAt: limit.resetAt,
    /**
     * When a placement that got no token should ask again, Unix ms, and how many older ones will. They are spread over the coming windows,
     * the oldest first, and each finds room there: younger ones get no token that one of them is due for.
     */
    defer(turn: PlacementTurn): { readonly until: number; readonly ahead: number } {
      const ahead = line.before(turn)
      const until = limit.roomAt(ahead)
      line.join(turn, until)
      return { until: unixNow() + until - now(), ahead }
    },
  }
}

export type RateBudget = ReturnType<typeof createRateBudget>

/** Placements go by their escrows, other requests in the order of asking. */
function createQueue() {
  const waiting = new Set<Waiter>()
  return {
    add: (waiter: Waiter) => waiting.add(waiter),
    remove: (waiter: Waiter) => waiting.delete(waiter),
    /** The one whose turn it is. */
    first(): Waiter | undefined {
      let first: Waiter | undefined
      for (const each of waiting) if (first === undefined || isOlder(each.turn, first.turn)) first = each
      return first
    },
    size: () => waiting.size,
  }
}

/** Placements that are to ask again, for a moment after that time. */
function createLine(now: () => number) {
  type Place = { readonly until: number; readonly turn: PlacementTurn }
  const places = new Map<string, Place>()
  const isOver = ({ until }: Place) => until + LATE_MS <= now()
  function older(turn: PlacementTurn | undefined): Place[] {
    for (const [id, place] of places) if (isOver(place)) places.delete(id)
    return [...places.values()].filter((place) => turn !== undefined && isOlder(place.turn, turn))
  }
  return {
    join: (turn: PlacementTurn, until: number) => places.set(turn.orderId, { until, turn }),
    leave: ({ orderId }: PlacementTurn) => places.delete(orderId),
    before: (turn: PlacementTurn) => older(turn).length,
    /** Older ones whose time has come. */
    dueBefore: (turn: PlacementTurn | undefined) => older(turn).filter(({ until }) => until <= now()).length,
    /** Monotonic ms at which one of those is waited for no longer. */
    nextChange: () => [...places.values()].map(({ until }) => until + LATE_MS).reduce(earlier, undefined),
  }
}

function isOlder(one: PlacementTurn | undefined, other: PlacementTurn | undefined): boolean {
  return (one?.openedAt ?? 0) < (other?.openedAt ?? 0)
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}
