import * as z from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema } from '../../protocol/hex.js'
import {
  enclaveBootSchema,
  provisionalResultSchema,
  runIdSchema,
  runResultSchema,
} from '../../protocol/job.js'
import { timestampSchema } from '../../protocol/orderTerms.js'
import type { Logger } from '../../service/logger.js'
import { createDocuments, type Entry } from './documents.js'
import type { Engine } from './engine.js'

const common = {
  runId: runIdSchema,
  startedAt: z.iso.datetime(),
  /** Unix seconds. */
  stopAt: timestampSchema,
  /** The enclave that accepted it, where its answer named one. */
  enclave: z.optional(enclaveBootSchema),
  /** The notice that the run posted before its end: it belongs to the result if that is a failure. */
  provisional: z.optional(provisionalResultSchema),
  result: z.optional(runResultSchema),
}

const runRecordSchema = z.discriminatedUnion('job', [
  z.strictObject({
    job: z.literal('order'),
    ...common,
    orderId: bytes32Schema,
    account: addressSchema,
    attempt: z.int().positive(),
  }),
  z.strictObject({ job: z.enum(['policy', 'resolve', 'reconcile']), ...common }),
])
/** The row of a run, by which a new term follows it when an earlier term ended before it. */
export type RunRecord = z.output<typeof runRecordSchema>

/** The runs under way. Every method rejects with StorageError. */
export type RunRecords = ReturnType<typeof createRunRecords>

export function createRunRecords(options: { readonly engine: Engine; readonly logger: Logger }) {
  const documents = createDocuments({ ...options, table: 'runs', schema: runRecordSchema })
  return {
    get: documents.get,
    getMany: async (runIds: readonly string[]) => (await documents.getMany(runIds)).map(({ value }) => value),
    /** Durable when it resolves. Rejects while its account, or the reconcile, has another run. */
    create: (run: RunRecord) => documents.change(run.runId, () => entryOf(run)),
    /**
     * Changes an existing run, atomically among all servers; `change` returns undefined to write nothing.
     * Durable when it resolves.
     */
    change: (runId: string, change: (run: RunRecord) => RunRecord | undefined) =>
      documents.change(runId, (current) => {
        const next = current && change(current.value)
        return next && entryOf(next)
      }),
    all: async () => (await documents.openEntries()).map(({ value }) => value),
    remove: (runId: string) => documents.remove(runId),
  }
}

/** An account has one unfinished run, and so has the reconcile. */
function entryOf(run: RunRecord): Entry<RunRecord> {
  const uniqueKey = run.job === 'order' ? run.account : run.job === 'reconcile' ? run.job : null
  return { value: run, isOpen: true, uniqueKey }
}
