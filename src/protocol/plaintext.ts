import { ProtocolError } from './errors.js'
import type { Bytes } from './hex.js'
import { parseStrictJson } from './strictJson.js'

const SPACE = 0x20

/**
 * UTF-8 JSON padded with spaces to a multiple of `block` bytes, which hides the content's length.
 * @param previous bytes of the plaintext that this one replaces. The result shrinks by at most one block, and only if
 *   two blocks are empty: growing on-chain storage again costs more than shrinking it saves.
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
 * The JSON value in a padded plaintext, unvalidated; refuses repeated member names.
 * @throws ProtocolError `invalid-plaintext`
 */
export function decodePadded(bytes: Bytes): unknown {
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw new ProtocolError('invalid-plaintext', 'the plaintext is not strict UTF-8 JSON')
  }
}
