import { join } from 'node:path'
import { z } from 'zod'
import { type RunResult, runIdSchema, runResultSchema } from '../../protocol/job.js'
import type { Logger } from '../../service/logger.js'
import type { AtomicFiles } from './atomicFiles.js'
import { createFileRecordStore } from './recordStore.js'

/** Records of runs by their id: `runs/<runId as hex>.json`, and beside each its result. Every method rejects with StorageError. */
export interface RunRecords<T> {
  /** Where the enclaves write their results; absolute. */
  readonly resultDirectory: string
  /** The file of one of them; absolute. */
  resultPath(runId: string): string
  get(runId: string): Promise<T | undefined>
  /** Durable when it resolves. */
  put(run: T): Promise<void>
  /** Leaves a result where the enclave would, for one that can't. */
  putResult(runId: string, result: RunResult): Promise<void>
  all(): Promise<T[]>
  /** Removes a run's record and its result. */
  remove(runId: string): Promise<void>
}

const DIRECTORY = 'runs'

/** `root` is the data directory, absolute. */
export function createRunRecords<T extends { readonly runId: string }>(options: {
  readonly files: AtomicFiles
  readonly root: string
  readonly schema: z.ZodType<T>
  readonly logger: Logger
}): RunRecords<T> {
  const { files, root, schema, logger } = options
  const store = createFileRecordStore({ files, logger, directory: DIRECTORY, sharded: false, schema })
  // An id that was not checked could be a way out of the directory.
  const resultName = (runId: string) => `${DIRECTORY}/${runIdSchema.parse(runId)}.result`
  return {
    resultDirectory: join(root, DIRECTORY),
    resultPath: (runId) => join(root, resultName(runId)),
    get: (runId) => store.get(recordId(runId)),
    put: (run) => store.put(recordId(run.runId), run),
    putResult: (runId, result) =>
      files.write(resultName(runId), JSON.stringify(z.encode(runResultSchema, result))),
    async all() {
      const runs = await Promise.all((await store.ids()).map((id) => store.get(id)))
      return runs.filter((run) => run !== undefined)
    },
    async remove(runId) {
      // A run that was killed may leave its result half written. The run's own record goes last: by it a start finds
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
