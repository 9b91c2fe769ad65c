import { join } from 'node:path'
import { createRunRecords, type RunRecord } from '../server/store/runRecords.js'
import { openSqlite } from '../server/store/sqlite/sqliteEngine.js'
import { healthOf } from '../server/trigger/ownEnclave.js'
import { createLogger } from '../service/logger.js'
import { isRunning } from '../service/processIdentity.js'

/**
 * Kills the enclaves that a server left: one for each run, or the resident one. They are designed to outlive the
 * server, but must not outlive the sandbox.
 * @param root data directory of the stopped server
 */
export async function endEnclaves(root: string): Promise<void> {
  for (const { process: run } of await readRuns(root)) {
    // Each enclave leads its own process group.
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
