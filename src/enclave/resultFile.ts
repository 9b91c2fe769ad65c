import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { type RunResult, runResultSchema } from '../protocol/job.js'

/** Writes a result whole or not at all: to a file beside it, on disk, then under its name. */
export async function writeResult(path: string, result: RunResult): Promise<void> {
  const temporary = `${path}.tmp`
  await withFile(temporary, 'w', async (file) => {
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
