import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { type RunResult, runResultSchema } from '../../../protocol/job.js'

/** A notice of 4 KiB in hex and some words: far below. */
export const MAX_RESULT_BYTES = 65_536

/** A link could lead to a file of this user's, and a pipe would be waited for without end. */
const NO_LINK_NO_WAIT = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export type ResultFile =
  | { readonly kind: 'absent' | 'garbage' }
  | { readonly kind: 'result'; readonly result: RunResult }

/** Reads the file that a run left. It never throws, because the enclave is another program. */
export async function readResultFile(path: string): Promise<ResultFile> {
  const text = await readBounded(path)
  if (text === undefined) return { kind: 'absent' }
  try {
    return { kind: 'result', result: runResultSchema.parse(JSON.parse(text)) }
  } catch {
    return { kind: 'garbage' }
  }
}

/** Undefined when there is no such file; empty when it is none; cut after the limit, which makes it garbage. */
async function readBounded(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, NO_LINK_NO_WAIT)
    try {
      if (!(await file.stat()).isFile()) return ''
      const buffer = Buffer.alloc(MAX_RESULT_BYTES)
      const { bytesRead } = await file.read(buffer, 0, MAX_RESULT_BYTES, 0)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    return ''
  }
}
