import * as z from 'zod/mini'
import { isChainFailure } from '../../chain/errors.js'
import { addressSchema, sameAddress } from '../../protocol/address.js'
import { commitOf } from '../../protocol/envelope.js'
import { ProtocolError } from '../../protocol/errors.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { type Intent, intentDigest, limitOf } from '../../protocol/intent.js'
import { amountOf, type Limit, type OrderAmount } from '../../protocol/orderTerms.js'
import { openReceipt, type Receipt, receiptSchema } from '../../protocol/receipt.js'
import { createContract } from '../contract.js'
import { ESCROW_ABI } from '../escrowAbi.js'
import { toTradingError } from '../foreignErrors.js'
import type { CallOptions } from '../http.js'
import type { RequestSource } from '../provider.js'
import { createWallet, type Wallet } from '../wallet.js'
import { type OrderMoments, readMoments } from './moments.js'

export interface ReceiptOptions extends CallOptions {
  /** A node of the contracts' chain. */
  readonly node: RequestSource
  /** `OrderEscrow`, from a source other than the receipt. */
  readonly escrow: Hex
}

/** What a receipt proves of its order, which may take so much at most. Amounts are in base units. */
export type ReceiptOrder = ReceiptFacts & OrderAmount

interface ReceiptFacts extends Pick<Intent, 'orderId' | 'account' | 'side' | 'symbol'> {
  readonly limit: Limit | null
  /** The account's institution when the escrow was opened, as the contract has it; null for none. */
  readonly institution: string | null
  /** Unix seconds. */
  readonly deadline: number
  readonly state: 'OPEN' | 'SETTLED' | 'REFUNDED'
  /** USDC that the escrow took from the wallet; 0 for an order that shows no amount on the chain. */
  readonly escrowed: bigint
}

/**
 * Why a receipt proves nothing. `other-chain`, `other-escrow`: it is of another deployment. `unknown-order`: no such order was opened.
 * `other-commit`: the escrow is committed to other bytes. `does-not-open`: the key does not open them, or not as an order.
 * `other-order`: the order in them is another than the escrow's. `not-signed`: the account did not sign it.
 */
export type ReceiptFault =
  | 'other-chain'
  | 'other-escrow'
  | 'unknown-order'
  | 'other-commit'
  | 'does-not-open'
  | 'other-order'
  | 'not-signed'

export type ReceiptVerdict =
  | ({ readonly outcome: 'verified'; readonly order: ReceiptOrder } & OrderMoments)
  | { readonly outcome: 'not-verified'; readonly code: ReceiptFault }
  | { readonly outcome: 'unreadable' }

const STATES = ['NONE', 'OPEN', 'SETTLED', 'REFUNDED'] as const
const orderSchema = z.looseObject({
  account: addressSchema,
  amount: z.bigint(),
  deadline: z.pipe(z.bigint(), z.transform(Number)),
  commit: bytes32Schema,
  orgId: bytes32Schema,
  state: z.pipe(
    z.bigint(),
    z.transform((state) => STATES[Number(state)] ?? 'NONE'),
  ),
})

/**
 * Compares a receipt with the chain: the escrow's commit, the account's signature, and when the order was opened and ended.
 * @param receipt the parsed JSON of a receipt, of any source
 * @throws ClientError `node-unavailable`, `node-timeout`, `node-rate-limited`, `untrusted-escrow` where no escrow is at the address
 */
export async function verifyReceipt(
  receipt: unknown,
  { node, escrow, signal }: ReceiptOptions,
): Promise<ReceiptVerdict> {
  const read = receiptSchema.safeParse(receipt)
  if (!read.success) return { outcome: 'unreadable' }
  const wallet = createWallet(node, { miningTimeoutMs: 0 }).until(signal)
  try {
    const found = await compare(read.data, wallet, escrow)
    if (typeof found === 'string') return { outcome: 'not-verified', code: found }
    const { order, intent } = found
    return { outcome: 'verified', order, ...(await readMoments(wallet, escrow, intent)) }
  } catch (error) {
    if (!isChainFailure(error)) throw error
    throw toTradingError(error)
  }
}

async function compare(
  receipt: Receipt,
  wallet: Wallet,
  escrow: Hex,
): Promise<ReceiptFault | { readonly order: ReceiptOrder; readonly intent: Intent }> {
  if ((await wallet.chainId()) !== receipt.chainId) return 'other-chain'
  if (!sameAddress(escrow, receipt.escrow)) return 'other-escrow'
  const { orderId } = receipt
  const contract = createContract({ wallet, address: escrow, abi: ESCROW_ABI })
  const { state, ...opened } = await contract.read('orders', [orderId], orderSchema)
  if (state === 'NONE') return 'unknown-order'
  if (commitOf(receipt) !== opened.commit) return 'other-commit'
  const intent = await intentIn(receipt)
  if (intent === null) return 'does-not-open'
  const { account, side, symbol, maxSpend, expiry, sig } = intent
  const isSame =
    intent.orderId === orderId && sameAddress(account, opened.account) && expiry === opened.deadline
  if (!isSame) return 'other-order'
  const digest = intentDigest(intent, { chainId: receipt.chainId, escrow })
  if (!(await wallet.isSignedBy(account, digest, sig))) return 'not-signed'
  const ordered = { side, symbol, ...amountOf(side, symbol, maxSpend), limit: limitOf(intent) ?? null }
  const institution = bytes32ToName(opened.orgId)
  const facts = { orderId, account, institution, deadline: expiry, state, escrowed: opened.amount }
  return { order: { ...ordered, ...facts }, intent }
}

/** Null where the key does not open the bytes as an order. */
async function intentIn(receipt: Receipt): Promise<Intent | null> {
  try {
    return await openReceipt(receipt)
  } catch (error) {
    if (error instanceof ProtocolError || error instanceof z.core.$ZodError) return null
    throw error
  }
}
