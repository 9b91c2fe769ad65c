// A client written from docs/protocol.md alone, so that the page is known to be enough: nothing of it is the
// project's own code, and no library but one that speaks to the chain.
import { fromHex, type Hex, toHex } from './pageClient/bytes.js'
import { connectChain } from './pageClient/chain.js'
import { connectServer } from './pageClient/http.js'
import { nameOf, sharesOf } from './pageClient/identifiers.js'
import {
  type EndedOrder,
  followOrder,
  type OrderWish,
  openEscrow,
  type PreparedOrder,
  postCancel,
  postOrder,
  randomOrderId,
  sealOrder,
} from './pageClient/orders.js'
import { type Notice, openNotice, type Portfolio, readPortfolio } from './pageClient/portfolio.js'
import { derivePortfolioKey } from './pageClient/portfolioKey.js'
import { publish } from './pageClient/rulebooks.js'
import type { Intent, Policy } from './pageClient/typedData.js'
import { findVenue, type Pins, type Venue } from './pageClient/venue.js'

/** Seconds that an order may take. */
const LIFETIME = 3_600

export interface PageClientSettings {
  readonly serverUrl: string
  readonly rpcUrl: string
  /** The wallet's, as hex of 32 bytes. */
  readonly privateKey: string
  readonly pins?: Pins
}

export interface PageClient {
  /** Signs and seals an order, and sends it nowhere yet. */
  prepare(wish: OrderWish): Promise<PreparedOrder>
  /** Opens the escrow, and posts until the server has this envelope. */
  submit(order: PreparedOrder): Promise<void>
  /** Cancels an order of this wallet; resolves once the server has the cancel. */
  cancel(orderId: Hex): Promise<void>
  /** Resolves once the order is settled or refunded. */
  ended(orderId: Hex): Promise<EndedOrder>
  /** Resolves with undefined when there is no portfolio yet. */
  portfolio(): Promise<Portfolio | undefined>
  openNotice(orderId: Hex, ended: EndedOrder): Notice | undefined
  /** The tickers that can be traded. */
  listed(): Promise<readonly string[]>
  /** Shares in the wallet, in base units. */
  shares(symbol: string): Promise<bigint>
  /** Publishes the rulebook of the wallet's institution; resolves with its version. */
  publishRulebook(policy: Policy): Promise<number>
  close(): void
}

/** Knows the server's URL, the chain's, and the wallet; learns all the rest as the page says. */
export async function connectPageClient(settings: PageClientSettings): Promise<PageClient> {
  const { serverUrl, rpcUrl, pins } = settings
  const walletKey = fromHex(settings.privateKey, 32)
  const http = connectServer(serverUrl)
  const chain = connectChain(rpcUrl, walletKey)
  if (await chain.isContractWallet()) throw new Error('a contract has no portfolio key')
  const key = derivePortfolioKey(walletKey)
  const venueNow = () => findVenue(http, chain, pins)
  let lastNonce = 0

  async function nextNonce({ ledger }: Venue): Promise<number> {
    const stored = (await readPortfolio(chain, ledger, key))?.nonce ?? 0
    lastNonce = Math.max(stored + 1, lastNonce + 1, Date.now())
    return lastNonce
  }

  return {
    async prepare({ side, symbol, amount, fromCash = false }) {
      const venue = await venueNow()
      const intent: Intent = {
        v: 1,
        orderId: randomOrderId(),
        account: chain.account,
        orgId: await chain.readBytes(venue.registry, 'orgOf', [chain.account]),
        side,
        symbol,
        maxSpend: amount.toString(),
        expiry: (await chain.blockTime()) + LIFETIME,
        nonce: await nextNonce(venue),
        userPubKey: toHex(key.publicKey),
      }
      const envelope = sealOrder(venue, intent, walletKey)
      return { venue, intent, envelope, escrows: side === 'DEPOSIT' || (side === 'BUY' && !fromCash) }
    },
    async submit(order) {
      await openEscrow(chain, order)
      await postOrder(http, order)
    },
    cancel: async (orderId) =>
      postCancel(http, await venueNow(), { orderId, account: chain.account }, walletKey),
    ended: (orderId) => followOrder(http, orderId),
    portfolio: async () => readPortfolio(chain, (await venueNow()).ledger, key),
    openNotice: (orderId, { notice }) => notice && openNotice(orderId, notice, key),
    listed: async () => (await chain.readList((await venueNow()).token, 'listedSymbols')).map(nameOf),
    async shares(symbol) {
      const { token } = await venueNow()
      return chain.readInteger(sharesOf(token, symbol), 'balanceOf', [chain.account])
    },
    publishRulebook: async (policy) => publish({ chain, http, venue: await venueNow(), walletKey }, policy),
    close: () => chain.close(),
  }
}
