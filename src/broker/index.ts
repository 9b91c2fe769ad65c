export type { BrokerAccount, BrokerPosition } from './account.js'
export type { Activities, BookedEntry, FeeActivity, OtherEntry, TradeActivity } from './activities.js'
export type { ActionKind } from './announcements.js'
export { bookingsOf, everBookedOf } from './bookings.js'
export { type Broker, type BrokerOptions, createBroker } from './broker.js'
export {
  type ActionTerms,
  claimsOf,
  type Decision,
  eventsOf,
  planOf,
  type Unplanned,
} from './corporateEvents.js'
export { BrokerError, type BrokerErrorKind } from './errors.js'
export {
  entryOf,
  exBetween,
  haltedOn,
  isInForce,
  isOver,
  needsBooking,
  UNBOOKED_DAYS,
  unborneActions,
} from './inForce.js'
export type { Bar, BarFilter, BrokerClock, Snapshot } from './market.js'
export { type Asset, isBuyable } from './market.js'
export { dayAfter, dayAt, startOf } from './newYork.js'
export {
  type BrokerOrder,
  type BrokerOrderState,
  type Fill,
  fillValue,
  joinedWith,
  type OrderSide,
  orderState,
} from './order.js'
export {
  isPossibleDuplicate,
  type NamedOrder,
  type OrderFilter,
  type OrderRequest,
} from './orders.js'
export type { PlacementTurn } from './rateBudget.js'
export {
  createSharedBroker,
  type Placement,
  type SharedBroker,
  type SharedBrokerOptions,
  stopwatch,
} from './shared.js'
