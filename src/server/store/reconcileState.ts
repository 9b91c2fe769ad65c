import { z } from 'zod'
import { describeError, type Logger } from '../logger.js'
import type { AtomicFiles } from './atomicFiles.js'

const stateSchema = z.strictObject({
  /** The latest reconcile that was done. */
  doneAt: z.iso.datetime().nullable(),
  /** The market's close after which the next one is due. */
  nextClose: z.iso.datetime().nullable(),
})
/** What a server that starts needs to know to notice that a reconcile was missed. */
export type ReconcileState = z.output<typeof stateSchema>

export interface ReconcileStateStore {
  /** Without a file that can be read: nothing was ever done. @throws StorageError */
  load(): Promise<ReconcileState>
  /** Durable when it resolves. @throws StorageError */
  save(state: ReconcileState): Promise<void>
}

const FILE = 'reconcile.json'
const NOTHING: ReconcileState = { doneAt: null, nextClose: null }

export function createReconcileStateStore(options: {
  readonly files: AtomicFiles
  readonly logger: Logger
}): ReconcileStateStore {
  const { files, logger } = options
  return {
    async load() {
      const text = await files.read(FILE)
      if (text === undefined) return NOTHING
      try {
        return stateSchema.parse(JSON.parse(text))
      } catch (error) {
        logger.warn('record set aside: it cannot be parsed', { store: FILE, ...describeError(error) })
        await files.move(FILE, `${FILE}.corrupt`)
        return NOTHING
      }
    },
    save: (state) => files.write(FILE, `${JSON.stringify(state)}\n`),
  }
}
