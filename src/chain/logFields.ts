import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { ChainAnswerError } from './errors.js'

// The fields of a log as nodes answer them (`eth_getLogs`), read by hand: events are caught up with by the hundred thousand, and a
// schema of every field takes as long for them as the node does. All throw ChainAnswerError.

const WORD = /^0x[0-9a-f]{64}$/
const HEX = /^0x(?:[0-9a-f]{2})*$/
/** What a JavaScript number holds exactly. */
const SMALL_QUANTITY = /^0x[0-9a-f]{1,13}$/
const SMALL_WORD = /^0x0{51}[0-9a-f]{13}$/
const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/

/** 32 bytes: a topic, a hash. */
export function wordOf(text: string): Hex {
  return matching(text, WORD)
}

export function hexOf(text: string): Hex {
  return matching(text, HEX)
}

/** A block's number, a log's index, a time. */
export function numberOf(text: string): number {
  return Number(matching(text, SMALL_QUANTITY))
}

const WORD_DIGITS = 64
const ADDRESS_DIGITS = 40

/** One of the words of a log's data. */
export function wordAt(data: string, index: number): Hex {
  const begin = 2 + index * WORD_DIGITS
  return wordOf(`0x${data.slice(begin, begin + WORD_DIGITS)}`)
}

/** The address that a word holds, checksummed. */
export function addressIn(word: string): Hex {
  return checksum(`0x${matching(word, ADDRESS_WORD).slice(-ADDRESS_DIGITS)}`)
}

/** The number that a word holds, when it is as small as a time. */
export function numberIn(word: string): number {
  return Number(matching(word, SMALL_WORD))
}

function matching(text: string, pattern: RegExp): Hex {
  const lower = text.toLowerCase()
  if (isHex(lower, pattern)) return lower
  throw new ChainAnswerError('a node answered with an event of another form')
}

function isHex(text: string, pattern: RegExp): text is Hex {
  return pattern.test(text)
}
