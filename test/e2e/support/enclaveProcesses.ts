import { readFile, writeFile } from 'node:fs/promises'
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

/** Ends the sandbox's enclave for good: the server is restarted with one that it starts itself, which outlives it. */
export async function handEnclaveOver({ directory, server, enclave, restartServer }: Sandbox): Promise<void> {
  await Promise.all([server().stop(), enclave().stop()])
  const enclaveFile = join(directory, '.env.enclave')
  const rewrite = async (path: string, without: RegExp, line = '') => {
    const lines = (await readFile(path, 'utf8')).split('\n').filter((each) => !without.test(each))
    await writeFile(path, [...lines, line].join('\n'), { mode: 0o600 })
  }
  await rewrite(enclaveFile, /^ENCLAVE_(LISTEN|STATE_DIR|TRIGGER_SECRET)=/)
  await rewrite(
    join(directory, '.env'),
    /^ENCLAVE_(URL|TRIGGER_SECRET)=/,
    `ENCLAVE_ENV_FILE=${enclaveFile}\n`,
  )
  await restartServer()
}
