/**
 * Where an order stands: `live` may still fill, the other four are final. A canceled, expired or rejected order
 * may have been filled in part: look at `filledQty`.
 */
export type BrokerOrderState = 'live' | 'filled' | 'canceled' | 'expired' | 'rejected'

const FINAL: ReadonlyMap<string, BrokerOrderState> = new Map([
  ['filled', 'filled'],
  ['canceled', 'canceled'],
  ['expired', 'expired'],
  ['rejected', 'rejected'],
])

/**
 * The state behind Alpaca's order status.
 *
 * Only the four statuses of which the documentation says that no further update will come are final. `live` are
 * `new`, `accepted`, `pending_new`, `accepted_for_bidding`, `held`, `partially_filled`, `pending_cancel`,
 * `pending_replace`, `stopped` (a fill is guaranteed), `suspended`, `calculated` and `done_for_day` (its fills are
 * not settled yet, `expired` or `filled` follows), `replaced` (an order under another id carries on, and is read in its
 * place: refunding this one would pay twice), and any status not known here: what is taken for live is asked again, which costs
 * time; what is wrongly taken for final costs money.
 */
export function orderState(status: string): BrokerOrderState {
  return FINAL.get(status) ?? 'live'
}
