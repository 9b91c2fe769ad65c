import { SigningKey, Transaction } from 'ethers'
import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexToBytes } from '../../protocol/hex.js'
import { addressOfPublicKey } from '../../protocol/publicKey.js'
import type { Secret } from '../secret.js'
import type { Fees } from './fees.js'

/** A call with everything that the chain wants to know of its transaction (EIP-1559). */
export interface UnsignedTransaction extends Fees {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly data: Hex
  readonly gasLimit: bigint
}

/** The account that pays the gas. */
export interface RelayerSigner {
  readonly address: Hex
  /** The transaction's hash and the bytes that a node takes. */
  sign(transaction: UnsignedTransaction): Promise<{ hash: Hex; raw: Hex }>
}

/** Signs with a key in memory. */
export function createPrivateKeySigner(privateKey: Secret<Hex>): RelayerSigner {
  const key = new SigningKey(privateKey.reveal())
  return {
    address: addressOfPublicKey(hexToBytes(key.publicKey)),
    async sign(unsigned) {
      const transaction = Transaction.from({ type: 2, ...unsigned })
      transaction.signature = key.sign(transaction.unsignedHash)
      return signedSchema.parse({ hash: transaction.hash, raw: transaction.serialized })
    },
  }
}

const hexText = z.templateLiteral(['0x', z.string()])
const signedSchema = z.object({ hash: bytes32Schema, raw: hexText })
const contentSchema = z.object({
  to: addressSchema,
  data: hexText,
  gasLimit: z.bigint(),
  maxFeePerGas: z.bigint(),
  maxPriorityFeePerGas: z.bigint(),
})

/** What a transaction of ours says, read back from its bytes. */
export function readTransaction(raw: Hex): Omit<UnsignedTransaction, 'chainId' | 'nonce'> {
  const { to, data, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = Transaction.from(raw)
  return contentSchema.parse({ to, data, gasLimit, maxFeePerGas, maxPriorityFeePerGas })
}
