import { type Hex, hexToBytes } from '../../protocol/hex.js'
import { addressOfPublicKey, publicKeyOf } from '../../protocol/publicKey.js'
import { signDigest } from '../../protocol/signature.js'
import type { Secret } from '../../service/secret.js'
import { withTimeout } from '../../service/waiting.js'
import { prepareTransaction, type UnsignedTransaction } from './transaction.js'

/** The key of the account that pays the gas, wherever it is kept. */
export interface RelayerKey {
  readonly address: Hex
  /** Low-s ECDSA over the 32 bytes as they are: 65 bytes `r ‖ s ‖ v`, v 27 or 28. May take a while, and fail. */
  signDigest(digest: Hex): Promise<Hex>
}

/** Signs transactions of the account that pays the gas. */
export interface RelayerSigner {
  readonly address: Hex
  /** The transaction's hash and the bytes that a node takes. @throws what the key throws, SigningTimeoutError */
  sign(transaction: UnsignedTransaction): Promise<{ hash: Hex; raw: Hex }>
}

/** The key has not answered. A signature that comes later is thrown away. */
class SigningTimeoutError extends Error {
  override readonly name = 'SigningTimeoutError'
}

/** Longer than any key of ours takes to give up. The nonce is in use until then, and the monitor may wait for it. */
const PATIENCE_MS = 20_000

export function createRelayerSigner(key: RelayerKey): RelayerSigner {
  return {
    address: key.address,
    async sign(transaction) {
      const prepared = prepareTransaction(transaction)
      const signature = await withTimeout(key.signDigest(prepared.digest), PATIENCE_MS)
      if (signature === undefined) throw new SigningTimeoutError('the key has not signed in time')
      return prepared.signed(signature)
    },
  }
}

/** A key in this process's memory. */
export function createPrivateKey(privateKey: Secret<Hex>): RelayerKey {
  const key = privateKey.reveal()
  return {
    address: addressOfPublicKey(hexToBytes(publicKeyOf(hexToBytes(key)))),
    signDigest: async (digest) => signDigest(digest, key),
  }
}
