import { Transaction } from 'ethers'
import { z } from 'zod'
import type { Fees } from '../../chain/fees.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexBetween, hexToBytes } from '../../protocol/hex.js'
import { keccak256 } from '../../protocol/keccak.js'
import { splitSignature } from '../../protocol/signature.js'

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

/** A transaction encoded for its signature. ethers would take twenty times as long. */
interface PreparedTransaction {
  /** The hash to sign. */
  readonly digest: Hex
  /** Hash and bytes with the signature, `r ‖ s ‖ v`, v 27 or 28. @throws ProtocolError `invalid-signature` */
  signed(signature: Hex): { hash: Hex; raw: Hex }
}

/** EIP-2718's type byte of an EIP-1559 transaction (https://eips.ethereum.org/EIPS/eip-1559); a legacy one has none. */
const EIP1559_TYPE = Uint8Array.of(2)
const EMPTY = new Uint8Array(0)
const V_OFFSET = 27

/** @param transaction of type 2, or legacy and bound to its chain (https://eips.ethereum.org/EIPS/eip-155) */
export function prepareTransaction(transaction: UnsignedTransaction): PreparedTransaction {
  const { chainId, nonce, to, data, gasLimit, fees } = transaction
  const call = [rlpUint(gasLimit), hexToBytes(to), EMPTY, Buffer.from(data.slice(2), 'hex')]
  if (fees.type === 0) {
    const fields = [rlpUint(nonce), rlpUint(fees.gasPrice), ...call]
    return prepare(EMPTY, fields, {
      unsigned: [rlpUint(chainId), EMPTY, EMPTY],
      parity: (odd) => 2 * chainId + 35 + odd,
    })
  }
  const { maxPriorityFeePerGas: tip, maxFeePerGas: fee } = fees
  const accessList: RlpItem = []
  const fields = [rlpUint(chainId), rlpUint(nonce), rlpUint(tip), rlpUint(fee), ...call, accessList]
  return prepare(EIP1559_TYPE, fields, { unsigned: [], parity: (odd) => odd })
}

/** The fields after the call: those in place of the signature, and how its `v` encodes the point's parity. */
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

/** The account that signed a transaction; undefined where the bytes are not a transaction. */
export function signerOf(raw: Hex): Hex | undefined {
  try {
    return addressSchema.parse(Transaction.from(raw).from)
  } catch {
    return undefined
  }
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

// Recursive Length Prefix, as the yellow paper's appendix B has it. https://ethereum.org/developers/docs/data-structures-and-encoding/rlp
/** A byte string, or a list of such. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** The prefix adds this to the length of a byte string or list; above 55 bytes it encodes the length of the length. */
const STRING = 0x80
const LIST = 0xc0
const SHORT = 55

export function encodeRlp(item: RlpItem): Buffer {
  if (item instanceof Uint8Array) return encodeBytes(item)
  const payload = Buffer.concat(item.map(encodeRlp))
  return Buffer.concat([prefix(LIST, payload.length), payload])
}

/** The shortest big-endian bytes of an unsigned integer: none for zero. */
export function rlpUint(value: bigint | number): Buffer {
  if (value <= 0) return Buffer.alloc(0)
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function encodeBytes(bytes: Uint8Array): Buffer {
  const [first] = bytes
  if (bytes.length === 1 && first !== undefined && first < STRING) return Buffer.from(bytes)
  return Buffer.concat([prefix(STRING, bytes.length), bytes])
}

function prefix(kind: number, length: number): Buffer {
  if (length <= SHORT) return Buffer.of(kind + length)
  const bytes = rlpUint(length)
  return Buffer.concat([Buffer.of(kind + SHORT + bytes.length), bytes])
}
