import type { IncomingHttpHeaders } from 'node:http'

/** The broker counts by the minute; a reset that is further away comes from a clock that is wrong. */
const WINDOW_MS = 60_000

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

export interface Clocks {
  /** Monotonic ms. */
  readonly now: () => number
  readonly unixNow: () => number
}

/** What an answer says of the limit. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
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

/**
 * The broker's limit of requests to one host, as its answers describe it: `X-RateLimit-Limit`, `-Remaining` and `-Reset`, which count the
 * account's other processes, too. A broker that states no limit is asked freely.
 */
export function createRateLimit({ now, unixNow }: Clocks) {
  let window: Window | undefined
  /** The last answer stated no limit. */
  let isUnlimited = false
  let pause = { until: 0, lengthMs: 0 }
  let underWay = 0

  function current(): Window | undefined {
    return window !== undefined && now() < window.resetAt ? window : undefined
  }

  /** How many tokens a request for this purpose must leave, at a time within the window. */
  function keptAt(purpose: Purpose, { limit, resetAt }: Window, at: number): number {
    if (purpose === 'cancel' || purpose === 'awaited') return 0
    const kept = Math.ceil((limit / KEPT_PART) * Math.min(1, (resetAt - at) / WINDOW_MS))
    return Math.min(kept, limit - 1)
  }

  /** Whether a request may go now, with so many others ahead. */
  function allows(purpose: Purpose, ahead = 0): boolean {
    if (now() < pause.until) return false
    const known = current()
    if (known === undefined) return isUnlimited || underWay + ahead < PROBES
    return known.remaining - underWay - ahead - 1 >= keptAt(purpose, known, now())
  }

  /** Whether a token can be expected in time, with so many other requests ahead. */
  function isNear(purpose: Purpose, withinMs: number, ahead: number): boolean {
    const at = now() + withinMs
    if (pause.until > at) return false
    const known = current()
    if (known === undefined) return true
    const left = Math.max(0, known.remaining - underWay)
    if (at < known.resetAt) return left - ahead - 1 >= keptAt(purpose, known, at)
    return ahead < left + perWindow(known)
  }

  function learn(answer: Answer | undefined): void {
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
    } else known.remaining = Math.min(known.remaining, remaining)
  }

  /** Monotonic ms at which time alone may allow more; undefined when only an answer can. */
  function nextChange(): number | undefined {
    if (now() < pause.until) return pause.until
    const known = current()
    if (known === undefined) return undefined
    const left = known.remaining - underWay
    // From here on, fewer than `left` tokens are kept.
    const loosened = known.resetAt - ((left - 1) * WINDOW_MS * KEPT_PART) / known.limit
    return left >= 1 && loosened > now() ? Math.min(loosened, known.resetAt) : known.resetAt
  }

  return {
    allows,
    isNear,
    nextChange,
    /** A request will be sent. */
    begin(): void {
      underWay += 1
    },
    /** Its end, with the answer, undefined where none came; `unsent` where it was not sent. */
    end(sent: 'unsent' | { readonly answer: Answer | undefined }): void {
      underWay -= 1
      if (sent !== 'unsent') learn(sent.answer)
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
    /** Monotonic ms of the window that has room for a placement behind so many requests of others. */
    roomAt(ahead: number): number {
      const from = Math.max(current()?.resetAt ?? 0, pause.until, now() + FIRST_PAUSE_MS)
      const windows = window === undefined ? 0 : Math.floor(ahead / perWindow(window))
      return from + windows * WINDOW_MS
    },
  }
}

/** How many requests of placements a window has room for. */
function perWindow({ limit }: Window): number {
  return Math.max(1, limit - Math.ceil(limit / KEPT_PART))
}

/** The limit that an answer states (`reset` in Unix seconds), undefined where it states none. The time that is left goes by the broker's own clock. */
function statedLimit(headers: IncomingHttpHeaders, unixNow: number) {
  const limit = numberIn(headers['x-ratelimit-limit'])
  const remaining = numberIn(headers['x-ratelimit-remaining'])
  const reset = numberIn(headers['x-ratelimit-reset'])
  if (limit === undefined || limit === 0 || remaining === undefined || reset === undefined) return undefined
  return { limit, remaining, reset, leftMs: untilReset(headers, unixNow) ?? 0 }
}

/** Milliseconds until the stated reset; undefined where the answer states none. */
function untilReset(headers: IncomingHttpHeaders, unixNow: number): number | undefined {
  const reset = numberIn(headers['x-ratelimit-reset'])
  if (reset === undefined) return undefined
  const sentAt = Date.parse(headers.date ?? '')
  const leftMs = reset * 1_000 - (Number.isNaN(sentAt) ? unixNow : sentAt)
  return Math.min(Math.max(0, leftMs), WINDOW_MS)
}

function numberIn(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,11}$/.test(header) ? Number(header) : undefined
}

/** The stated reset, by the broker's clock. */
export function resetAt(headers: IncomingHttpHeaders): Date | undefined {
  const reset = numberIn(headers['x-ratelimit-reset'])
  return reset === undefined ? undefined : new Date(reset * 1_000)
}
