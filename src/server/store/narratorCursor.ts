import { z } from 'zod'
import { bytes32Schema } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { narrationSchema } from '../narrator/narration.js'
import { createStateDocument, type StateDocument } from './documents.js'
import type { Engine } from './engine.js'

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
