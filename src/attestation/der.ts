// The part of DER (X.690) that certificates use.
import type { Bytes } from '../protocol/hex.js'
import { type Reader, readerOf } from './bytes.js'
import { demand } from './errors.js'

export const INTEGER = 0x02
export const BIT_STRING = 0x03
export const OCTET_STRING = 0x04
export const UTC_TIME = 0x17
export const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
/** `[3]`, explicit: a certificate's extensions. */
export const EXTENSIONS = 0xa3

export interface Element {
  readonly tag: number
  readonly content: Bytes
  /** Tag, length and content. */
  readonly whole: Bytes
}

/**
 * The elements that fill the bytes. Tags have one byte, and lengths their shortest form, of 64 KiB at most.
 * @throws AttestationError `malformed-evidence`
 */
function elementsIn(bytes: Bytes): Element[] {
  const reader = readerOf(bytes)
  const elements: Element[] = []
  for (let left = reader.left(); left > 0; left = reader.left()) {
    const tag = reader.uint(1)
    const content = reader.take(lengthIn(reader))
    elements.push({ tag, content, whole: bytes.subarray(-left, bytes.length - reader.left()) })
  }
  return elements
}

function lengthIn(reader: Reader): number {
  const first = reader.uint(1)
  if (first < 0x80) return first
  if (first === 0x81) return reader.uint(1, 0x80)
  demand(first === 0x82)
  return reader.uint(2, 0x100)
}

/** The content of an element of this tag. @throws AttestationError `malformed-evidence` */
export function contentOf(element: Element | undefined, tag: number): Bytes {
  demand(element?.tag === tag)
  return element.content
}

/** The elements of the one sequence that fills the bytes. @throws AttestationError `malformed-evidence` */
export function sequenceIn(bytes: Bytes): Element[] {
  const [sequence, ...others] = elementsIn(bytes)
  demand(others.length === 0)
  return elementsIn(contentOf(sequence, SEQUENCE))
}
