import { open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { type Job, type RunResult, runResultSchema } from '../protocol/job.js'
import { JobError } from './input.js'

/**
 * The file that a run may write: of its own name, in the directory that its starter names in the environment. The job comes
 * from further away, and a path of its choice could be that of any file of this user's.
 * @throws JobError for a job that names another
 */
export function ownResultFile(
  { runId, resultFile }: Pick<Job, 'runId' | 'resultFile'>,
  directory: string | undefined,
): string {
  if (!directory) throw new JobError('ENCLAVE_RESULT_DIR: is missing')
  const own = join(resolve(directory), `${runId}.result`)
  if (resultFile !== own)
    throw new JobError('the job names another file than its result in ENCLAVE_RESULT_DIR')
  return own
}

/** Writes a result whole or not at all: to a new file beside it, on disk, then under its name. Follows no link. */
export async function writeResult(path: string, result: RunResult): Promise<void> {
  const temporary = `${path}.tmp`
  // An earlier attempt's, or a link that was put there.
  await rm(temporary, { force: true })
  await withFile(temporary, 'wx', async (file) => {
    await file.writeFile(JSON.stringify(z.encode(runResultSchema, result)))
    await file.sync()
  })
  await rename(temporary, path)
  // The new name is lasting once its directory is.
  await withFile(dirname(path), 'r', (directory) => directory.sync())
}

type File = Awaited<ReturnType<typeof open>>

async function withFile(path: string, flags: string, use: (file: File) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await use(file)
  } finally {
    await file.close()
  }
}
