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
   * `fraction` and waits to be released; `reject` and `expire` (after filling `fraction`, if given) end it.
   */
  readonly mode: 'immediate' | 'delay' | 'hold' | 'partial' | 'reject' | 'expire'
  readonly delayMs?: number | undefined
  /** Plain decimals between 0 and 1. */
  readonly fraction?: string | undefined
  /** How long a requested cancellation is pending; the order may still fill meanwhile. */
  readonly cancelDelayMs?: number | undefined
}

export type EndStatus = 'canceled' | 'expired' | 'rejected'
export type LiveStatus = 'accepted' | 'new' | 'partially_filled' | 'pending_cancel'
export type OrderStatus = LiveStatus | EndStatus | 'filled'

/** Quantities are share base units (9 decimals), `notional` USD with 6 decimals, `filledValue` USD with 15. */
export interface StandInOrder {
  readonly id: string
  readonly clientOrderId: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly notional: bigint | null
  readonly qty: bigint | null
  readonly createdAt: Date
  readonly behaviour: FillBehaviour
  status: OrderStatus
  updatedAt: Date
  endedAt: Date | null
  filledQty: bigint
  filledValue: bigint
  /** Whether its behaviour has been set going; orders wait for the market to open. */
  begun: boolean
}

export interface StandInPosition {
  qty: bigint
  /** USD with 15 decimals. */
  cost: bigint
}

/** `cash` is USD with 15 decimals: shares (9) times price (6) is exact there, so that no fill is ever rounded. */
export interface StandInAccount {
  readonly name: string
  readonly id: string
  readonly number: string
  readonly createdAt: Date
  readonly keyId: string
  readonly secretKey: string
  cash: bigint
  readonly positions: Map<string, StandInPosition>
  /** By `client_order_id`, in the order of placing. */
  readonly orders: Map<string, StandInOrder>
}

/** An HTTP answer before it is written. `body` undefined is an empty one. */
export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Record<string, string>
}
