import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'

/** A running enclave of one sandbox, as the system shows it. */
export interface EnclaveProcess {
  pid: number
  arguments: string[]
  environment: string[]
}

/** The enclaves of this sandbox that run now (Linux: from `/proc`). */
export async function enclaveProcesses({ directory }: Sandbox): Promise<EnclaveProcess[]> {
  const entries = await readdir('/proc')
  const found = await Promise.all(entries.filter((name) => /^\d+$/.test(name)).map(inspect))
  const envFile = `ENCLAVE_ENV_FILE=${join(directory, '.env.enclave')}`
  return found
    .filter((process) => process !== null)
    .filter(({ environment }) => environment.includes(envFile))
}

/** Kills every enclave of this sandbox at once, as an outage would; resolves with how many there were. */
export async function killEnclaves(sandbox: Sandbox): Promise<number> {
  const running = await enclaveProcesses(sandbox)
  for (const { pid } of running) process.kill(pid, 'SIGKILL')
  return running.length
}

async function inspect(pid: string): Promise<EnclaveProcess | null> {
  try {
    const [command, environment] = await Promise.all([read(pid, 'cmdline'), read(pid, 'environ')])
    return { pid: Number(pid), arguments: command, environment }
  } catch {
    // It ended meanwhile, or is another user's.
    return null
  }
}

async function read(pid: string, file: string): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/${file}`, 'utf8')
  return text.split('\0').filter((part) => part !== '')
}
