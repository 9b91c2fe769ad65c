import { join } from 'node:path'
import * as z from 'zod'
import { healthOf } from '../server/trigger/ownEnclave.js'
import { startBalancer } from './balancer.js'
import type { CleanUp } from './cleanUp.js'
import { type Places, portVariables, type ServerPlace } from './envFiles.js'
import { type ServerProcess, startServerProcess } from './serverProcess.js'
import type { SandboxOptions } from './settings.js'
import type { Stage } from './steps.js'

/** One server across restarts of its process. */
export interface SandboxServer {
  current(): ServerProcess
  /** Restarts it after it was stopped or killed. */
  restart(): Promise<void>
}

/** Starts one server, with its own database in its DATA_DIR. */
export async function startServer(
  { directory, print }: SandboxOptions,
  { servers: [{ url, opsUrl }], enclaveUrl }: Places,
  { cleanUp, printStep }: Stage,
): Promise<SandboxServer> {
  if (enclaveUrl === undefined)
    cleanUp.add(() => endEnclave(join(directory, 'server', 'enclave', 'door.sock')))
  const server = await keepServer(
    () => startServerProcess({ directory, url, narrate: (line) => print(`  │ ${line}`) }),
    cleanUp,
  )
  printStep('server', `the real one, its own process, at ${url}`)
  printStep('', `operator endpoints: ${opsUrl}/readyz, ${opsUrl}/metrics`)
  return server
}

/** Kills the enclave that a server has started: it is designed to outlive the server, but must not outlive the sandbox. */
async function endEnclave(socketPath: string): Promise<void> {
  const enclave = await healthOf(socketPath)
  if (enclave !== undefined) process.kill(enclave.pid, 'SIGKILL')
}

const leaseTakenSchema = z.object({ msg: z.literal('lease taken'), recordId: z.string() })

/** Starts several servers on one database behind a balancer. Prints which server takes a lease, and which one ends. */
export async function startServers(
  { directory, print }: SandboxOptions,
  { url: entrance, relayUrl: relayEntrance, servers: [first, ...others] }: Places,
  { cleanUp, printStep }: Stage,
): Promise<readonly [SandboxServer, ...SandboxServer[]]> {
  let isStopping = false

  async function startOne(place: ServerPlace, number: number): Promise<SandboxServer> {
    const launch = async () => {
      const server = await startServerProcess({
        directory,
        url: place.url,
        variables: portVariables(place),
        log: `server-${number}.log`,
        narrate: (line) => print(`  ${number}│ ${line}`),
        logged(line) {
          if (isStopping || !line.includes('"lease taken"')) return
          const { recordId } = leaseTakenSchema.parse(JSON.parse(line))
          // A server's own lease only shows that it is alive.
          if (!recordId.startsWith('server:')) printStep(`server ${number}`, `took the lease ${recordId}`)
        },
      })
      void server.exited.then(() => {
        if (!isStopping) printStep(`server ${number}`, `process ${server.pid} has ended; the others continue`)
      })
      return server
    }
    const server = await keepServer(launch, cleanUp)
    cleanUp.add(async () => {
      isStopping = true
    })
    printStep(`server ${number}`, `process ${server.current().pid}, at ${place.url}`)
    printStep('', `operator endpoints: ${place.opsUrl}/readyz, ${place.opsUrl}/metrics`)
    return server
  }

  const servers: [SandboxServer, ...SandboxServer[]] = [await startOne(first, 1)]
  for (const [index, place] of others.entries()) servers.push(await startOne(place, index + 2))
  for (const [at, urlOf] of [
    [entrance, ({ url }: ServerPlace) => url],
    [relayEntrance, ({ relayUrl }: ServerPlace) => relayUrl],
  ] as const) {
    const balancer = await startBalancer(Number(new URL(at).port), [first, ...others].map(urlOf))
    cleanUp.add(() => balancer.stop())
  }
  printStep('balancer', `in front of them, at ${entrance}`)
  return servers
}

async function keepServer(launch: () => Promise<ServerProcess>, cleanUp: CleanUp): Promise<SandboxServer> {
  let server = await launch()
  cleanUp.add(() => server.stop())
  return {
    current: () => server,
    async restart() {
      server = await launch()
    },
  }
}
