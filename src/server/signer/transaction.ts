import { Transaction } from 'ethers'
import { z } from 'zod'
import type { Fees } from '../../chain/fees.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'

/** Nodes refuse longer transactions. */
export const MAX_TRANSACTION_BYTES = 131_072

/** A transaction signed by the relayer's account. It is stored before the first node has seen it. */
export const signedTransactionSchema = z.strictObject({
  nonce: z.int().min(0),
  hash: bytes32Schema,
  /** The bytes for `eth_sendRawTransaction`. */
  raw: hexBetween(1, MAX_TRANSACTION_BYTES),
})
export type SignedTransaction = z.output<typeof signedTransactionSchema>

/**
 * The same, with its bytes only as long as it may be sent again. After that the relay only looks for its hash. A transaction
 * of another account, which relayed the authorization before, has no nonce here.
 */
export const keptTransactionSchema = signedTransactionSchema.partial({ nonce: true, raw: true })
export type KeptTransaction = z.output<typeof keptTransactionSchema>

/** A call with the other fields of its transaction. */
export interface UnsignedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly data: Hex
  readonly gasLimit: bigint
  readonly fees: Fees
}

const hexText = z.templateLiteral(['0x', z.string()])
const callSchema = z.object({ to: addressSchema, data: hexText, gasLimit: z.bigint() })
const feesSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal(2), maxFeePerGas: z.bigint(), maxPriorityFeePerGas: z.bigint() }),
  z.object({ type: z.literal(0), gasPrice: z.bigint() }),
])

/** Reads a transaction of ours back from its bytes. */
export function readTransaction(raw: Hex): Omit<UnsignedTransaction, 'chainId' | 'nonce'> {
  const { to, data, gasLimit, type, maxFeePerGas, maxPriorityFeePerGas, gasPrice } = Transaction.from(raw)
  const fees = feesSchema.parse({ type, maxFeePerGas, maxPriorityFeePerGas, gasPrice })
  return { ...callSchema.parse({ to, data, gasLimit }), fees }
}
