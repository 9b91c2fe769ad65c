import type { EventFragment } from 'ethers'
import type { Hex } from '../../protocol/hex.js'

/** What a log says, as far as a node tells it. */
export interface RawLog {
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** The words of one event by the names of its fields, as unsigned numbers. */
export type Words = (field: string) => bigint

const WORD_DIGITS = 64

/**
 * Reads the logs of one event: its indexed fields are topics, the others words of the data, in their order. By hand, as
 * ethers takes twenty times as long. https://docs.soliditylang.org/en/latest/abi-spec.html#events
 *
 * @returns null for the log of another event of the same signature
 */
export function createWordReader({ inputs }: EventFragment): (log: RawLog) => Words | null {
  const indexed = inputs.filter((input) => input.indexed).map(({ name }) => name)
  const others = inputs.filter((input) => !input.indexed).map(({ name }) => name)
  return ({ topics, data }) => {
    if (topics.length !== 1 + indexed.length || data.length < 2 + others.length * WORD_DIGITS) return null
    return (field) => {
      const topic = topics[1 + indexed.indexOf(field)]
      if (indexed.includes(field) && topic !== undefined) return BigInt(topic)
      const start = 2 + others.indexOf(field) * WORD_DIGITS
      return BigInt(`0x${data.slice(start, start + WORD_DIGITS)}`)
    }
  }
}
