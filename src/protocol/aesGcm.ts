// AES-256-GCM (NIST SP 800-38D) on WebCrypto: the same native code in Node and in a browser.
import { ProtocolError } from './errors.js'
import { assertLength, type Bytes, concatBytes } from './hex.js'

export const IV_BYTES = 12
export const TAG_BYTES = 16
const KEY_BYTES = 32

/** Everything that decryption checks besides the ciphertext and its tag. */
interface GcmContext {
  /** 32 bytes. */
  key: Bytes
  /** 12 bytes, never used twice under one key. */
  iv: Bytes
  /** Additional authenticated data. */
  aad: Bytes
}

/** Encrypts; returns the ciphertext and the 16-byte tag separately. */
export async function encryptGcm(
  { key, iv, aad }: GcmContext,
  plaintext: Bytes,
): Promise<{ ct: Bytes; tag: Bytes }> {
  const aes = await importKey(key, iv, 'encrypt')
  const sealed = new Uint8Array(await crypto.subtle.encrypt(parameters(iv, aad), aes, plaintext))
  const split = sealed.length - TAG_BYTES
  return { ct: sealed.slice(0, split), tag: sealed.slice(split) }
}

/**
 * Decrypts. @throws ProtocolError `undecryptable` if key, iv, aad, ciphertext or tag differs from the one used to
 * encrypt
 */
export async function decryptGcm({ key, iv, aad }: GcmContext, ct: Bytes, tag: Bytes): Promise<Bytes> {
  assertLength('tag', tag, TAG_BYTES)
  const aes = await importKey(key, iv, 'decrypt')
  try {
    return new Uint8Array(await crypto.subtle.decrypt(parameters(iv, aad), aes, concatBytes(ct, tag)))
  } catch {
    throw new ProtocolError(
      'undecryptable',
      'the ciphertext does not open: the key, context or content differs',
    )
  }
}

function parameters(iv: Bytes, aad: Bytes): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: aad, tagLength: TAG_BYTES * 8 }
}

function importKey(key: Bytes, iv: Bytes, usage: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  assertLength('key', key, KEY_BYTES)
  assertLength('iv', iv, IV_BYTES)
  return crypto.subtle.importKey('raw', key, 'AES-GCM', false, [usage])
}
