// One wallet's view of the platform: every method of the library, over the parts beside it.
import type { Verified } from '../attestation/index.js'
import type { OrderReceived, OrderStatus } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import type { Notice } from '../protocol/notice.js'
import { createActionList } from './actionList.js'
import type { Claim, ClaimOptions, ClaimsOptions } from './claims.js'
import { withParts } from './clientParts.js'
import type { Mined } from './contract.js'
import { type Funds, readFunds } from './funds.js'
import type { CallOptions } from './http.js'
import type { OrderKeeping } from './keptOrders.js'
import { createKeyring } from './keyring.js'
import { later, methodsOf } from './later.js'
import type { Membership } from './membership.js'
import type { Moves } from './moves.js'
import type { OpeningState } from './openings.js'
import type { OrderRequest } from './orderIntent.js'
import { createMemoryOrderStore, type OrderStore } from './orderStore.js'
import { createOrders } from './orders.js'
import type { PlacedOrder, PlaceOptions, PlanOptions } from './placeOrder.js'
import type { Prompt } from './plan.js'
import { createPlatform, type Platform, type Trust } from './platform.js'
import type { OpenedPortfolio } from './portfolio.js'
import type { PortfolioKey } from './portfolioKey.js'
import type { WalletSource } from './provider.js'
import { type Reader, type ReaderOptions, readerDeps, readerOf } from './reader.js'
import { abortable } from './retry.js'
import type { SignedOrder, SubmittableOrder } from './sealedOrder.js'
import type { SharesOptions, WalletShares } from './shares.js'
import { createWallet } from './wallet.js'

interface WalletOptions extends ReaderOptions {
  /**
   * A browser wallet's provider as it is (EIP-1193), such as `window.ethereum`, which reveals its account once the client first
   * needs it; a `WalletClient` of viem; or an ethers signer with a JSON-RPC provider.
   */
  readonly wallet: WalletSource
  /** The account to use of those that a browser's wallet has revealed; the first one by default. A signer's own, or it is refused. */
  readonly account?: Hex | undefined
  /** Timeout until a transaction is mined; default 10 minutes. */
  readonly miningTimeoutMs?: number | undefined
  /**
   * Where orders are kept from before their escrow opens until they have ended, such as one of the subpath `store`. Without it they are
   * in memory: a page that is closed in between loses what only it had.
   */
  readonly orderStore?: OrderStore | undefined
}

/** What is pinned or measured comes from a source other than the server. */
export type ClientOptions = WalletOptions & Trust

const MINING_TIMEOUT_MS = 600_000

/**
 * One wallet's view of the platform. Every method fails with a TradingError: a ClientError, ServerError or ContractError. One
 * whose signal aborts fails with the signal's reason; a transaction that the wallet has sent by then may still be mined.
 */
export interface Client extends Reader, Membership, Moves, OrderKeeping {
  /**
   * The wallet's checksummed address (EIP-55), as the views take it.
   * @example const address = await client.getAccount()
   */
  getAccount(options?: CallOptions): Promise<Hex>
  /**
   * The enclave's key and the contracts, checked against the chain and the pins.
   * @example const { escrow, usdc, chainId } = await client.getPlatform()
   */
  getPlatform(options?: CallOptions): Promise<Platform>
  /**
   * Has the enclave prove itself now, with a nonce that is drawn here; `getPlatform` takes evidence of the last two hours.
   * @throws ClientError `unpinned-client` without `measurements`, and as `getPlatform`; ServerError `unattested-enclave`, `enclave-unavailable`
   * @example const { label, statement } = await client.challengeEnclave()
   */
  challengeEnclave(options?: CallOptions): Promise<Verified>
  /**
   * The newest portfolio key: an imported one, or the one derived from the wallet, which signs once for it, and twice before there is a
   * portfolio that it opens. The client keeps it in memory until `lock()`. Methods that need the key call this themselves.
   * @example const { publicKey } = await client.unlock()
   */
  unlock(options?: CallOptions): Promise<PortfolioKey>
  /**
   * Forgets the portfolio keys, including imported ones.
   * @example client.lock()
   */
  lock(): void
  /**
   * Draws a random portfolio key, for a wallet that signs the same text differently each time (`wallet-not-deterministic`), or for an
   * account whose derived key was phished: signing the same text would derive the phished key again.
   * @returns the text of a file with this key and the earlier drawn ones. Save it where only its owner can read it: the
   *   wallet cannot recover this key. The key comes into use once `importKeys` takes the text. The enclave seals to it
   *   from the next order that it admits.
   * @example const keyFile = await client.drawKey()
   */
  drawKey(options?: CallOptions): Promise<string>
  /**
   * Imports the keys of a file. Later orders use the newest; the older ones and the derived one open data that was
   * sealed to them.
   * @throws ClientError `invalid-key-file`, `foreign-key-file`
   * @example await client.importKeys(text)
   */
  importKeys(text: string, options?: CallOptions): Promise<void>
  /**
   * Seals the order, opens its escrow (one or two transactions) and submits it. With `sponsored` it requests another signature in place
   * of the transactions: the platform opens the escrow and pays the gas.
   * @throws NotSubmittedError; ClientError before anything is signed or sent, as `plan`
   * @example const { order } = await client.placeOrder({ side: 'BUY', symbol: 'AAPL', usdc: 250_000_000n })
   */
  placeOrder(request: OrderRequest, options?: PlaceOptions): Promise<PlacedOrder>
  /**
   * What the wallet will ask its person for this order, and why, before it asks anything: show it beforehand. Once more for the key where
   * the portfolio is sealed to another one than the wallet's; once less where the key is held.
   * @throws ClientError as `placeOrder` before it asks the wallet: `invalid-order`, `unlisted-symbol`, `insufficient-usdc`,
   *   `insufficient-shares`, `contract-wallet`, `wallet-not-deterministic`, `opening-unsupported`, `opening-outstanding`
   * @example for (const { kind, why } of await client.plan({ side: 'SELL', symbol: 'AAPL', usdc: 1_000_000n })) console.log(kind, why)
   */
  plan(request: OrderRequest, options?: PlanOptions): Promise<readonly Prompt[]>
  /**
   * Submits an order whose escrow is already open, or whose opening is signed. Idempotent. With `measurements` the enclave's program is
   * judged once more before.
   * @example const { result } = await client.submitOrder(order)
   */
  submitOrder(order: SubmittableOrder, options?: CallOptions): Promise<OrderReceived>
  /**
   * Whether the server and the contracts take orders with `sponsored`.
   * @example const sponsored = await client.canSponsor()
   */
  canSponsor(options?: CallOptions): Promise<boolean>
  /**
   * The state on the chain of an order whose opening is signed. With a pinned escrow it needs no server.
   * @example if ((await client.getOpeningState(order)) === 'usable') await client.submitOrder(order)
   */
  getOpeningState(order: SignedOrder, options?: CallOptions): Promise<OpeningState>
  /**
   * Opens an order by its signed opening in a transaction of the wallet, and submits it: for an order that the platform has not opened.
   * @throws ContractError if the escrow refuses it, such as `OpeningExpired`
   * @example await client.openOrder(order)
   */
  openOrder(order: SubmittableOrder & SignedOrder, options?: CallOptions): Promise<OrderReceived>
  /**
   * Cancels the wallet's own order: what has not been filled is refunded, what has been filled is settled. Resolves once the
   * server has the cancel; follow the order to its end. Requests two signatures. Idempotent.
   * @throws ServerError `order-ended`, `not-order-account`
   * @example await client.cancelOrder(orderId)
   */
  cancelOrder(orderId: Hex, options?: CallOptions): Promise<OrderReceived>
  /**
   * Reclaims an unanswered order, from seven days after its deadline. With a pinned escrow it needs no server, so it
   * works when the server's absence is the cause.
   * @example const { txHash } = await client.reclaimOrder(orderId)
   */
  reclaimOrder(orderId: Hex, options?: CallOptions): Promise<Mined>
  /**
   * The USDC that the wallet can spend on a BUY. With a pinned escrow it needs no server.
   * @example const { balance } = await client.getFunds()
   */
  getFunds(options?: CallOptions): Promise<Funds>
  /**
   * Replaces what the escrow may take of the wallet's USDC for later orders, in base units: 0n withdraws what `approve` has allowed. One
   * transaction. With a pinned escrow it needs no server.
   * @example await client.setAllowance(0n)
   */
  setAllowance(usdc: bigint, options?: CallOptions): Promise<Mined>
  /**
   * The shares in the wallet, of every symbol that is listed, has changed or was removed, and of others that are named.
   * @example const held = await client.getShares({ others: ['TSLA'] })
   */
  getShares(options?: SharesOptions): Promise<readonly WalletShares[]>
  /**
   * Payments of refunds, reclaims and withdrawals that the wallet could not receive; they wait at the escrow. Checks
   * USDC and every symbol that is listed, has changed or was removed. With a pinned escrow it needs no server.
   * @example for (const { asset, amount } of await client.getClaims()) console.log(asset, amount)
   */
  getClaims(options?: ClaimsOptions): Promise<readonly Claim[]>
  /**
   * Withdraws a claim: `asset` is `USDC` or a symbol.
   * @example await client.claim('USDC')
   */
  claim(asset: string, options?: ClaimOptions): Promise<Mined>
  /**
   * The reason of a refusal; null if there is none to read.
   * @example const notice = await client.openNotice(await client.getOrder(orderId))
   */
  openNotice(status: Pick<OrderStatus, 'orderId' | 'notice'>, options?: CallOptions): Promise<Notice | null>
  /**
   * The portfolio on chain, carried over all corporate actions; null for an account that has none yet. With a pinned escrow it needs no server.
   * @example const cash = (await client.getPortfolio())?.portfolio.cash ?? 0n
   */
  getPortfolio(options?: CallOptions): Promise<OpenedPortfolio | null>
  /**
   * Seals a JSON value with the newest portfolio key, for storage on this device: such as the names that an admin gives
   * to members. It opens for the same purpose, wallet and deployment alone.
   * @param purpose a word of the caller's, such as `names`; `history` is the client's own
   * @example const bytes = await client.sealForDevice('names', { [account]: 'Ada' })
   */
  sealForDevice(purpose: string, value: unknown, options?: CallOptions): Promise<Uint8Array>
  /**
   * The JSON value, unvalidated; undefined if no imported or derived key opens it.
   * @example const names = await client.openFromDevice('names', bytes)
   */
  openFromDevice(purpose: string, bytes: Uint8Array, options?: CallOptions): Promise<unknown>
}

/**
 * @throws ClientError `no-provider`, `insecure-url`, `unpinned-client`
 * @example const client = createClient({ serverUrl: 'https://trading.example', wallet: window.ethereum, pins })
 */
export function createClient(options: ClientOptions): Client {
  const { http, timing } = readerDeps(options)
  const { miningTimeoutMs = MINING_TIMEOUT_MS, account } = options
  const wallet = createWallet(options.wallet, { miningTimeoutMs, account })
  const { platform, challenge, contracts } = createPlatform({ ...options, http, wallet, timing })
  const { orderStore: store = createMemoryOrderStore() } = options
  const orders = createOrders({ http, timing, onEnded: forgetEnded })
  const actionList = createActionList()
  const keys = createKeyring(wallet, () => keyDesk())
  /** Wallet and keys for one call, which ends when its signal aborts. Callers share one derivation of the key, which does not. */
  const within = ({ signal }: CallOptions = {}) => ({
    wallet: wallet.until(signal),
    keys: {
      ...keys,
      newest: () => abortable(keys.newest(), signal),
      opened: <T>(open: (key: PortfolioKey) => Promise<T>) => abortable(keys.opened(open), signal),
    },
  })
  const parts = { within, contracts, platform, actionList, http, timing }
  const keyDesk = later(
    () => import('./keyDesk.js'),
    ({ createKeyDesk }) => createKeyDesk({ ...parts, wallet }),
  )
  const orderDesk = later(
    () => import('./orderDesk.js'),
    ({ createOrderDesk }) =>
      createOrderDesk({
        ...parts,
        wallet,
        keys,
        orders,
        store,
        isJudged: options.measurements !== undefined,
      }),
  )
  const accountDesk = later(
    () => import('./accountDesk.js'),
    ({ createAccountDesk }) => createAccountDesk({ ...parts, wallet, keys }),
  )
  /** Loads nothing for an order that the store does not have. */
  async function forgetEnded(orderId: Hex): Promise<void> {
    const order = await store.find(orderId).catch(() => null)
    if (order !== null) await orderDesk().then((desk) => desk.forgetEnded(order), noFailure)
  }
  const client: Client = {
    ...readerOf({ http, timing }, orders),
    ...methodsOf(keyDesk, KEY_METHODS),
    ...methodsOf(orderDesk, ORDER_METHODS),
    ...methodsOf(accountDesk, ACCOUNT_METHODS),
    getAccount: (call) => within(call).wallet.account(),
    getPlatform: platform,
    challengeEnclave: challenge,
    unlock: (call) => within(call).keys.newest(),
    lock: keys.lock,
    drawKey: (call) => abortable(keys.draw(), call?.signal),
    importKeys: (text, call) => abortable(keys.importKeys(text), call?.signal),
    async getKeptOrders(call) {
      const all = await abortable(store.list(), call?.signal)
      return all.length === 0 ? all : (await orderDesk(call?.signal)).getKeptOrders(call)
    },
    getFunds: async (call) => readFunds(within(call).wallet, await contracts(call)),
  }
  return withParts(client, parts)
}

const noFailure = () => undefined

/** The methods of `keyDesk.ts`. */
const KEY_METHODS = ['openNotice', 'getPortfolio'] as const
/** The methods of `orderDesk.ts`. */
const ORDER_METHODS = [
  'placeOrder',
  'plan',
  'submitOrder',
  'resumeOrder',
  'canSponsor',
  'getOpeningState',
  'openOrder',
  'cancelOrder',
  'reclaimOrder',
  'setAllowance',
] as const
/** The methods of `accountDesk.ts`. */
const ACCOUNT_METHODS = [
  'foundInstitution',
  'joinInstitution',
  'leaveInstitution',
  'getLeavingAt',
  'inviteMember',
  'removeMember',
  'getMove',
  'proposeMove',
  'acceptMove',
  'withdrawMove',
  'getShares',
  'getClaims',
  'claim',
  'sealForDevice',
  'openFromDevice',
] as const
