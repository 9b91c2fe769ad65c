import { z } from 'zod'
import type { BlockId } from '../../chain/logReader.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { narrationSchema } from './events.js'

const blockSchema = z.strictObject({ number: z.int().min(0), hash: bytes32Schema })

export const cursorSchema = z.strictObject({
  /** The hash of block 0, which identifies the chain; null where the node does not have that block. */
  genesis: z.nullable(bytes32Schema),
  /** The block that narration began after: earlier events are never narrated while it is on the chain. */
  start: blockSchema,
  /**
   * Narrated blocks, lowest first; the last one is the end of the narration. They contain every block with narrated events,
   * down to the first one, which counts as final.
   */
  blocks: z.array(z.strictObject({ ...blockSchema.shape, told: z.array(narrationSchema) })).min(1),
})
/** The end of the narration, and the events that it may have to retract. */
export type Cursor = z.output<typeof cursorSchema>
export type NarratedBlock = Cursor['blocks'][number]

/** Blocks below the head at which a block counts as final: two epochs of Ethereum. */
export const FINAL_DEPTH = 64

export function lastOf({ blocks }: Pick<Cursor, 'blocks'>): NarratedBlock {
  const last = blocks.at(-1)
  if (last === undefined) throw new TypeError('a cursor has a block')
  return last
}

/** The cursor after further blocks were narrated. The highest block that is final at `head` is its first, without its events. */
export function extended(cursor: Cursor, told: readonly NarratedBlock[], head: number): Cursor {
  const blocks = [...cursor.blocks, ...told]
  const highestFinal = blocks.findLastIndex(({ number }) => number <= head - FINAL_DEPTH)
  const kept = blocks.slice(Math.max(0, highestFinal))
  return { ...cursor, blocks: kept.map((block, index) => (index === 0 ? { ...block, told: [] } : block)) }
}

/**
 * Compares the narrated history with a node's present blocks. Only another block at the same height proves a reorganization. A
 * missing one does not: a node that is behind has fewer blocks, and so has a chain that was just shortened.
 *
 * @param hashes the present blocks, without those that the node does not have
 * @returns the history that remains; 'unclear' where no block differs, 'reset' where one that counted as final does
 */
export function remaining(cursor: Cursor, hashes: ReadonlyMap<number, Hex>): Cursor | 'unclear' | 'reset' {
  const { genesis, start, blocks } = cursor
  const isOther = ({ number, hash }: BlockId) => (hashes.get(number) ?? hash) !== hash
  const firstOther = blocks.findIndex(isOther)
  if (firstOther === 0 || (genesis !== null && isOther({ number: 0, hash: genesis }))) return 'reset'
  if (firstOther === -1) return 'unclear'
  const kept = blocks.slice(0, firstOther)
  const { number, hash } = lastOf({ blocks: kept })
  // If narration began at a head that was reorganized away, it began after the rest of that history.
  return { ...cursor, start: start.number > number ? { number, hash } : start, blocks: kept }
}
