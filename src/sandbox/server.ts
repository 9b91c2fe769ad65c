import { join } from 'node:path'
import { healthOf } from '../server/trigger/ownEnclave.js'
import type { Places } from './envFiles.js'
import { type ServerProcess, startServerProcess } from './serverProcess.js'
import type { SandboxOptions } from './settings.js'
import type { Stage } from './steps.js'

/** The server across restarts of its process. */
export interface SandboxServer {
  current(): ServerProcess
  /** Restarts it after it was stopped or killed. */
  restart(): Promise<void>
}

export async function startServer(
  { directory, print }: SandboxOptions,
  { url, opsUrl, enclaveUrl }: Places,
  { cleanUp, printStep }: Stage,
): Promise<SandboxServer> {
  if (enclaveUrl === undefined)
    cleanUp.add(() => endEnclave(join(directory, 'server', 'enclave', 'door.sock')))
  const launch = () => startServerProcess({ directory, url, narrate: (line) => print(`  │ ${line}`) })
  let server = await launch()
  cleanUp.add(() => server.stop())
  printStep('server', `the real one, its own process, at ${url}`)
  printStep('', `operator endpoints: ${opsUrl}/readyz, ${opsUrl}/metrics`)
  return {
    current: () => server,
    async restart() {
      server = await launch()
    },
  }
}

/** Kills the enclave that a server has started: it is designed to outlive the server, but must not outlive the sandbox. */
async function endEnclave(socketPath: string): Promise<void> {
  const enclave = await healthOf(socketPath)
  if (enclave !== undefined) process.kill(enclave.pid, 'SIGKILL')
}
