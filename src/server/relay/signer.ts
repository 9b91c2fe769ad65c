import { Transaction } from 'ethers'
import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, bytesToHex, type Hex, hexToBytes } from '../../protocol/hex.js'
import { addressOfPublicKey, publicKeyOf } from '../../protocol/publicKey.js'
import type { Secp256k1 } from '../../protocol/secp256k1.js'
import type { Secret } from '../secret.js'
import type { Fees } from './fees.js'

/** A call with everything that the chain wants to know of its transaction. */
export interface UnsignedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly data: Hex
  readonly gasLimit: bigint
  readonly fees: Fees
}

/** The key of the account that pays the gas, wherever it is kept. */
export interface RelayerKey {
  readonly address: Hex
  /** Low-s ECDSA over the 32 bytes as they are: 65 bytes `r ‖ s ‖ v`, v 27 or 28. May take a while, and fail. */
  signDigest(digest: Hex): Promise<Hex>
}

/** Signs transactions of the account that pays the gas. */
export interface RelayerSigner {
  readonly address: Hex
  /** The transaction's hash and the bytes that a node takes. */
  sign(transaction: UnsignedTransaction): Promise<{ hash: Hex; raw: Hex }>
}

export function createRelayerSigner(key: RelayerKey): RelayerSigner {
  return {
    address: key.address,
    async sign({ fees, ...call }) {
      const transaction = Transaction.from({ ...call, ...fees })
      const digest = bytes32Schema.parse(transaction.unsignedHash)
      transaction.signature = await key.signDigest(digest)
      return signedSchema.parse({ hash: transaction.hash, raw: transaction.serialized })
    },
  }
}

/** A key in this process's memory. */
export function createPrivateKey(privateKey: Secret<Hex>, curve: Secp256k1): RelayerKey {
  const key = hexToBytes(privateKey.reveal())
  return {
    address: addressOfPublicKey(hexToBytes(publicKeyOf(key))),
    signDigest: async (digest) => bytesToHex(curve.sign(hexToBytes(digest), key)),
  }
}

const hexText = z.templateLiteral(['0x', z.string()])
const signedSchema = z.object({ hash: bytes32Schema, raw: hexText })
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
