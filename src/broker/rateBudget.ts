import type { IncomingHttpHeaders } from 'node:http'
import { statedLimit, untilReset, WINDOW_MS } from './rateHeaders.js'

/** Requests under way at most until an answer states what the window has left. */
const PROBES = 10
/** Placements leave a tenth of the limit at the start of a window; this tenth shrinks to zero until its end. */
const KEPT_PART = 10
/** After a 429 that states no reset, doubled with each in a row. */
const FIRST_PAUSE_MS = 1_000
const TOO_MANY_REQUESTS = 429

/**
 * The purpose of a request. Cancels go first, then placements, then requests that an order waits for (`awaited`), then the rest.
 */
export type Purpose = 'cancel' | 'place' | 'awaited' | 'other'

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
  spent(answer?: { readonly status: number; readonly headers: IncomingHttpHeaders }): void
  /** The request was not sent. */
  release(): void
}

/** The window that is running, as the broker has described it. */
interface Window {
  readonly limit: number
  /** The header's own number, which distinguishes windows. */
  readonly reset: number
  /** Monotonic ms. */
  readonly resetAt: number
  /** Counted by the broker; requests under way come on top. */
  remaining: number
}

interface Waiter {
  readonly turn: PlacementTurn | undefined
  /** Tokens that it takes at once. */
  readonly requests: number
  grant(): void
}

/**
 * A bucket of tokens, one for each request to one host of the broker. The broker's answers fill it: `X-RateLimit-Limit`,
 * `-Remaining` and `-Reset`, which count the account's other processes, too. A broker that states no limit is asked freely.
 *
 * @example
 * const token = await budget.take({ purpose: 'awaited', withinMs: 10_000 })
 * if (token === null) throw new BrokerError('rate-limited', …)
 */
export function createRateBudget({
  now = () => performance.now(),
  unixNow = Date.now,
}: {
  /** Monotonic ms. */
  readonly now?: (() => number) | undefined
  readonly unixNow?: (() => number) | undefined
} = {}) {
  let window: Window | undefined
  /** The last answer stated no limit. */
  let isUnlimited = false
  let pause = { until: 0, lengthMs: 0 }
  let underWay = 0
  let deferred = 0
  let wake: NodeJS.Timeout | undefined
  const queues = {
    cancel: createQueue(),
    place: createQueue(),
    awaited: createQueue(),
    other: createQueue(),
  }

  function current(): Window | undefined {
    return window !== undefined && now() < window.resetAt ? window : undefined
  }

  /** How many tokens a request for this purpose must leave, at a time within the window. */
  function keptAt(purpose: Purpose, { limit, resetAt }: Window, at: number, requests = 1): number {
    if (purpose === 'cancel' || purpose === 'awaited') return 0
    const kept = Math.ceil((limit / KEPT_PART) * Math.min(1, (resetAt - at) / WINDOW_MS))
    return Math.min(kept, limit - requests)
  }

  function allows(purpose: Purpose, requests = 1): boolean {
    if (now() < pause.until) return false
    const known = current()
    if (known === undefined) return isUnlimited || underWay + requests <= PROBES
    return known.remaining - underWay - requests >= keptAt(purpose, known, now(), requests)
  }

  /** Whether a token can be expected in time, with so many others ahead. */
  function isNear(purpose: Purpose, withinMs: number, requests: number): boolean {
    const at = now() + withinMs
    if (pause.until > at) return false
    const known = current()
    if (known === undefined) return true
    const ahead = PURPOSES.slice(0, PURPOSES.indexOf(purpose) + 1)
      .map((each) => queues[each].requests())
      .reduce((sum, count) => sum + count, 0)
    const left = Math.max(0, known.remaining - underWay)
    if (at < known.resetAt) return left - ahead - requests >= keptAt(purpose, known, at, requests)
    return ahead < left + perWindow(known)
  }

  function grant(): Token {
    underWay += 1
    let isOver = false
    const once = (act: () => void) => {
      if (isOver) return
      isOver = true
      underWay -= 1
      act()
      pump()
    }
    return {
      spent: (answer) => once(() => learn(answer)),
      release: () => once(() => undefined),
    }
  }

  function learn(answer?: { readonly status: number; readonly headers: IncomingHttpHeaders }): void {
    const stated = answer && statedLimit(answer.headers, unixNow())
    if (stated === undefined) {
      const known = current()
      if (known !== undefined) known.remaining = Math.max(0, known.remaining - 1)
      // A gateway that fails in the broker's place knows nothing of its limit.
      else if (answer !== undefined && answer.status < 500 && answer.status !== TOO_MANY_REQUESTS)
        isUnlimited = true
    } else note(stated)
    if (answer?.status !== TOO_MANY_REQUESTS) {
      if (answer !== undefined) pause = { until: 0, lengthMs: 0 }
      return
    }
    const known = current()
    if (stated !== undefined && known !== undefined) known.remaining = 0
    else {
      const lengthMs = Math.min(Math.max(FIRST_PAUSE_MS, 2 * pause.lengthMs), WINDOW_MS)
      const resetMs = untilReset(answer.headers, unixNow()) ?? 0
      pause = { until: now() + Math.max(lengthMs, resetMs), lengthMs }
    }
  }

  function note({ limit, remaining, reset, leftMs }: NonNullable<ReturnType<typeof statedLimit>>): void {
    isUnlimited = false
    const known = window
    if (known !== undefined && reset < known.reset && current() !== undefined) return
    if (known === undefined || reset !== known.reset) {
      window = { limit, reset, resetAt: now() + leftMs, remaining }
      deferred = Math.max(0, deferred - perWindow(window))
    } else known.remaining = Math.min(known.remaining, remaining)
  }

  /** Hands out what there is, and looks again when time alone may bring more. */
  function pump(): void {
    for (const purpose of PURPOSES) {
      const queue = queues[purpose]
      for (let first = queue.first(); first !== undefined; first = queue.first()) {
        if (!allows(purpose, first.requests)) break
        queue.serve(first)
        first.grant()
      }
    }
    clearTimeout(wake)
    const next = nextChange()
    if (next !== undefined) wake = setTimeout(pump, Math.max(1, Math.ceil(next - now())))
  }

  /** Monotonic ms; undefined when no request waits, or only an answer can bring a token. */
  function nextChange(): number | undefined {
    if (PURPOSES.every((purpose) => queues[purpose].requests() === 0)) return undefined
    if (now() < pause.until) return pause.until
    const known = current()
    if (known === undefined) return undefined
    const left = known.remaining - underWay
    // From here on, fewer than `left` tokens are kept.
    const loosened = known.resetAt - ((left - 1) * WINDOW_MS * KEPT_PART) / known.limit
    return left >= 1 && loosened > now() ? Math.min(loosened, known.resetAt) : known.resetAt
  }

  /** Resolves with whether its turn came in time: then it has so many tokens. */
  function wait(
    purpose: Purpose,
    { turn, requests, withinMs }: Pick<Waiter, 'turn' | 'requests'> & { readonly withinMs: number },
  ): Promise<Token[] | null> {
    const queue = queues[purpose]
    const tokens = () => Array.from({ length: requests }, grant)
    if (queue.first() === undefined && allows(purpose, requests)) return Promise.resolve(tokens())
    if (withinMs <= 0 || !isNear(purpose, withinMs, requests)) return Promise.resolve(null)
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
    /** Whether little enough is left that placements wait. */
    isScarce(): boolean {
      const known = current()
      const isShort = known !== undefined && known.remaining - underWay - 1 < keptAt('place', known, now())
      return isShort || now() < pause.until
    },
    /** Unix ms at which the limit resets, as far as the broker has said; undefined where a request would be sent now. */
    resetAt(): number | undefined {
      const known = current()
      const until = Math.max(pause.until, known === undefined || allows('awaited') ? 0 : known.resetAt)
      return until > now() ? unixNow() + (until - now()) : undefined
    },
    /**
     * Unix ms at which a placement that got no token should ask again. Each call counts as one that will: they are spread
     * over the coming windows, so that each finds room there.
     * @param requests that it will ask for
     */
    deferUntil(requests = 1): number {
      const known = current()
      const waitMs = Math.max(known?.resetAt ?? 0, pause.until, now() + FIRST_PAUSE_MS) - now()
      const windows = window === undefined ? 0 : Math.floor(deferred / perWindow(window))
      deferred += requests
      return unixNow() + waitMs + windows * WINDOW_MS
    },
  }
}

export type RateBudget = ReturnType<typeof createRateBudget>

/** How many requests of placements a window carries. */
function perWindow({ limit }: Window): number {
  return Math.max(1, limit - Math.ceil(limit / KEPT_PART))
}

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
