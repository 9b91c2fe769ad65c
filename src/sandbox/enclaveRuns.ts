import { join } from 'node:path'
import { isRunning } from '../server/processIdentity.js'
import { createAtomicFiles } from '../server/store/atomicFiles.js'
import { createRunFiles } from '../server/store/runFiles.js'
import { healthOf } from '../server/trigger/runs/ownEnclave.js'
import { createLogger } from '../service/logger.js'

/**
 * Ends the enclaves that a server left: one for each run, or the one that stays up. They are made to outlive it, and nothing
 * of a sandbox may.
 *
 * @param root data directory of the server, which has stopped
 */
export async function endEnclaves(root: string): Promise<void> {
  const logger = createLogger({ level: 'silent' })
  for (const { process: run } of await createRunFiles({
    files: createAtomicFiles({ root }),
    root,
    logger,
  }).all()) {
    // Each leads a group of its own.
    if (run !== null && isRunning(run)) process.kill(-run.pid, 'SIGKILL')
  }
  const resident = await healthOf(join(root, 'enclave', 'door.sock'))
  if (resident !== undefined) process.kill(resident.pid, 'SIGKILL')
}
