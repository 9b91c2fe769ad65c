import { ProtocolError } from './errors.js'
import type { Bytes } from './hex.js'
import { parseStrictJson } from './strictJson.js'

const SPACE = 0x20

/** UTF-8 JSON padded with spaces to a multiple of `block` bytes, which hides the length of what is inside. */
export function encodePadded(value: unknown, block: number): Bytes {
  const json = new TextEncoder().encode(JSON.stringify(value))
  const padded = new Uint8Array(Math.ceil(json.length / block) * block).fill(SPACE)
  padded.set(json)
  return padded
}

/**
 * The JSON value in a padded plaintext, not yet checked; a repeated member name is refused.
 * @throws ProtocolError `invalid-plaintext`
 */
export function decodePadded(bytes: Bytes): unknown {
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw new ProtocolError('invalid-plaintext', 'the plaintext is not strict UTF-8 JSON')
  }
}
