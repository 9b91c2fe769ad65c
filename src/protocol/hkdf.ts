// HKDF-SHA256 (RFC 5869) on WebCrypto, for keys that pages derive too: they need no hash of their own for it. The
// enclave's keys are derived synchronously, by noble (`ledgerBlob.ts`).
import type { Bytes } from './hex.js'

/** @param length of the key in bytes */
export async function hkdf(secret: Bytes, salt: Bytes, info: Bytes, length: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt, info }
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, length * 8))
}
