import { join } from 'node:path'
import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { timestampSchema } from '../../protocol/intent.js'
import { type RunResult, runIdSchema, runResultSchema } from '../../protocol/job.js'
import type { Logger } from '../logger.js'
import type { AtomicFiles } from './atomicFiles.js'
import { createFileRecordStore } from './recordStore.js'

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
  /** Null before the spawn, and for an enclave that is not a process of this machine. */
  process: processSchema.nullable(),
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

/** Files of the runs under way: `runs/<runId as hex>.json`, and beside each its result. */
export interface RunFiles {
  /** Where the enclave writes its result; absolute. */
  resultPath(runId: string): string
  put(run: RunFile): Promise<void>
  has(runId: string): Promise<boolean>
  /** Leaves a result where the enclave would, for one that can't. */
  putResult(runId: string, result: RunResult): Promise<void>
  all(): Promise<RunFile[]>
  /** Removes a run's file and its result. */
  remove(runId: string): Promise<void>
}

const DIRECTORY = 'runs'

/** `root` is the data directory, absolute. */
export function createRunFiles(options: {
  readonly files: AtomicFiles
  readonly root: string
  readonly logger: Logger
}): RunFiles {
  const { files, root, logger } = options
  const store = createFileRecordStore({
    files,
    logger,
    directory: DIRECTORY,
    sharded: false,
    schema: runFileSchema,
  })
  const resultName = (runId: string) => `${DIRECTORY}/${runId}.result`
  return {
    resultPath: (runId) => join(root, resultName(runId)),
    put: (run) => store.put(recordId(run.runId), run),
    has: async (runId) => (await store.get(recordId(runId))) !== undefined,
    putResult: (runId, result) =>
      files.write(resultName(runId), JSON.stringify(z.encode(runResultSchema, result))),
    async all() {
      const runs = await Promise.all((await store.ids()).map((id) => store.get(id)))
      return runs.filter((run) => run !== undefined)
    },
    async remove(runId) {
      // A run that was killed may leave its result half written. The run's own file goes last: by it a start finds
      // what a crash left behind.
      await files.remove(resultName(runId))
      await files.remove(`${resultName(runId)}.tmp`)
      await store.delete(recordId(runId))
    },
  }
}

function recordId(runId: string): string {
  return `0x${runId.replaceAll('-', '')}`
}
