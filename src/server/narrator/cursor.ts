import { z } from 'zod'
import { bytes32Schema } from '../../protocol/hex.js'
import { describeError, type Logger } from '../logger.js'
import type { AtomicFiles } from '../store/atomicFiles.js'

/** How far narration goes back when the chain's history has changed below it. */
export const REWIND_BLOCKS = 64

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

const FILE = 'narrator.json'

/** The cursor on disk. */
export interface CursorStore {
  /** Undefined without one that can be read. @throws StorageError */
  load(): Promise<Cursor | undefined>
  /** Durable when it resolves. @throws StorageError */
  save(cursor: Cursor): Promise<void>
}

export function createCursorStore(options: { files: AtomicFiles; logger: Logger }): CursorStore {
  const { files, logger } = options
  return {
    async load() {
      const text = await files.read(FILE)
      if (text === undefined) return undefined
      try {
        return cursorSchema.parse(JSON.parse(text))
      } catch (error) {
        logger.warn('record set aside: it cannot be parsed', { store: FILE, ...describeError(error) })
        await files.move(FILE, `${FILE}.corrupt`)
        return undefined
      }
    },
    save: (cursor) => files.write(FILE, `${JSON.stringify(cursor)}\n`),
  }
}
