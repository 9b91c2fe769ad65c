import type { Hex } from '../../protocol/hex.js'
import type { Secret } from '../secret.js'
import { openKmsKey } from './kmsKey.js'
import { createPrivateKey, type RelayerKey } from './signer.js'

/** Where the key of the relayer's account is. */
export type RelayerKeyPlace =
  | { readonly kind: 'private-key'; readonly privateKey: Secret<Hex> }
  | { readonly kind: 'kms'; readonly keyId: string }

/** @throws RelayerKeyError when the place does not give a usable key */
export async function openRelayerKey(place: RelayerKeyPlace): Promise<RelayerKey> {
  if (place.kind === 'kms') return openKmsKey({ keyId: place.keyId })
  return createPrivateKey(place.privateKey)
}
