import type { FeeSchedule } from '../protocol/fees.js'
import type { EndStatus, FillBehaviour, NamedStatus } from './controlSchemas.js'

/** The configuration of an account. */
export interface StandInAccountConfig {
  /** The account's name in the control API, which therefore needs no key. */
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

export type OrderStatus =
  | ('accepted' | 'pending_new' | 'new' | 'partially_filled' | 'pending_cancel' | 'filled' | 'replaced')
  | NamedStatus

/** Quantities are share base units (9 decimals), `notional` USD with 6 decimals, `filledValue` USD with 15. */
export interface StandInOrder {
  readonly id: string
  readonly clientOrderId: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly notional: bigint | null
  readonly qty: bigint | null
  /** USD with 6 decimals; null for a market order. */
  readonly limitPrice: bigint | null
  readonly createdAt: Date
  readonly expiresAt: Date
  /** The id of the order that this one replaced. */
  readonly replaces: string | null
  readonly behaviour: FillBehaviour
  status: OrderStatus
  updatedAt: Date
  endedAt: Date | null
  replacedBy: string | null
  filledQty: bigint
  filledValue: bigint
  /** The cash moved by its fills, in whole cents: USD with 15 decimals. */
  movedCash: bigint
  /** The pending end status, while the status is `calculated` or `done_for_day`. */
  endsAs: EndStatus | 'filled' | null
  /** Whether its behaviour has started; orders wait for the market to open. */
  begun: boolean
  /** Whether its behaviour waits for the price to reach its limit. */
  resting: boolean
}

export interface StandInPosition {
  qty: bigint
  /** USD with 15 decimals. */
  cost: bigint
}

/** An entry of `GET /v2/account/activities`, in its API form. */
export interface Activity {
  readonly id: string
  readonly activity_type: string
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
  /** This account's fees. */
  readonly fees: FeeSchedule
  /** Cash without the fees accrued since the last close. */
  cash: bigint
  /** Fees accrued since the last close, by name: USD with 21 decimals. */
  readonly accrued: Map<string, bigint>
  readonly positions: Map<string, StandInPosition>
  /** Keyed by `client_order_id`, in order of placement. */
  readonly orders: Map<string, StandInOrder>
  /** Oldest first. */
  readonly activities: Activity[]
}

/** An unwritten HTTP answer. An undefined `body` is an empty one. */
export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** A refusal in Alpaca's form: an HTTP status and `{code, message}`, sometimes with more members. */
export function refusal(
  status: number,
  code: number,
  message: string,
  more: Record<string, string> = {},
): Reply {
  return { status, body: { ...more, code, message } }
}
