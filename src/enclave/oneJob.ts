// How a process that does one job gets it, from standard input, and where it leaves the result.
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { type Job, jobSchema, type RunResult, runResultSchema } from '../protocol/job.js'

/** A rulebook of 16,384 bytes is 32,770 characters of hex. */
export const MAX_JOB_BYTES = 128 * 1_024

/** Standard input held something other than one job that may be run. The message quotes nothing of it. */
export class JobError extends Error {
  override readonly name = 'JobError'
}

/** Reads one job, a JSON object, to the end of the stream. @throws JobError */
export async function readJob(input: Readable): Promise<Job> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > MAX_JOB_BYTES) throw new JobError('the job is too large')
    chunks.push(bytes)
  }
  try {
    return jobSchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
  } catch {
    throw new JobError('standard input holds no job')
  }
}

/**
 * The file that a run may write: of its own name, in the directory that its starter names in the environment. The job comes
 * from further away, and could otherwise name any file of this user.
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
  // Removes an earlier attempt's file, or a planted link.
  await rm(temporary, { force: true })
  await withFile(temporary, 'wx', async (file) => {
    await file.writeFile(JSON.stringify(z.encode(runResultSchema, result)))
    await file.sync()
  })
  await rename(temporary, path)
  // The new name is durable once its directory is.
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
