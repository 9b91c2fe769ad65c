import type { FeeSchedule } from '../../protocol/fees.js'

/** The account as its owner configures it. */
export interface StandInAccountConfig {
  /** Its name in the control API, so that no key is needed there. */
  readonly name: string
  readonly keyId: string
  readonly secretKey: string
  /** USD in plain decimals. */
  readonly cash: string
}

export interface StandInSymbol {
  readonly symbol: string
  readonly name: string
  /** USD in plain decimals. */
  readonly price: string
}

/** What becomes of an order once the market is open. */
export interface FillBehaviour {
  /**
   * `immediate` fills before the next request, `delay` after `delayMs`, `hold` when released; `partial` fills
   * `fraction` and waits to be released; `reject` and `expire` (after filling `fraction`, if given) end it; `replace`
   * fills `fraction` and has an order under another id carry on, which fills after `delayMs`.
   */
  readonly mode: 'immediate' | 'delay' | 'hold' | 'partial' | 'reject' | 'expire' | 'replace'
  readonly delayMs?: number | undefined
  /** Plain decimals between 0 and 1. */
  readonly fraction?: string | undefined
  /** How long a requested cancellation is pending; the order may still fill meanwhile. */
  readonly cancelDelayMs?: number | undefined
  /** The status that the order waits in, instead of `new`. */
  readonly waitsAs?: WaitingStatus | undefined
  /** The status between its last fill and its end, for `endDelayMs`. */
  readonly endsThrough?: EndingStatus | undefined
  readonly endDelayMs?: number | undefined
  /** How the order states `filled_qty` once it has ended, instead of as a decimal. */
  readonly filledQty?: 'null' | 'absent' | undefined
}

export type EndStatus = 'canceled' | 'expired' | 'rejected'
export type WaitingStatus = 'held' | 'suspended' | 'stopped' | 'accepted_for_bidding' | 'pending_replace'
export type EndingStatus = 'calculated' | 'done_for_day'
export type LiveStatus =
  | 'accepted'
  | 'pending_new'
  | 'new'
  | 'partially_filled'
  | 'pending_cancel'
  | WaitingStatus
  | EndingStatus
export type OrderStatus = LiveStatus | EndStatus | 'filled' | 'replaced'

/** Quantities are share base units (9 decimals), `notional` USD with 6 decimals, `filledValue` USD with 15. */
export interface StandInOrder {
  readonly id: string
  readonly clientOrderId: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly notional: bigint | null
  readonly qty: bigint | null
  readonly createdAt: Date
  readonly expiresAt: Date
  /** The id of the order that this one replaces. */
  readonly replaces: string | null
  readonly behaviour: FillBehaviour
  status: OrderStatus
  updatedAt: Date
  endedAt: Date | null
  replacedBy: string | null
  filledQty: bigint
  filledValue: bigint
  /** What its fills have moved, in whole cents: USD with 15 decimals. */
  movedCash: bigint
  /** The end that it is on its way to, while its status is one of `EndingStatus`. */
  endsAs: EndStatus | 'filled' | null
  /** Whether its behaviour has been set going; orders wait for the market to open. */
  begun: boolean
}

export interface StandInPosition {
  qty: bigint
  /** USD with 15 decimals. */
  cost: bigint
}

/** An entry of `GET /v2/account/activities`, as it is answered. */
export interface Activity {
  readonly id: string
  readonly activity_type: 'FILL' | 'FEE'
  readonly [member: string]: string
}

/** `cash` is USD with 15 decimals, in whole cents: a fill's exact value is rounded to the cent. */
export interface StandInAccount {
  readonly name: string
  readonly id: string
  readonly number: string
  readonly createdAt: Date
  readonly keyId: string
  readonly secretKey: string
  /** What the broker charges this account. */
  readonly fees: FeeSchedule
  /** Without what has accrued in fees since the last close. */
  cash: bigint
  /** By a fee's name, what has accrued since the last close: USD with 21 decimals. */
  readonly accrued: Map<string, bigint>
  readonly positions: Map<string, StandInPosition>
  /** By `client_order_id`, in the order of placing. */
  readonly orders: Map<string, StandInOrder>
  /** Oldest first. */
  readonly activities: Activity[]
}

/** An HTTP answer before it is written. `body` undefined is an empty one. */
export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Record<string, string>
}
