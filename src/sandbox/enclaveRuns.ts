import { join } from 'node:path'
import { isRunning } from '../server/processIdentity.js'
import { createRunRecords, type RunRecord } from '../server/store/runRecords.js'
import { openSqlite } from '../server/store/sqlite/sqliteEngine.js'
import { healthOf } from '../server/trigger/ownEnclave.js'
import { createLogger } from '../service/logger.js'

/**
 * Ends the enclaves that a server left: one for each run, or the one that stays up. They are made to outlive it, and nothing
 * of a sandbox may.
 *
 * @param root data directory of the server, which has stopped
 */
export async function endEnclaves(root: string): Promise<void> {
  for (const { process: run } of await readRuns(root)) {
    // Each leads a group of its own.
    if (run !== null && isRunning(run)) process.kill(-run.pid, 'SIGKILL')
  }
  const resident = await healthOf(join(root, 'enclave', 'door.sock'))
  if (resident !== undefined) process.kill(resident.pid, 'SIGKILL')
}

async function readRuns(root: string): Promise<RunRecord[]> {
  const engine = openSqlite({ directory: root, onBroken: () => undefined })
  try {
    return await createRunRecords({ engine, root, logger: createLogger({ level: 'silent' }) }).all()
  } finally {
    await engine.stop()
  }
}
