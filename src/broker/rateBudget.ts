import { type Answer, type Clocks, createRateLimit, type Purpose } from './rateLimit.js'

const PURPOSES: readonly Purpose[] = ['cancel', 'place', 'awaited', 'other']

/** Which of several waiting placements goes first. */
export interface PlacementTurn {
  readonly account: string
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
  /** Tokens that it takes at once. */
  readonly requests: number
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
        if (!limit.allows(purpose, first.requests)) break
        queue.serve(first)
        first.grant()
      }
    }
    clearTimeout(wake)
    const isAsked = PURPOSES.some((purpose) => queues[purpose].requests() > 0)
    const next = isAsked ? limit.nextChange() : undefined
    if (next !== undefined) wake = setTimeout(pump, Math.max(1, Math.ceil(next - now())))
  }

  /** Resolves with whether its turn came in time: then it has so many tokens. */
  function wait(
    purpose: Purpose,
    { turn, requests, withinMs }: Pick<Waiter, 'turn' | 'requests'> & { readonly withinMs: number },
  ): Promise<Token[] | null> {
    const queue = queues[purpose]
    const tokens = () => Array.from({ length: requests }, grant)
    if (queue.first() === undefined && limit.allows(purpose, requests)) return Promise.resolve(tokens())
    const ahead = PURPOSES.slice(0, PURPOSES.indexOf(purpose) + 1)
      .map((each) => queues[each].requests())
      .reduce((sum, count) => sum + count, 0)
    if (withinMs <= 0 || !limit.isNear(purpose, withinMs, requests, ahead)) return Promise.resolve(null)
    return new Promise((resolve) => {
      const waiter: Waiter = {
        turn,
        requests,
        grant: () => {
          clearTimeout(timer)
          resolve(tokens())
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
     * Requests for one purpose go in the order of asking; placements go by account, see {@link PlacementTurn}.
     */
    async take(
      ask:
        | { readonly purpose: 'place'; readonly turn: PlacementTurn; readonly withinMs: number }
        | { readonly purpose: Exclude<Purpose, 'place'>; readonly withinMs: number },
    ): Promise<Token | null> {
      const { purpose, withinMs } = ask
      const turn = ask.purpose === 'place' ? ask.turn : undefined
      const [token] = (await wait(purpose, { turn, requests: 1, withinMs })) ?? []
      return token ?? null
    },
    /**
     * The same for a placement whose order is looked up first: both tokens at one turn. Placements that had theirs alone could use up what
     * their own look-ups wait for.
     */
    async takeBoth({
      turn,
      withinMs,
    }: {
      readonly turn: PlacementTurn
      readonly withinMs: number
    }): Promise<{ readonly lookUp: Token; readonly place: Token } | null> {
      const [lookUp, place] = (await wait('place', { turn, requests: 2, withinMs })) ?? []
      return lookUp && place ? { lookUp, place } : null
    },
    isScarce: limit.isScarce,
    resetAt: limit.resetAt,
    deferUntil: limit.deferUntil,
  }
}

export type RateBudget = ReturnType<typeof createRateBudget>

/**
 * The account that was served least recently goes first, of several the one with the oldest escrow; within an account the
 * oldest escrow. Requests without a turn go in the order of asking. Turns are remembered while accounts wait.
 */
function createQueue() {
  const waiting = new Set<Waiter>()
  const served = new Map<string, number>()
  let turns = 0
  const turnOf = ({ turn }: Waiter) => (turn === undefined ? 0 : (served.get(turn.account) ?? 0))
  const isBefore = (one: Waiter, other: Waiter) =>
    turnOf(one) !== turnOf(other)
      ? turnOf(one) < turnOf(other)
      : (one.turn?.openedAt ?? 0) < (other.turn?.openedAt ?? 0)
  const remove = (waiter: Waiter) => {
    waiting.delete(waiter)
    if (waiting.size === 0) served.clear()
  }
  return {
    add: (waiter: Waiter) => waiting.add(waiter),
    remove,
    /** The one whose turn it is. */
    first(): Waiter | undefined {
      let first: Waiter | undefined
      for (const each of waiting) if (first === undefined || isBefore(each, first)) first = each
      return first
    },
    /** Takes it out. */
    serve(waiter: Waiter): void {
      turns += 1
      if (waiter.turn !== undefined) served.set(waiter.turn.account, turns)
      remove(waiter)
    },
    /** Tokens that all of them take. */
    requests: () => [...waiting].reduce((sum, { requests }) => sum + requests, 0),
  }
}
