import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { timestampSchema } from '../../protocol/intent.js'
import { enclaveBootSchema, provisionalResultSchema, runIdSchema } from '../../protocol/job.js'
import type { Logger } from '../../service/logger.js'
import type { AtomicFiles } from './atomicFiles.js'
import { createRunRecords, type RunRecords } from './runRecords.js'

/** A process of this machine, as `ProcessIdentity` has it. */
export const processSchema = z.strictObject({
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
  /** The enclave that took it, where it has said so. */
  enclave: enclaveBootSchema.optional(),
  /** What the run has told before its end: it belongs to the result, should that be a failure. */
  told: provisionalResultSchema.optional(),
}

const runFileSchema = z.discriminatedUnion('job', [
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
/** What a server that starts needs to know of a run that its predecessor left under way. */
export type RunFile = z.output<typeof runFileSchema>

/** The runs under way. */
export type RunFiles = RunRecords<RunFile>

/** `root` is the data directory, absolute. */
export function createRunFiles(options: {
  readonly files: AtomicFiles
  readonly root: string
  readonly logger: Logger
}): RunFiles {
  return createRunRecords({ ...options, schema: runFileSchema })
}
