import { z } from 'zod'
import type { Logger } from '../../service/logger.js'
import type { AtomicFiles } from './atomicFiles.js'
import { createJsonFile } from './jsonFile.js'

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

export function createReconcileStateStore(options: {
  readonly files: AtomicFiles
  readonly logger: Logger
}): ReconcileStateStore {
  const file = createJsonFile({ ...options, path: 'reconcile.json', schema: stateSchema })
  return {
    load: async () => (await file.load()) ?? { doneAt: null, nextClose: null },
    save: (state) => file.save(state),
  }
}
