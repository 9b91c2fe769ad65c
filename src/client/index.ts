// The library for frontends. It runs in a browser and needs only WebCrypto, fetch and a wallet (EIP-1193, or an ethers signer).
export type {
  ComplianceView,
  Health,
  HealthChecks,
  InstitutionView,
  MarketBars,
  MarketClock,
  MarketView,
  OrderReceived,
  OrderStatus,
  PolicyVersion,
  Timeline,
  TimelineEntry,
  WalletView,
} from '../protocol/api.js'
export type { CorporateAction } from '../protocol/corporateActions.js'
export type { EnclaveKey } from '../protocol/enclaveKey.js'
export type { Envelope } from '../protocol/envelope.js'
export type { Hex } from '../protocol/hex.js'
export { bytes32ToName, nameToBytes32 } from '../protocol/identifiers.js'
export type { Notice } from '../protocol/notice.js'
export type { Side } from '../protocol/orderTerms.js'
export type { Policy } from '../protocol/policy.js'
export type { Portfolio } from '../protocol/portfolio.js'
export {
  formatDecimal,
  formatGrouped,
  parseDecimal,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../protocol/units.js'
export type { Claim, ClaimOptions, ClaimsOptions } from './claims.js'
export { type Client, type ClientOptions, createClient } from './client.js'
export type { Mined } from './contract.js'
export {
  ClientError,
  type ClientErrorCode,
  ContractError,
  ServerError,
  type ServerErrorCode,
  TradingError,
} from './errors.js'
export type { Evidence, NextEnclave } from './evidence.js'
export { foreignCode, toTradingError } from './foreignErrors.js'
export type { Funds } from './funds.js'
export type { CallOptions } from './http.js'
export type { BlockPlace, HistoryStore, ReadList } from './keptLists.js'
export type { OrderKeeping, Resumed, ResumeOptions } from './keptOrders.js'
export { cannotDerive } from './keyring.js'
export { createTail, type ListOptions, type LogList, type Tail } from './logList.js'
export type { Membership } from './membership.js'
export type { AccountMove, MoveOptions, Moves } from './moves.js'
export type { OpeningState } from './openings.js'
export type {
  BuyTerms,
  CashMoveTerms,
  Duration,
  OrderRequest,
  OrderTerms,
  OrderTime,
  SellTerms,
  ShareMoveTerms,
} from './orderIntent.js'
export type { KeptOrder, OrderStore } from './orderStore.js'
export type { FrozenHolding, Listings, PublishedVersion, Standing, Waiting } from './past/facts.js'
export {
  createPast,
  type EndedMove,
  type Past,
  type PastMoves,
  type PastOptions,
  type PendingMove,
  type PublishedVersions,
} from './past/past.js'
export type { PlacedOrder, PlaceOptions, PlanOptions, TakenId, UnfinishedOrder } from './placeOrder.js'
export type { PlaceStep, Prompt } from './plan.js'
export type { Pins, Platform, Trust } from './platform.js'
export type { FollowOptions, WatchOptions } from './poll.js'
export type { OpenedPortfolio } from './portfolio.js'
export type { PortfolioKey } from './portfolioKey.js'
export type { Eip1193Provider, RequestSource, ViemWalletClient, WalletSource } from './provider.js'
export { createReader, type Reader, type ReaderOptions } from './reader.js'
export type { RetryTiming } from './retry.js'
export type { SealedOrder, SignedOrder, SubmittableOrder } from './sealedOrder.js'
export { isSignedOrder, NotSubmittedError } from './sealedOrder.js'
export type { SharesOptions, WalletShares } from './shares.js'
