import { z } from 'zod'
import type { Logger } from '../../service/logger.js'
import { createStateDocument } from './documents.js'
import type { Engine } from './engine.js'

const stateSchema = z.strictObject({
  /** The end of the latest reconcile that succeeded. */
  doneAt: z.iso.datetime().nullable(),
  /** The market's close after which the next one is due. */
  nextClose: z.iso.datetime().nullable(),
})
/** Shows a new term whether it missed a reconcile. */
export type ReconcileState = z.output<typeof stateSchema>

/** Every method rejects with StorageError. */
export interface ReconcileStateStore {
  load(): Promise<ReconcileState>
  /** Durable when it resolves. */
  save(state: ReconcileState): Promise<void>
}

export function createReconcileStateStore(options: {
  readonly engine: Engine
  readonly logger: Logger
}): ReconcileStateStore {
  const document = createStateDocument({ ...options, id: 'reconcile', schema: stateSchema })
  return {
    load: async () => (await document.load()) ?? { doneAt: null, nextClose: null },
    save: document.save,
  }
}
