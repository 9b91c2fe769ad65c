import { createLogger } from '../server/logger.js'
import { isRunning } from '../server/processIdentity.js'
import { createAtomicFiles } from '../server/store/atomicFiles.js'
import { createRunFiles } from '../server/store/runFiles.js'

/**
 * Ends the enclave runs that a server left under way: they are made to outlive it, and nothing of a sandbox may.
 *
 * @param dataDir of the server, which has stopped
 */
export async function endEnclaveRuns(dataDir: string): Promise<void> {
  const logger = createLogger({ level: 'silent' })
  const files = createAtomicFiles({ root: dataDir })
  const runs = await createRunFiles({ files, root: dataDir, logger }).all()
  for (const { process: run } of runs) {
    // Each leads a group of its own.
    if (run !== null && isRunning(run)) process.kill(-run.pid, 'SIGKILL')
  }
}
