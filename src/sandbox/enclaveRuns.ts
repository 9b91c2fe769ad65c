import { createHostedRunRecords } from '../host/records.js'
import { isRunning, type ProcessIdentity } from '../server/processIdentity.js'
import { createAtomicFiles } from '../server/store/atomicFiles.js'
import { createRunFiles } from '../server/store/runFiles.js'
import { createLogger } from '../service/logger.js'

const logger = createLogger({ level: 'silent' })

/**
 * Ends the enclave runs that a server left under way: they are made to outlive it, and nothing of a sandbox may.
 *
 * @param root data directory of the server, which has stopped
 */
export async function endEnclaveRuns(root: string): Promise<void> {
  end(await createRunFiles({ files: createAtomicFiles({ root }), root, logger }).all())
}

/** The same for a host. @param root its data directory; it has stopped */
export async function endHostedRuns(root: string): Promise<void> {
  end(await createHostedRunRecords({ files: createAtomicFiles({ root }), root, logger }).all())
}

function end(runs: readonly { readonly process: ProcessIdentity | null }[]): void {
  for (const { process: run } of runs) {
    // Each leads a group of its own.
    if (run !== null && isRunning(run)) process.kill(-run.pid, 'SIGKILL')
  }
}
