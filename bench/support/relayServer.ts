import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { claimPorts } from '../../src/sandbox/ports.js'
import { bareEnvironment } from './bareEnvironment.js'
import { MEMORY_OPTIONS, type Memory, memoryOf } from './memory.js'
import { startServerProcess } from './ourServer.js'
import type { RelayChain } from './relayChain.js'

/** The real server, of which only the relay is asked. */
export interface RelayServer {
  readonly url: string
  readonly pid: number
  readonly settings: string
  memory(): Promise<Memory>
  stop(): Promise<void>
}

/** What differs from the defaults: as many under way as there are callers, on a chain with ten blocks a second. */
function settingsFor(callers: number): Record<string, string> {
  return {
    MAX_CONNECTIONS_PER_CLIENT: `${2 * callers}`,
    RELAY_MAX_IN_FLIGHT: `${callers}`,
    RELAY_MAX_QUEUED: `${callers}`,
    RELAY_POLL_INTERVAL: '50ms',
    RELAY_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
    RELAY_ACCOUNT_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
  }
}

export async function startRelayServer(
  chain: RelayChain,
  options: {
    directory: string
    callers: number
    nodeOptions: readonly string[]
    /** Besides those for so many callers. */
    settings?: Record<string, string>
  },
): Promise<RelayServer> {
  const { directory, callers } = options
  await mkdir(directory, { recursive: true })
  const ports = await claimPorts({ server: 0, rpc: 0, broker: 0 })
  const url = `http://127.0.0.1:${ports.server}`
  const settings = { ...settingsFor(callers), ...options.settings }
  const env = {
    ENV_FILE: '/dev/null',
    ...bareEnvironment({
      ...chain,
      relayerPrivateKey: chain.accounts.ours.privateKey,
      enclaveSigner: chain.signer,
    }),
    ...settings,
    HOST: '127.0.0.1',
    PORT: `${ports.server}`,
    OPS_PORT: '0',
    DATA_DIR: join(directory, 'data'),
    ALPACA_TRADING_URL: `http://127.0.0.1:${ports.broker}`,
    ALPACA_DATA_URL: `http://127.0.0.1:${ports.broker}`,
  }
  const nodeOptions = [...options.nodeOptions, ...MEMORY_OPTIONS]
  const server = await startServerProcess({ directory, url, env, nodeOptions })
  return {
    url,
    pid: server.child.pid,
    settings: Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
    memory: () => memoryOf(server.child),
    stop: server.stop,
  }
}
