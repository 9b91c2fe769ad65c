import type { Readable } from 'node:stream'
import { type Job, jobSchema } from '../protocol/job.js'

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
