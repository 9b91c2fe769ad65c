import { encodeRlp, type RlpStructuredDataish, Transaction, toBeArray } from 'ethers'
import * as z from 'zod'
import type { Fees } from '../../chain/fees.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, bytesToUint, type Hex, hexBetween, hexToBytes } from '../../protocol/hex.js'
import { keccak256 } from '../../protocol/keccak.js'
import { splitSignature } from '../../protocol/signature.js'

/** Nodes refuse longer transactions. */
export const MAX_TRANSACTION_BYTES = 131_072

export const rawTransactionSchema = z.strictObject({
  hash: bytes32Schema,
  /** The bytes for `eth_sendRawTransaction`. */
  raw: hexBetween(1, MAX_TRANSACTION_BYTES),
})
export type RawTransaction = z.output<typeof rawTransactionSchema>

/** A transaction signed by the relayer's account. It is stored before the first node has seen it. */
export const signedTransactionSchema = z.strictObject({
  nonce: z.int().min(0),
  ...rawTransactionSchema.shape,
})
export type SignedTransaction = z.output<typeof signedTransactionSchema>

/**
 * The same, with its bytes only as long as it may be sent again. After that the relay only asks for its hash. A transaction
 * of another account, which relayed the authorization before, has no nonce here.
 */
export const keptTransactionSchema = signedTransactionSchema.partial({ nonce: true, raw: true })
export type KeptTransaction = z.output<typeof keptTransactionSchema>

export interface UnsignedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly data: Hex
  readonly gasLimit: bigint
  readonly fees: Fees
}

/** EIP-2718's type byte of an EIP-1559 transaction (https://eips.ethereum.org/EIPS/eip-1559); a legacy one has none. */
const EIP1559_TYPE = '0x02'
const EMPTY = '0x'
const V_OFFSET = 27

/**
 * A transaction encoded for its signature: ethers' RLP lasts a third of the time of its `Transaction`.
 * @param transaction of type 2, or legacy and bound to its chain (https://eips.ethereum.org/EIPS/eip-155)
 */
export function prepareTransaction(transaction: UnsignedTransaction) {
  const { chainId, nonce, to, data, gasLimit, fees } = transaction
  // ethers reads hex far more slowly than bytes, and reads it for both encodings.
  const call = [toBeArray(gasLimit), to, EMPTY, hexToBytes(data)]
  if (fees.type === 0) {
    const fields = [toBeArray(nonce), toBeArray(fees.gasPrice), ...call]
    return prepare(EMPTY, fields, {
      unsigned: [toBeArray(chainId), EMPTY, EMPTY],
      parity: (odd) => 2 * chainId + 35 + odd,
    })
  }
  const { maxPriorityFeePerGas: tip, maxFeePerGas: fee } = fees
  const accessList: RlpStructuredDataish = []
  const fields = [...[chainId, nonce, tip, fee].map((value) => toBeArray(value)), ...call, accessList]
  return prepare(EIP1559_TYPE, fields, { unsigned: [], parity: (odd) => odd })
}

/** @param ending the fields after the call: those in place of the signature, and how its `v` encodes the point's parity */
function prepare(
  type: string,
  fields: RlpStructuredDataish[],
  ending: { readonly unsigned: RlpStructuredDataish[]; readonly parity: (odd: number) => number },
) {
  const encode = (end: RlpStructuredDataish[]): Hex =>
    `0x${type.slice(2)}${encodeRlp([...fields, ...end]).slice(2)}`
  return {
    digest: keccak256(hexToBytes(encode(ending.unsigned))),
    /** Hash and bytes with the signature, `r ‖ s ‖ v`, v 27 or 28. @throws ProtocolError `invalid-signature` */
    signed(signature: Hex): RawTransaction {
      const { r, s, v } = splitSignature(signature)
      const raw = encode(
        [ending.parity(v - V_OFFSET), bytesToUint(r), bytesToUint(s)].map((value) => toBeArray(value)),
      )
      return { hash: keccak256(hexToBytes(raw)), raw }
    },
  }
}

const hexText = z.templateLiteral(['0x', z.string()])
const callSchema = z.object({ to: addressSchema, data: hexText, gasLimit: z.bigint() })
const feesSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal(2), maxFeePerGas: z.bigint(), maxPriorityFeePerGas: z.bigint() }),
  z.object({ type: z.literal(0), gasPrice: z.bigint() }),
])

export function readTransaction(raw: Hex): Omit<UnsignedTransaction, 'chainId' | 'nonce'> {
  const { to, data, gasLimit, type, maxFeePerGas, maxPriorityFeePerGas, gasPrice } = Transaction.from(raw)
  const fees = feesSchema.parse({ type, maxFeePerGas, maxPriorityFeePerGas, gasPrice })
  return { ...callSchema.parse({ to, data, gasLimit }), fees }
}
