import { commitOf } from '../protocol/envelope.js'
import { bytesToHex, type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import {
  INTENT_VERSION,
  type Intent,
  intentDigest,
  intentTypesOf,
  LIMIT_INTENT_VERSION,
  sealIntentWithKey,
  unsignedIntentSchema,
} from '../protocol/intent.js'
import { intentDomain } from '../protocol/intentDomain.js'
import { isOnIncrement, type Limit, type Side } from '../protocol/orderTerms.js'
import { ClientError } from './errors.js'
import type { Platform } from './platform.js'
import type { SealedOrder } from './sealedOrder.js'
import { signTyped } from './signTyped.js'
import type { Wallet } from './wallet.js'

/** A buy for an amount of USDC, its broker's fills included. */
export interface BuyTerms {
  readonly side: 'BUY'
  /** A listed ticker. */
  readonly symbol: string
  /** USDC base units (6 decimals). */
  readonly usdc: bigint
  readonly shares?: undefined
  /** The source of the USDC: the wallet (default), or the portfolio's cash, which shows no amount on chain. */
  readonly payFrom?: 'wallet' | 'cash' | undefined
  /**
   * The highest price (USD, 6 decimals); without it the market's. `DAY` ends at the market's close, `GTD` is renewed each day until the
   * deadline. Only enclave and broker see the price.
   */
  readonly limit?: Limit | undefined
}

/** A sale of shares in the portfolio that are worth an amount of USDC. */
export interface SellTerms {
  readonly side: 'SELL'
  readonly symbol: string
  /** USDC base units (6 decimals). */
  readonly usdc: bigint
  readonly shares?: undefined
  readonly payFrom?: undefined
  /** The lowest price, as in a buy. */
  readonly limit?: Limit | undefined
}

/** A move of shares from the portfolio to the wallet, or from there into the portfolio. */
export interface ShareMoveTerms {
  readonly side: 'WITHDRAW' | 'DEPOSIT'
  readonly symbol: string
  /** Share base units (9 decimals). */
  readonly shares: bigint
  readonly usdc?: undefined
  readonly payFrom?: undefined
  readonly limit?: undefined
}

/** A move of cash from the portfolio to the wallet, or from there into the portfolio. */
export interface CashMoveTerms {
  readonly side: 'WITHDRAW' | 'DEPOSIT'
  readonly symbol?: undefined
  /** USDC base units (6 decimals). */
  readonly usdc: bigint
  readonly shares?: undefined
  readonly payFrom?: undefined
  readonly limit?: undefined
}

/** What an order asks for. The amount's name is its unit. */
export type OrderTerms = BuyTerms | SellTerms | ShareMoveTerms | CashMoveTerms

/** A time in minutes, hours or days: `30m`, `4h`, `1d`. */
export type Duration = `${number}${'m' | 'h' | 'd'}`

/** The time until which an order may be filled: then the enclave cancels the rest. At most 30 days ahead. */
export type OrderTime =
  /** Counted from the newest block or this device's clock, whichever is later; default `1d`. */
  | { readonly validFor?: Duration | undefined; readonly deadline?: undefined }
  /** Unix seconds. */
  | { readonly deadline: number | undefined; readonly validFor?: undefined }

/** The employee's order. */
export type OrderRequest = OrderTerms & OrderTime

interface SealingDeps {
  readonly wallet: Wallet
  readonly platform: Platform
  /** The employee's public key, 33 bytes. */
  readonly userPubKey: Hex
  /** The wallet's institution, zero for none. */
  readonly orgId: Hex
  /** Above the portfolio's nonce. */
  readonly nonce: number
  /** Unix seconds. */
  readonly now: number
}

const ORDER_ID_BYTES = 32

/**
 * Builds the intent under a fresh random orderId, requests the wallet's signature and seals the intent to the enclave.
 * @throws ClientError `invalid-order`, `signature-refused`, `signature-invalid`
 */
export async function sealOrder(request: OrderRequest, deps: SealingDeps): Promise<SealedOrder> {
  const { wallet, platform } = deps
  const unsigned = unsignedOf(request, deps, await wallet.account())
  const digest = intentDigest(unsigned, platform)
  const sig = await signTyped(wallet, {
    domain: intentDomain(platform),
    types: intentTypesOf(unsigned),
    message: unsigned,
    digest,
  })
  const intent: Intent = { ...unsigned, sig }
  const { envelope, contentKey } = await sealIntentWithKey(intent, platform.enclavePublicKey)
  const escrowed = isPaidByWallet(request) ? request.usdc : 0n
  return { orderId: intent.orderId, intent, envelope, contentKey, commit: commitOf(envelope), escrowed }
}

/**
 * Fails as sealing and the escrow would, before the wallet is asked for anything.
 * @param times Unix seconds: the newest block's, and those from which `validFor` counts
 * @throws ClientError `invalid-order`
 */
export async function assertOrder(
  request: OrderRequest,
  { wallet, platform }: Pick<SealingDeps, 'wallet' | 'platform'>,
  { blockTime, now }: { readonly blockTime: number; readonly now: number },
): Promise<void> {
  // Which key, nonce and institution it will have makes no difference.
  const any = { userPubKey: platform.enclavePublicKey, nonce: 0, orgId: ZERO_BYTES32 }
  const { expiry } = unsignedOf(request, { ...any, now }, await wallet.account())
  if (blockTime < expiry && expiry <= now + MAX_LIFETIME_S) return
  throw invalid('A deadline is in the future, at most 30 days ahead.')
}

/** What an order takes out of the wallet depends on this part of it. @throws ClientError `invalid-order` */
export function payableOf(request: OrderRequest) {
  return { escrowed: isPaidByWallet(request) ? request.usdc : 0n, intent: wireOf(request) }
}

/** The shares that a deposit takes out of the wallet, in base units; null for any other order. */
export function sharesIn({
  side,
  symbol,
  maxSpend,
}: Pick<Intent, 'side' | 'symbol' | 'maxSpend'>): { symbol: string; amount: bigint } | null {
  return side === 'DEPOSIT' && symbol !== CASH ? { symbol, amount: maxSpend } : null
}

function isPaidByWallet(request: OrderRequest): request is OrderRequest & { readonly usdc: bigint } {
  if (request.side === 'DEPOSIT') return request.usdc !== undefined
  return request.side === 'BUY' && request.payFrom !== 'cash'
}

/** The symbol of cash in an intent. */
const CASH = 'USDC'

/**
 * The order as an intent has it: one amount, whose unit side and symbol decide.
 * @throws ClientError `invalid-order`
 */
export function wireOf(terms: OrderTerms): Pick<Intent, 'side' | 'symbol' | 'maxSpend'> {
  const { side, symbol = CASH, usdc, shares } = { ...terms }
  const isMove = side === 'WITHDRAW' || side === 'DEPOSIT'
  if (!isMove && symbol === CASH) throw invalid('USDC can be deposited and withdrawn, not bought or sold.')
  const maxSpend = isMove && symbol !== CASH ? shares : usdc
  if (maxSpend === undefined || (usdc !== undefined && shares !== undefined)) {
    throw invalid('Give shares of a symbol to deposit or withdraw, and usdc for any other order.')
  }
  assertUnits(maxSpend)
  if (maxSpend <= 0n) throw invalid('Enter an amount above zero.')
  return { side, symbol, maxSpend }
}

/** JavaScript takes a number or a text for base units, of which it is mostly none. @throws ClientError `invalid-order` */
export function assertUnits(amount: unknown): void {
  if (typeof amount === 'bigint' && amount < 2n ** 256n) return
  throw invalid('Amounts and prices are bigints of base units: 25_000_000n for 25 USDC.')
}

const invalid = (message: string) => new ClientError('invalid-order', message)

const DEFAULT_VALIDITY = '1d'
/** The escrow's `MAX_LIFETIME`. */
const MAX_LIFETIME_S = 30 * 86_400
const SECONDS_IN: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400 }

function deadlineOf({ deadline, validFor }: OrderTime, now: number): number {
  if (deadline !== undefined && validFor !== undefined) throw invalid('Give validFor or deadline, not both.')
  if (deadline !== undefined) return deadline
  const [, count, unit = ''] = /^(\d+)([mhd])$/.exec(validFor ?? DEFAULT_VALIDITY) ?? []
  const seconds = Number(count) * (SECONDS_IN[unit] ?? Number.NaN)
  if (seconds > 0) return now + seconds
  throw invalid('validFor is a whole number of minutes, hours or days, such as 30m, 4h or 1d.')
}

function unsignedOf(request: OrderRequest, deps: Omit<SealingDeps, 'wallet' | 'platform'>, account: Hex) {
  const { side, symbol, maxSpend } = wireOf(request)
  const { limit, payFrom } = request
  if (side === 'DEPOSIT' && payFrom === 'cash') throw invalid('A deposit comes from the wallet.')
  if (limit !== undefined) assertLimit(side, limit)
  const version = limit
    ? { v: LIMIT_INTENT_VERSION, limitPrice: limit.price.toString(), timeInForce: limit.timeInForce }
    : { v: INTENT_VERSION }
  const fields = {
    ...version,
    orderId: bytesToHex(crypto.getRandomValues(new Uint8Array(ORDER_ID_BYTES))),
    account,
    orgId: deps.orgId,
    side,
    symbol,
    maxSpend: maxSpend.toString(),
    expiry: deadlineOf(request, deps.now),
    nonce: deps.nonce,
    userPubKey: deps.userPubKey,
  }
  const unsigned = unsignedIntentSchema.safeParse(fields)
  if (unsigned.success) return unsigned.data
  const paths = unsigned.error.issues.map((issue) => issue.path.join('.'))
  throw invalid(`The order is malformed: ${paths.join(', ')}.`)
}

function assertLimit(side: Side, limit: Limit): void {
  if (side !== 'BUY' && side !== 'SELL') {
    throw invalid('Only buys and sales take a limit price.')
  }
  assertUnits(limit.price)
  if (isOnIncrement(limit.price)) return
  throw invalid('A limit price is in whole cents, or in hundredths of a cent below 1 USD.')
}
