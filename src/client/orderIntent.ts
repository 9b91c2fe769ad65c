import { commitOf, type Envelope } from '../protocol/envelope.js'
import { bytesToHex, type Hex } from '../protocol/hex.js'
import {
  INTENT_VERSION,
  type Intent,
  intentDigest,
  intentTypesOf,
  isOnIncrement,
  LIMIT_INTENT_VERSION,
  type Limit,
  type Side,
  sealIntent,
  unsignedIntentSchema,
} from '../protocol/intent.js'
import { intentDomain } from '../protocol/intentDomain.js'
import type { PostedOpening } from '../protocol/postedOpening.js'
import { ClientError, TradingError } from './errors.js'
import type { Platform } from './platform.js'
import type { Wallet } from './wallet.js'

/** The employee's order. */
export interface OrderRequest {
  readonly side: Side
  /** A ticker, or `USDC` for a withdrawal or a deposit of cash. */
  readonly symbol: string
  /** USDC base units (6 decimals), or share base units (9 decimals) for a withdrawal or a deposit of shares. */
  readonly maxSpend: bigint
  /** Unix seconds, at most 30 days ahead. The enclave cancels the unfilled rest at this time. */
  readonly deadline: number
  /**
   * The source of a BUY's funds: the wallet's USDC (default), or the portfolio's cash, which shows no amount on chain.
   */
  readonly payFrom?: 'wallet' | 'cash' | undefined
  /**
   * Makes a BUY or a SELL a limit order: the highest price of a buy, the lowest of a sale (USD, 6 decimals). `DAY` ends at the market's
   * close, `GTD` is renewed each day until the deadline. Only enclave and broker see the price.
   */
  readonly limit?: Limit | undefined
}

/** An order ready for its escrow to be opened and its envelope to be posted. `intent` is confidential. */
export interface SealedOrder {
  readonly orderId: Hex
  readonly intent: Intent
  readonly envelope: Envelope
  /** `keccak256(ct)`. */
  readonly commit: Hex
  /** USDC base units that the escrow takes; 0 for every order except a BUY from the wallet and a DEPOSIT of USDC. */
  readonly escrowed: bigint
  /** The wallet's signature that opens the escrow, no matter who sends it; absent where the wallet's transaction needs none. */
  readonly opening?: PostedOpening | undefined
}

/** An order whose opening the wallet has signed. */
export type SignedOrder = Pick<SealedOrder, 'orderId' | 'commit'> & { readonly opening: PostedOpening }

/** An order as the server takes it. */
export type SubmittableOrder = Pick<SealedOrder, 'orderId' | 'envelope' | 'commit' | 'opening'>

interface SealingDeps {
  readonly wallet: Wallet
  readonly platform: Platform
  /** The employee's public key, 33 bytes. */
  readonly userPubKey: Hex
  /** The wallet's institution, zero for none. */
  readonly orgId: Hex
  /** Above the portfolio's nonce. */
  readonly nonce: number
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
  const sig = await wallet.signTyped({
    domain: intentDomain(platform),
    types: intentTypesOf(unsigned),
    message: unsigned,
    digest,
  })
  const intent: Intent = { ...unsigned, sig }
  const envelope = await sealIntent(intent, platform.enclavePublicKey)
  const escrowed = isPaidByWallet(request) ? request.maxSpend : 0n
  return { orderId: intent.orderId, intent, envelope, commit: commitOf(envelope), escrowed }
}

/** The shares that a deposit takes out of the wallet, in base units; null for any other order. */
export function sharesIn({
  side,
  symbol,
  maxSpend,
}: Pick<OrderRequest, 'side' | 'symbol' | 'maxSpend'>): { symbol: string; amount: bigint } | null {
  return side === 'DEPOSIT' && symbol !== 'USDC' ? { symbol, amount: maxSpend } : null
}

function isPaidByWallet({ side, symbol, payFrom }: OrderRequest): boolean {
  return (side === 'DEPOSIT' && symbol === 'USDC') || (side === 'BUY' && payFrom !== 'cash')
}

function unsignedOf(request: OrderRequest, deps: SealingDeps, account: Hex) {
  const { side, symbol, maxSpend, deadline, limit } = request
  if (maxSpend <= 0n) throw new ClientError('invalid-order', 'Enter an amount above zero.')
  if ((side === 'BUY' || side === 'SELL') && symbol === 'USDC') {
    throw new ClientError('invalid-order', 'USDC can be deposited and withdrawn, not bought or sold.')
  }
  if (side === 'DEPOSIT' && request.payFrom === 'cash') {
    throw new ClientError('invalid-order', 'A deposit comes from the wallet.')
  }
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
    expiry: deadline,
    nonce: deps.nonce,
    userPubKey: deps.userPubKey,
  }
  const unsigned = unsignedIntentSchema.safeParse(fields)
  if (unsigned.success) return unsigned.data
  const paths = unsigned.error.issues.map((issue) => issue.path.join('.'))
  throw new ClientError('invalid-order', `The order is malformed: ${paths.join(', ')}.`)
}

function assertLimit(side: Side, limit: Limit): void {
  if (side !== 'BUY' && side !== 'SELL') {
    throw new ClientError('invalid-order', 'Only buys and sales take a limit price.')
  }
  if (isOnIncrement(limit.price)) return
  throw new ClientError(
    'invalid-order',
    'A limit price is in whole cents, or in hundredths of a cent below 1 USD.',
  )
}

/**
 * The escrow is open but the envelope did not reach the server, so the order cannot start. Pass `order` to
 * `submitOrder` again; otherwise its USDC stays in escrow until it can be reclaimed.
 */
export class NotSubmittedError extends ClientError {
  override readonly name = 'NotSubmittedError'

  constructor(
    readonly order: SealedOrder,
    cause: unknown,
  ) {
    const message = 'the escrow is open, but the sealed order did not reach the server: submit it again'
    const requestId = cause instanceof TradingError ? cause.requestId : null
    super('not-submitted', message, { cause, requestId })
  }
}
