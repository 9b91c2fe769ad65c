import { randomUUID } from 'node:crypto'
import { access, constants, open, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Finding, fault, ok, unchecked } from '../../protocol/finding.js'
import type { Config } from '../../server/config.js'

/** Whether the server could write to what it stores its records in. */
export async function checkStores(config: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<Finding> {
  if (config.databaseUrl === undefined) return checkDataDir(config.dataDir)
  return unchecked('database', 'the stores are in PostgreSQL: the server tries DATABASE_URL at its start')
}

/**
 * Whether the server could write there: by a small file that is removed again, or, where the directory does not exist
 * yet, by the rights on the one that it would be made in.
 *
 * @param directory absolute
 */
async function checkDataDir(directory: string): Promise<Finding> {
  try {
    const exists = await isDirectory(directory)
    if (exists) await writeAndRemove(join(directory, `doctor-${randomUUID()}`))
    else await assertCanBeMade(directory)
    return ok('data-dir', exists ? 'DATA_DIR can be written' : 'DATA_DIR will be made by the server')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return fault(
      'data-dir',
      `DATA_DIR cannot be written (${reason}): give the server's user the rights, or name another directory`,
    )
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

async function writeAndRemove(path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile('doctor')
    await file.sync()
  } finally {
    await file.close()
    await unlink(path)
  }
}

async function assertCanBeMade(directory: string): Promise<void> {
  const parent = dirname(directory)
  if (await isDirectory(parent)) await access(parent, constants.W_OK | constants.X_OK)
  else await assertCanBeMade(parent)
}
