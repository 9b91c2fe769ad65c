import { Transaction } from 'ethers'
import { z } from 'zod'
import type { Fees } from '../../chain/fees.js'
import { addressSchema } from '../../protocol/address.js'
import { type Hex, hexToBytes } from '../../protocol/hex.js'
import { keccak256 } from '../../protocol/keccak.js'
import { splitSignature } from '../../protocol/signature.js'
import { encodeRlp, type RlpItem, rlpUint } from './rlp.js'

/** A call with everything that the chain wants to know of its transaction. */
export interface UnsignedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly data: Hex
  readonly gasLimit: bigint
  readonly fees: Fees
}

/** A transaction laid out for its signature. By hand, as ethers takes twenty times as long. */
export interface PreparedTransaction {
  /** What is signed. */
  readonly digest: Hex
  /** Hash and bytes with the signature, `r ‖ s ‖ v`, v 27 or 28. @throws ProtocolError `invalid-signature` */
  signed(signature: Hex): { hash: Hex; raw: Hex }
}

/** EIP-2718's byte before a transaction of https://eips.ethereum.org/EIPS/eip-1559; a legacy one has none. */
const MARKET_TYPE = Uint8Array.of(2)
const NOTHING = new Uint8Array(0)
const V_OFFSET = 27

/** @param transaction of type 2, or legacy and bound to its chain (https://eips.ethereum.org/EIPS/eip-155) */
export function prepareTransaction(transaction: UnsignedTransaction): PreparedTransaction {
  const { chainId, nonce, to, data, gasLimit, fees } = transaction
  const call = [rlpUint(gasLimit), hexToBytes(to), NOTHING, Buffer.from(data.slice(2), 'hex')]
  if (fees.type === 0) {
    const fields = [rlpUint(nonce), rlpUint(fees.gasPrice), ...call]
    return prepare(NOTHING, fields, {
      unsigned: [rlpUint(chainId), NOTHING, NOTHING],
      parity: (odd) => 2 * chainId + 35 + odd,
    })
  }
  const { maxPriorityFeePerGas: tip, maxFeePerGas: fee } = fees
  const accessList: RlpItem = []
  const fields = [rlpUint(chainId), rlpUint(nonce), rlpUint(tip), rlpUint(fee), ...call, accessList]
  return prepare(MARKET_TYPE, fields, { unsigned: [], parity: (odd) => odd })
}

/** What stands behind the fields: before the signature is there, and how it tells the parity of its point. */
interface Ending {
  readonly unsigned: readonly RlpItem[]
  readonly parity: (odd: number) => number
}

function prepare(type: Uint8Array, fields: readonly RlpItem[], ending: Ending): PreparedTransaction {
  const encode = (end: readonly RlpItem[]) => Buffer.concat([type, encodeRlp([...fields, ...end])])
  return {
    digest: keccak256(encode(ending.unsigned)),
    signed(signature) {
      const { r, s, v } = splitSignature(signature)
      const raw = encode([rlpUint(ending.parity(v - V_OFFSET)), withoutZeros(r), withoutZeros(s)])
      return { hash: keccak256(raw), raw: `0x${raw.toString('hex')}` }
    },
  }
}

/** Integers are written without leading zeros. */
function withoutZeros(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(bytes.findIndex((byte) => byte !== 0))
}

const hexText = z.templateLiteral(['0x', z.string()])
const callSchema = z.object({ to: addressSchema, data: hexText, gasLimit: z.bigint() })
const feesSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal(2), maxFeePerGas: z.bigint(), maxPriorityFeePerGas: z.bigint() }),
  z.object({ type: z.literal(0), gasPrice: z.bigint() }),
])

/** What a transaction of ours says, read back from its bytes. */
export function readTransaction(raw: Hex): Omit<UnsignedTransaction, 'chainId' | 'nonce'> {
  const { to, data, gasLimit, type, maxFeePerGas, maxPriorityFeePerGas, gasPrice } = Transaction.from(raw)
  const fees = feesSchema.parse({ type, maxFeePerGas, maxPriorityFeePerGas, gasPrice })
  return { ...callSchema.parse({ to, data, gasLimit }), fees }
}
