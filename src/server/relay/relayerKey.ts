import type { Hex } from '../../protocol/hex.js'
import type { Secp256k1 } from '../../protocol/secp256k1.js'
import type { Secret } from '../secret.js'
import { openKmsKey } from './kmsKey.js'
import { createPrivateKey, type RelayerKey } from './signer.js'

/** Where the key of the relayer's account is. */
export type RelayerKeyPlace =
  | { readonly kind: 'private-key'; readonly privateKey: Secret<Hex> }
  | { readonly kind: 'kms'; readonly keyId: string }

/**
 * @param curve signs with a private key, and finds the v of what KMS signs
 * @throws RelayerKeyError when the place does not give a usable key
 */
export async function openRelayerKey(place: RelayerKeyPlace, curve: Secp256k1): Promise<RelayerKey> {
  if (place.kind === 'kms') return openKmsKey({ keyId: place.keyId, curve })
  return createPrivateKey(place.privateKey, curve)
}
