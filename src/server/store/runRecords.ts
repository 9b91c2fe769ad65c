import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { timestampSchema } from '../../protocol/intent.js'
import {
  enclaveBootSchema,
  provisionalResultSchema,
  runIdSchema,
  runResultSchema,
} from '../../protocol/job.js'
import type { Logger } from '../../service/logger.js'
import { createDocuments, type Entry } from './documents.js'
import type { Engine } from './engine.js'
import { StorageError } from './storageError.js'

/** A process of this machine, as `ProcessIdentity` has it. */
const processSchema = z.strictObject({
  space: z.string(),
  pid: z.int().positive(),
  startedAt: z.string().nullable(),
})

const common = {
  runId: runIdSchema,
  startedAt: z.iso.datetime(),
  /** Unix seconds. */
  stopAt: timestampSchema,
  /** Null for an enclave that is not a process of this machine. */
  process: processSchema.nullable(),
  /** The enclave that took it, where its answer named one. */
  enclave: enclaveBootSchema.optional(),
  /** The notice that the run posted before its end: it belongs to the result if that is a failure. */
  provisional: provisionalResultSchema.optional(),
  /** Its end, as the enclave posted it. */
  result: runResultSchema.optional(),
}

const runRecordSchema = z.discriminatedUnion('job', [
  z.strictObject({
    job: z.literal('order'),
    ...common,
    orderId: bytes32Schema,
    account: addressSchema,
    attempt: z.int().positive(),
  }),
  z.strictObject({ job: z.literal('policy'), ...common }),
  z.strictObject({ job: z.literal('reconcile'), ...common }),
])
/** The row of a run, by which a new term follows it when an earlier term left it under way. */
export type RunRecord = z.output<typeof runRecordSchema>

/** The runs under way. Every method rejects with StorageError. */
export interface RunRecords {
  /** Where enclaves of this machine write their results; absolute. */
  readonly resultDirectory: string
  /** The file of one of them; absolute. */
  resultPath(runId: string): string
  get(runId: string): Promise<RunRecord | undefined>
  /** Those that exist, in any order. */
  getMany(runIds: readonly string[]): Promise<RunRecord[]>
  /** Durable when it resolves. Rejects while its account, or the reconcile, has another run. */
  create(run: RunRecord): Promise<void>
  /**
   * Changes an existing run, atomically among all servers; `change` returns undefined to write nothing.
   * Durable when it resolves.
   */
  change(runId: string, change: (run: RunRecord) => RunRecord | undefined): Promise<void>
  all(): Promise<RunRecord[]>
  /** Removes a run's record and its result. */
  remove(runId: string): Promise<void>
}

export function createRunRecords(options: {
  readonly engine: Engine
  /** The data directory, absolute. */
  readonly root: string
  readonly logger: Logger
}): RunRecords {
  const documents = createDocuments({ ...options, table: 'runs', schema: runRecordSchema })
  const resultDirectory = join(options.root, 'runs')
  // An unchecked id could lead out of the directory.
  const resultPath = (runId: string) => join(resultDirectory, `${runIdSchema.parse(runId)}.result`)
  return {
    resultDirectory,
    resultPath,
    get: documents.get,
    getMany: async (runIds) => (await documents.getMany(runIds)).map(({ value }) => value),
    create: (run) => documents.change(run.runId, () => entryOf(run), true),
    change: (runId, change) =>
      documents.change(runId, (current) => {
        const next = current && change(current.value)
        return next && entryOf(next)
      }),
    all: documents.open,
    async remove(runId) {
      const run = await documents.get(runId)
      // A killed process may leave its result half written. The run's record is removed last, because a start finds the files
      // of a crashed process by it.
      if (run?.process) await removeFiles(resultPath(runId), `${resultPath(runId)}.tmp`)
      await documents.remove(runId)
    },
  }
}

function entryOf(run: RunRecord): Entry<RunRecord> {
  return { value: run, isOpen: true, uniqueKey: uniqueKeyOf(run) }
}

/** An account has one unfinished run, and so has the reconcile. */
function uniqueKeyOf(run: RunRecord): string | null {
  if (run.job === 'order') return run.account
  return run.job === 'reconcile' ? run.job : null
}

async function removeFiles(...paths: string[]): Promise<void> {
  try {
    for (const path of paths) await rm(path, { force: true })
  } catch (error) {
    throw new StorageError(error)
  }
}
