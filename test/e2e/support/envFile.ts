import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'dotenv'

export type Variables = Readonly<Record<string, string>>

/** A copy of an env file in `directory` with some variables changed. */
export async function changedEnvFile(source: string, directory: string, name: string, changes: Variables) {
  const variables = { ...parse(await readFile(source)), ...changes }
  const lines = Object.entries(variables).map(([key, value]) => `${key}=${value}`)
  const path = join(directory, name)
  await writeFile(path, `${lines.join('\n')}\n`, { mode: 0o600 })
  return path
}
