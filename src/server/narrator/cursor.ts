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

export function lastOf({ blocks }: Cursor): NarratedBlock {
  const last = blocks.at(-1)
  if (last === undefined) throw new TypeError('a cursor has a block')
  return last
}

/**
 * The cursor after further blocks were narrated. Of the blocks that are final at `head`, only the highest is kept, without
 * its events, so that the record stays small.
 */
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
 * @param hashAt the present hash of the block at a height, undefined where the node has none
 * @returns 'unclear' where no block differs, 'reset' where one that counted as final does; else the history that remains, and
 *   the blocks that were replaced
 */
export function judge(
  cursor: Cursor,
  hashAt: (number: number) => Hex | undefined,
): 'unclear' | 'reset' | { readonly cursor: Cursor; readonly removed: readonly NarratedBlock[] } {
  const { genesis, start, blocks } = cursor
  const isOther = ({ number, hash }: BlockId) => (hashAt(number) ?? hash) !== hash
  const firstOther = blocks.findIndex(isOther)
  const kept = firstOther === -1 ? blocks : blocks.slice(0, firstOther)
  const lastKept = kept.at(-1)
  const isGenesisOther = genesis !== null && isOther({ number: 0, hash: genesis })
  if (isGenesisOther || lastKept === undefined) return 'reset'
  // If narration began at a head that was reorganized away, it began after the rest of that history.
  const { number, hash } = lastKept
  const began = start.number > number ? { number, hash } : start
  if (firstOther === -1) return 'unclear'
  return { cursor: { ...cursor, start: began, blocks: kept }, removed: blocks.slice(firstOther) }
}
