import { join } from 'node:path'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { allProcesses, type ShownProcess } from '../../support/processes.js'

/** The enclaves of this sandbox that run now. */
export async function enclaveProcesses({ directory }: Sandbox): Promise<ShownProcess[]> {
  const envFile = `ENCLAVE_ENV_FILE=${join(directory, '.env.enclave')}`
  return (await allProcesses()).filter(({ environment }) => environment.includes(envFile))
}

/** Kills every enclave of this sandbox at once, as an outage would; resolves with how many there were. */
export async function killEnclaves(sandbox: Sandbox): Promise<number> {
  const running = await enclaveProcesses(sandbox)
  for (const { pid } of running) process.kill(pid, 'SIGKILL')
  return running.length
}
