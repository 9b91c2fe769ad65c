import { ProtocolError } from './errors.js'
import type { Bytes } from './hex.js'
import { parseStrictJson } from './strictJson.js'

const SPACE = 0x20

/**
 * UTF-8 JSON padded with spaces to a multiple of `block` bytes, which hides the length of what is inside.
 * @param previous bytes of the plaintext that this one replaces: it shrinks by one block at a time, and only once two
 *   are empty. What is stored on a chain costs more to grow again than it saves by shrinking.
 */
export function encodePadded(value: unknown, block: number, previous = 0): Bytes {
  const json = new TextEncoder().encode(JSON.stringify(value))
  const needed = Math.ceil(json.length / block) * block
  const kept = previous - needed >= 2 * block ? previous - block : previous
  const padded = new Uint8Array(Math.max(needed, kept)).fill(SPACE)
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
