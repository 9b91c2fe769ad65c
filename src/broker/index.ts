export type { BrokerAccount, BrokerPosition } from './account.js'
export type { Activities, FeeActivity, TradeActivity } from './activities.js'
export { type Asset, isBuyable } from './assets.js'
export type { Bar, BarFilter } from './bars.js'
export { type Broker, type BrokerOptions, createBroker } from './broker.js'
export type { BrokerClock } from './clock.js'
export { BrokerError, type BrokerErrorKind } from './errors.js'
export { type BrokerOrder, type Fill, fillValue, type OrderSide } from './order.js'
export { type BrokerOrderState, orderState } from './orderState.js'
export { isPossibleDuplicate, type OrderFilter, type OrderRequest } from './orders.js'
export type { PlacementTurn } from './rateBudget.js'
export {
  createSharedBroker,
  type Placement,
  type SharedBroker,
  type SharedBrokerOptions,
} from './shared.js'
export type { Snapshot } from './snapshots.js'
export { stopwatch } from './stopwatch.js'
