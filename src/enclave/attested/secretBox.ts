import { decryptGcm, encryptGcm, IV_BYTES, TAG_BYTES } from '../../protocol/aesGcm.js'
import { type Bytes, concatBytes } from '../../protocol/hex.js'

/** AES-256-GCM with a key that a machine keeps: `iv ‖ tag ‖ ciphertext`. @param key 32 bytes */
export async function lock(key: Bytes, secret: Bytes): Promise<Bytes> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const { ct, tag } = await encryptGcm({ key, iv, aad: new Uint8Array() }, secret)
  return concatBytes(iv, tag, ct)
}

/** @throws ProtocolError `undecryptable` */
export function unlock(key: Bytes, locked: Bytes): Promise<Bytes> {
  const iv = locked.slice(0, IV_BYTES)
  const tag = locked.slice(IV_BYTES, IV_BYTES + TAG_BYTES)
  const ct = locked.slice(IV_BYTES + TAG_BYTES)
  return decryptGcm({ key, iv, aad: new Uint8Array() }, ct, tag)
}
