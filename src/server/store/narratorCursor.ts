import { z } from 'zod'
import { bytes32Schema } from '../../protocol/hex.js'
import type { Logger } from '../logger.js'
import type { AtomicFiles } from './atomicFiles.js'
import { createJsonFile, type JsonFile } from './jsonFile.js'

const cursorSchema = z.strictObject({
  /** The last block whose events were narrated. */
  block: z.int().min(0),
  /** Its hash, by which a changed history is noticed; null after going back. */
  hash: bytes32Schema.nullable(),
  /** The block that narration began after: what was before it is never told, as long as it is on the chain. */
  start: z.strictObject({ number: z.int().min(0), hash: bytes32Schema }),
  /** The events narrated in the last blocks, so that none is repeated after going back. */
  recent: z.array(z.strictObject({ block: z.int().min(0), id: z.string() })),
})
/** How far the narration has come. */
export type Cursor = z.output<typeof cursorSchema>

/** The cursor on disk. */
export type CursorStore = JsonFile<Cursor>

export function createCursorStore(options: { files: AtomicFiles; logger: Logger }): CursorStore {
  return createJsonFile({ ...options, path: 'narrator.json', schema: cursorSchema })
}
