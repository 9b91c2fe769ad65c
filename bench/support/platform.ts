import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { ROOT } from '../../src/sandbox/settings.js'
import { type OurServer, startOurServer } from './ourServer.js'

/** Everything a real server needs around it, and that server. */
export interface Platform {
  readonly sandbox: Sandbox
  readonly server: OurServer
  stop(): Promise<void>
}

/** Where the bench leaves everything. */
export const BENCH_DIRECTORY = join(ROOT, 'data/bench')

/**
 * What differs from the defaults. The load comes from one address, which the limits per client would refuse. The enclave's
 * runs wait for their turn, as with a hosted one that has a quota: each is a process of its own which takes most of a core,
 * and it is not the enclave that is measured.
 */
const CALM = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  MAX_CONNECTIONS_PER_CLIENT: '10000',
  MAX_UNDER_WAY_PER_CLIENT: '10000',
  ENCLAVE_TRIGGER_INTERVAL: '1h',
  // A rulebook must be able to wait for its turn.
  POLICY_RUN_TIMEOUT: '2h',
}

/**
 * A sandbox for what is measured: real chain, contracts and enclave, the broker stand-in. It has a directory of its own,
 * which its user removes only at the end: ext4 takes several times as long to make a file while it steps over inodes that
 * were freed in the last minutes.
 */
export function startBenchSandbox(settings: Record<string, string> = {}): Promise<Sandbox> {
  return startSandbox({
    directory: join(BENCH_DIRECTORY, `sandbox-${Date.now()}`),
    ports: { server: 0, rpc: 0, broker: 0 },
    serverSettings: { ...CALM, ...settings },
    print: () => {},
  })
}

/** Puts the real server that is measured into a sandbox. */
export async function startPlatform(options: {
  print: (line: string) => void
  nodeOptions: readonly string[]
  /** Of the server, besides those that keep it calm. */
  settings?: Record<string, string>
}): Promise<Platform> {
  const { settings = {} } = options
  const sandbox = await startBenchSandbox(settings)
  try {
    const server = await startOurServer(sandbox, options.nodeOptions)
    options.print(`measuring ${server.url}, with ${describe({ ...CALM, ...settings })}`)
    const stop = async () => {
      await server.stop().finally(() => sandbox.stop())
      await rm(sandbox.directory, { recursive: true })
    }
    return { sandbox, server, stop }
  } catch (error) {
    await sandbox.stop()
    throw error
  }
}

function describe(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}
