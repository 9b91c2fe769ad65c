import { TypedDataEncoder } from 'ethers'
import type { Hex } from '../protocol/hex.js'
import type { TypedMessage } from './provider.js'
import type { Wallet } from './wallet.js'

/**
 * The wallet's signature over typed data (EIP-712). The encoder comes from here, and so loads with those who sign, not with every wallet.
 * @param typed.digest the message's, so that the signature can be verified
 * @throws ClientError `signature-refused`, `signature-invalid`
 */
export function signTyped(
  wallet: Pick<Wallet, 'signTyped'>,
  typed: Omit<TypedMessage, 'payload'> & { readonly digest: Hex },
): Promise<Hex> {
  const { domain, types, message } = typed
  return wallet.signTyped({ ...typed, payload: () => TypedDataEncoder.getPayload(domain, types, message) })
}
