// Turns at the broker. One account there serves everyone, and the broker takes no order while an opposite one of its symbol is open: so
// buys and sales of a symbol take turns. Known to this process alone: when an order is sent, and nothing else, is decided here.
import type { Clock } from './clock.js'

export interface Turn {
  readonly orderId: string
  readonly symbol: string
  readonly side: string
  /** Absent at the market's price. Price in USD with 6 decimals. */
  readonly limit?: { readonly price: bigint } | undefined
}

interface Open extends Turn {
  /** Whether the broker may have it. */
  sent: boolean
  /** Whether its limit has not been met at once: it may stay for days. */
  rests: boolean
  /** Unix milliseconds: from then on it counts as ended. */
  readonly until: number
}

interface Waiter extends Turn {
  /** Whether it began to wait before its side's present turn. */
  called: boolean
  /** Absent between two runs. */
  enter: (() => void) | undefined
  /** Unix milliseconds: an absent one is waited for until then. */
  until: number
}

/** An open order is looked at once a minute; one that was not seen for so long holds up nobody, and the broker has the last word. */
const SEEN_MS = 300_000
/** After a refusal, for an open order that another process placed, or this one before its start. */
const UNKNOWN_MS = 5_000
/** An order that waits between two runs keeps its place for so long after the time of the next one. */
const LATE_MS = 15_000

export function createTurns({ now }: Pick<Clock, 'now'>) {
  const open = new Map<string, Open>()
  /** In the order in which they began to wait. */
  const waiting = new Map<string, Waiter>()

  function forgetOld(): void {
    for (const [id, { until }] of open) if (until <= now()) open.delete(id)
    for (const [id, { enter, until }] of waiting) if (!enter && until <= now()) waiting.delete(id)
  }

  /**
   * Lets orders of a symbol in. When none is open but limit orders that rest, it is the turn of the side that has waited longest, and of all that wait for it. Later
   * ones of that side join them only while no order of the other side waits: so none waits for more than the turns before it.
   */
  function letIn(symbol: string): void {
    const standing = [...open.values()].filter((each) => each.symbol === symbol)
    const line = [...waiting.values()].filter((waiter) => waiter.symbol === symbol)
    const sides = new Set(standing.filter(({ rests }) => !rests).map(({ side }) => side))
    const [side = line[0]?.side, opposite] = sides
    if (opposite !== undefined) return
    if (sides.size === 0) for (const waiter of line) waiter.called = waiter.side === side
    const isOpposed = line.some((waiter) => waiter.side !== side)
    for (const { enter, called, ...turn } of line) {
      if (turn.side !== side || !enter || (isOpposed && !called)) continue
      waiting.delete(turn.orderId)
      open.set(turn.orderId, { ...turn, sent: false, rests: false, until: now() + SEEN_MS })
      enter()
    }
  }

  /** The order is not at the broker, or not any more. */
  function ended(orderId: string): void {
    const turn = open.get(orderId) ?? waiting.get(orderId)
    open.delete(orderId)
    waiting.delete(orderId)
    if (turn) letIn(turn.symbol)
  }

  return {
    /**
     * Resolves with true once no opposite order is open and it is the order's turn; with false when `patience` has ended before. It keeps
     * its place in the line then.
     */
    async enter(turn: Turn, patience: () => Promise<unknown>): Promise<boolean> {
      const { orderId, symbol } = turn
      forgetOld()
      if (open.has(orderId)) return true
      const entered = Promise.withResolvers<void>()
      const waiter = waiting.get(orderId) ?? { ...turn, called: false, until: 0, enter: undefined }
      waiter.enter = entered.resolve
      waiting.set(orderId, waiter)
      letIn(symbol)
      if (!open.has(orderId)) await Promise.race([entered.promise, patience()])
      if (!waiting.has(orderId)) return true
      waiter.enter = undefined
      return false
    },
    /** When an order that was not let in comes again, Unix milliseconds. */
    comesAgain(orderId: string, at: number): void {
      const waiter = waiting.get(orderId)
      if (waiter) waiter.until = at + LATE_MS
    },
    /** Right before the bytes of its request. */
    sent(orderId: string): void {
      const turn = open.get(orderId)
      if (turn) turn.sent = true
    },
    /** Whether a limit order rests, as far as this process knows. */
    isResting: (orderId: string): boolean => open.get(orderId)?.rests === true,
    /** An order that was found open at the broker, with the limit that it has there. */
    found(turn: Turn, limitPrice: bigint | null): void {
      const { rests = false } = open.get(turn.orderId) ?? {}
      const limit = limitPrice === null ? undefined : { price: limitPrice }
      open.set(turn.orderId, { ...turn, limit, sent: true, rests, until: now() + SEEN_MS })
    },
    /** An order that was followed and is still open: a limit order holds up no other one from then on. */
    rests(orderId: string): void {
      const turn = open.get(orderId)
      if (!turn?.limit) return
      turn.rests = true
      letIn(turn.symbol)
    },
    /** The prices of limit orders that rest on the other side: the broker takes an order whose limit is beyond them. */
    restingAgainst: ({ symbol, side }: Turn): readonly bigint[] =>
      [...open.values()].flatMap((each) =>
        each.rests && each.limit && each.symbol === symbol && each.side !== side ? [each.limit.price] : [],
      ),
    /** The broker refused an order because of an opposite one, which this process does not know. */
    refused({ orderId, symbol, side }: Turn): void {
      const unknown = { orderId: `${symbol} not ${side}`, symbol, side: side === 'BUY' ? 'SELL' : 'BUY' }
      open.set(unknown.orderId, { ...unknown, sent: true, rests: false, until: now() + UNKNOWN_MS })
      ended(orderId)
    },
    ended,
    /** Ends the turn of an order that was not sent. */
    release(orderId: string): void {
      if (open.get(orderId)?.sent === false) ended(orderId)
    },
  }
}

export type Turns = ReturnType<typeof createTurns>
