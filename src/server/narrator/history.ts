import { z } from 'zod'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { createStateDocument, type StateDocument } from '../store/documents.js'
import type { Engine } from '../store/engine.js'
import type { BlockId } from './chainReader.js'
import { narrationSchema } from './narration.js'

const blockSchema = z.strictObject({ number: z.int().min(0), hash: bytes32Schema })

const cursorSchema = z.strictObject({
  /** The hash of block 0, by which another chain is known; null where the node does not have that block. */
  genesis: bytes32Schema.nullable(),
  /** The block that narration began after: what was before it is never told, as long as it is on the chain. */
  start: blockSchema,
  /**
   * Blocks of the history that was told, lowest first; the last one is as far as narration has come. Every block with
   * told events is among them, down to the first one, which is taken to be final.
   */
  blocks: z.array(z.strictObject({ ...blockSchema.shape, told: z.array(narrationSchema) })).min(1),
})
/** How far the narration has come, and what it may have to take back. */
export type Cursor = z.output<typeof cursorSchema>
export type ToldBlock = Cursor['blocks'][number]

export type CursorStore = StateDocument<Cursor>

export function createCursorStore(options: {
  readonly engine: Engine
  readonly logger: Logger
}): CursorStore {
  return createStateDocument({ ...options, id: 'narrator', schema: cursorSchema })
}

/** Blocks below the head after which a block is taken to be final: two epochs of Ethereum. */
export const FINAL_DEPTH = 64
/** Events that are kept to be taken back; beyond them the oldest blocks count as final earlier. */
export const MAX_KEPT_EVENTS = 20_000

/** The block up to which everything is told. */
export function lastOf({ blocks }: Cursor): ToldBlock {
  const last = blocks.at(-1)
  if (last === undefined) throw new TypeError('a cursor has a block')
  return last
}

/**
 * The cursor after further blocks were told. Of what is final by `head`, only the highest block is kept, without its
 * events, so that the file stays small.
 */
export function extended(cursor: Cursor, told: readonly ToldBlock[], head: number): Cursor {
  const blocks = [...cursor.blocks, ...told]
  const highestFinal = blocks.findLastIndex(({ number }) => number <= head - FINAL_DEPTH)
  const first = Math.max(0, highestFinal, firstWithin(blocks))
  const kept = blocks.slice(first)
  return {
    ...cursor,
    blocks: kept.map((block, index) => (index === 0 ? { ...block, told: [] } : block)),
  }
}

/** The first block after which there are no more events than may be kept. */
function firstWithin(blocks: readonly ToldBlock[]): number {
  let count = 0
  for (let index = blocks.length - 1; index > 0; index--) {
    count += blocks[index]?.told.length ?? 0
    if (count > MAX_KEPT_EVENTS) return index
  }
  return 0
}

/** What became of the history that was told. */
export type Verdict =
  /** Nothing says that it is another one: the node may be behind. */
  | { readonly kind: 'unclear' }
  /** Blocks at its end were replaced. */
  | { readonly kind: 'reorganized'; readonly cursor: Cursor; readonly removed: readonly ToldBlock[] }
  /** What was taken to be final was replaced. */
  | { readonly kind: 'reset' }

/**
 * Compares with what a node has by now. Only another block in the place of one proves anything: one that is missing
 * does not, as a node that is behind has fewer blocks, and so has a chain that was shortened and has not grown yet.
 *
 * @param hashAt the hash of the block that has the number now, undefined where the node has none
 */
export function judge(cursor: Cursor, hashAt: (number: number) => Hex | undefined): Verdict {
  const { genesis, start, blocks } = cursor
  const isOther = ({ number, hash }: BlockId) => (hashAt(number) ?? hash) !== hash
  if (genesis !== null && isOther({ number: 0, hash: genesis })) return { kind: 'reset' }
  const firstOther = blocks.findIndex(isOther)
  const kept = firstOther === -1 ? blocks : blocks.slice(0, firstOther)
  const lastKept = kept.at(-1)
  if (lastKept === undefined) return { kind: 'reset' }
  // Narration began at a head that was not final yet: it began after what is left of that history.
  const { number, hash } = lastKept
  const began = start.number > number ? { number, hash } : start
  if (isOther(began)) return { kind: 'reset' }
  if (firstOther === -1) return { kind: 'unclear' }
  return {
    kind: 'reorganized',
    cursor: { ...cursor, start: began, blocks: kept },
    removed: blocks.slice(firstOther),
  }
}
