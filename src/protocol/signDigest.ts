// Apart from the checks of signatures: pages check them, and never sign by a key in their memory.
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { hashes, sign } from '@noble/secp256k1'
import { bytesToHex, concatBytes, type Hex, hexToBytes } from './hex.js'
import { V_OFFSET } from './signature.js'

// noble needs a hash for RFC 6979 nonces.
hashes.sha256 = sha256
hashes.hmacSha256 = (key, message) => hmac(sha256, key, message)

/** Deterministic (RFC 6979), low-s signature of a 32-byte digest: `r ‖ s ‖ v`. */
export function signDigest(digest: Hex, privateKey: Hex): Hex {
  const hash = hexToBytes(digest)
  const form = sign(hash, hexToBytes(privateKey), { prehash: false, format: 'recovered' })
  return bytesToHex(concatBytes(form.subarray(1), Uint8Array.of(V_OFFSET + (form[0] ?? 0))))
}
