// The library for frontends. It runs in a browser: WebCrypto, fetch and an ethers signer are all it needs.
import type { Signer } from 'ethers'
import type { OrderReceived, OrderStatus, PolicyVersion } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import type { Notice } from '../protocol/notice.js'
import type { Policy } from '../protocol/policy.js'
import { type Claim, createClaimDesk } from './claims.js'
import type { Mined } from './contract.js'
import { createEscrow, type Funds } from './escrow.js'
import { createKeyring } from './keyring.js'
import { createMembership, type Membership } from './membership.js'
import { openNotice } from './notice.js'
import type { OrderRequest, SealedOrder } from './orderIntent.js'
import { createOrders } from './orders.js'
import {
  createOrderPlacing,
  type PlacedOrder,
  type PlaceOptions,
  type PlaceStep,
  type TakenId,
} from './placeOrder.js'
import { createPlatform, type Pins, type Platform } from './platform.js'
import type { FollowOptions } from './poll.js'
import { type OpenedPortfolio, readPortfolio, readVersion } from './portfolio.js'
import type { PortfolioKey } from './portfolioKey.js'
import { createReader, type Reader, type ReaderOptions, readerOf, reading } from './reader.js'
import type { RetryTiming } from './retry.js'
import {
  openCopy,
  type PublishedRulebook,
  type PublishOptions,
  publishRulebook,
  rulebookVersion,
} from './rulebook.js'
import { type RulebookChange, rulebookChanges } from './rulebookChanges.js'
import { createViews, type Views } from './views.js'
import { createWallet } from './wallet.js'

export type {
  ComplianceView,
  EnclaveKey,
  Health,
  InstitutionView,
  MarketClock,
  MarketView,
  OrderReceived,
  OrderStatus,
  PolicyVersion,
  Timeline,
  TimelineEntry,
  WalletView,
} from '../protocol/api.js'
export type { Hex } from '../protocol/hex.js'
export type { Notice } from '../protocol/notice.js'
export type { Policy } from '../protocol/policy.js'
export type { Portfolio } from '../protocol/portfolio.js'
export type { RulebookCopy } from '../protocol/rulebookCopy.js'
export { formatDecimal, parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'
export { ClientError, type ClientErrorCode, ContractError, ServerError } from './errors.js'
export { NotSubmittedError } from './orderIntent.js'
export type {
  Claim,
  FollowOptions,
  Funds,
  Membership,
  Mined,
  OpenedPortfolio,
  OrderRequest,
  Pins,
  PlacedOrder,
  PlaceOptions,
  PlaceStep,
  Platform,
  PortfolioKey,
  PublishedRulebook,
  PublishOptions,
  Reader,
  ReaderOptions,
  RetryTiming,
  RulebookChange,
  SealedOrder,
  TakenId,
  Views,
}
export { createReader, rulebookChanges }

export interface ClientOptions extends ReaderOptions {
  /** An externally owned account with a provider; in a browser `await new BrowserProvider(window.ethereum).getSigner()`. */
  readonly signer: Signer
  /** What is known from a source other than the server: set both in production, see `Pins`. */
  readonly pins?: Pins | undefined
  /** For publishing a rulebook, which waits for the enclave; default 3 minutes. */
  readonly policyTimeoutMs?: number | undefined
  /** Until a transaction is mined; default 10 minutes. */
  readonly miningTimeoutMs?: number | undefined
}

const POLICY_TIMEOUT_MS = 180_000
const MINING_TIMEOUT_MS = 600_000

/** One wallet's view of the platform. Every method may throw ClientError, ServerError and ContractError. */
export interface Client extends Reader {
  /** The wallet's address with its checksum (EIP-55), as the views take it. */
  account(): Promise<Hex>
  readonly membership: Membership
  /** The enclave's key and the contracts, checked against chain and pins. */
  platform(): Promise<Platform>
  /**
   * The newest portfolio key: a drawn one that was imported, or the one that the wallet derives, which it is asked to
   * sign for twice. It is kept in memory until `lock()`; the methods that need it call this themselves.
   */
  unlock(): Promise<PortfolioKey>
  /** Forgets the portfolio keys, the imported ones too. */
  lock(): void
  /**
   * Draws a random portfolio key, for an account whose derived one was phished: the same text would derive it again.
   * @returns the text of a file that holds it, and the drawn ones before it. Save it where nobody else reads it: the wallet
   *   cannot give this key again. It is in use only once the text comes back through `importKeys`, and the enclave seals
   *   to it from the next order on that it admits.
   */
  drawKey(): Promise<string>
  /**
   * Takes the keys of a file. The newest is the one of the orders that follow; the older ones, and the derived one, open
   * what was sealed to them.
   * @throws ClientError `invalid-key-file`, `foreign-key-file`
   */
  importKeys(text: string): Promise<void>
  /** Seals the order, opens its escrow (one or two transactions) and submits it. @throws NotSubmittedError */
  placeOrder(request: OrderRequest, options?: PlaceOptions): Promise<PlacedOrder>
  /** Submits an order whose escrow is open already. Safe to repeat. */
  submitOrder(
    order: Pick<SealedOrder, 'orderId' | 'envelope' | 'commit'>,
    signal?: AbortSignal,
  ): Promise<OrderReceived>
  /**
   * Takes an order back that was never answered, seven days after its deadline. With a pinned escrow it needs no
   * server, whose absence may be the very reason.
   */
  reclaim(orderId: Hex): Promise<Mined>
  /** What the wallet can pay a BUY from. With a pinned escrow it needs no server. */
  funds(): Promise<Funds>
  /**
   * What the wallet could not receive of a refund, a reclaim or a withdrawal: it waits at the escrow. Looks for USDC and
   * the listed symbols. With a pinned escrow it needs no server.
   * @param others symbols to look for that are not listed any more
   */
  claims(others?: readonly string[]): Promise<readonly Claim[]>
  /**
   * Has a claim paid: `asset` is `USDC` or a symbol.
   * @param to the wallet itself when left out, or the recipient that the platform's owner approved
   */
  claim(asset: string, to?: Hex): Promise<Mined>
  /** The reason of a refusal, null when there is none to read. */
  openNotice(status: Pick<OrderStatus, 'orderId' | 'notice'>): Promise<Notice | null>
  /** The portfolio on chain, null for an account that has none yet. With a pinned escrow it needs no server. */
  portfolio(): Promise<OpenedPortfolio | null>
  /** As the admin of an institution: which one, and the version of its rulebook that is in force. */
  rulebookVersion(signal?: AbortSignal): Promise<PolicyVersion>
  /**
   * As the admin: replaces the rulebook. Show `rulebookChanges` first, and keep the copy that it returns: nothing else
   * tells later what the rulebook says.
   */
  publishRulebook(policy: Policy, options?: PublishOptions): Promise<PublishedRulebook>
  /**
   * As the admin: the rulebook in a copy that one's own publication left.
   * @param copy JSON, not yet checked
   * @param version that is in force
   * @throws ClientError `invalid-copy`, `outdated-copy`, `copy-undecryptable`
   */
  openRulebookCopy(copy: unknown, version: number): Promise<Policy>
}

/** @throws ClientError `no-provider` */
export function createClient(options: ClientOptions): Client {
  const { policyTimeoutMs = POLICY_TIMEOUT_MS } = options
  const { http, timing } = reading(options)
  const wallet = createWallet(options.signer, options.miningTimeoutMs ?? MINING_TIMEOUT_MS)
  const { platform, contracts } = createPlatform({ http, wallet, pins: options.pins ?? {} })
  const orders = createOrders({ http, timing })
  const escrow = async () => createEscrow({ wallet, contracts: await contracts() })
  const desk = async () => createClaimDesk({ wallet, contracts: await contracts() })
  const portfolioVersion = async () => readVersion(wallet, await contracts())
  const keys = createKeyring({ wallet, portfolioVersion })
  const rulebooks = async () => ({ http, wallet, platform: await platform(), timing, policyTimeoutMs, keys })
  return {
    ...readerOf(createViews({ http, timing }), orders),
    account: wallet.account,
    membership: createMembership({ wallet, contracts }),
    platform,
    unlock: keys.newest,
    lock: keys.lock,
    drawKey: keys.draw,
    importKeys: keys.importKeys,
    placeOrder: createOrderPlacing({ wallet, platform, keys, orders, timing }),
    submitOrder: orders.submit,
    reclaim: async (orderId) => (await escrow()).reclaim(orderId),
    funds: async () => (await escrow()).funds(),
    claims: async (others) => (await desk()).claims(others),
    claim: async (asset, to) => (await desk()).claim(asset, to),
    openNotice: async (status) => openNotice(status, keys),
    portfolio: async () => readPortfolio(wallet, await contracts(), keys),
    rulebookVersion: async (signal) => rulebookVersion(await rulebooks(), signal),
    publishRulebook: async (policy, published) => publishRulebook(policy, await rulebooks(), published),
    openRulebookCopy: async (copy, version) => openCopy(copy, version, await rulebooks()),
  }
}
