import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContractAddresses } from '../../src/protocol/api.js'
import { claimPorts } from '../../src/sandbox/ports.js'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { publicIdentity, type SandboxSecrets } from '../../src/sandbox/secrets.js'
import { ROOT } from '../../src/sandbox/settings.js'
import { type ServerProcess, startServerProcess } from './processes.js'

/** Everything that a real server needs around it, and that server. */
export interface Platform {
  readonly sandbox: Sandbox
  readonly server: ServerProcess
  stop(): Promise<void>
}

/** Where the bench leaves everything. */
export const BENCH_DIRECTORY = join(ROOT, 'data/bench')

/**
 * Differences from the defaults. The load comes from one address, which the limits per client would refuse. Enclave runs wait
 * for their turn, as with a hosted enclave that has a quota: a run takes most of a core, and would be measured with the server.
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
 * A sandbox for the measured server: real chain, contracts and enclave, the broker stand-in. Each has a directory of its own,
 * which is removed only at the end: ext4 takes several times as long to make a file while it steps over inodes that
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

/** Starts the compiled server in the place of the sandbox's own, with its configuration. */
export async function replaceServer(
  sandbox: Sandbox,
  nodeOptions: readonly string[],
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  await sandbox.server().stop()
  const { directory, info } = sandbox
  const own = { ENV_FILE: join(directory, '.env'), ...env }
  return startServerProcess({ directory, url: info.url, env: own, nodeOptions })
}

/** Puts the measured server into a sandbox. */
export async function startPlatform(options: {
  print: (line: string) => void
  nodeOptions: readonly string[]
  /** Settings of the server besides those that keep it calm. */
  settings?: Record<string, string>
}): Promise<Platform> {
  const { settings = {} } = options
  const sandbox = await startBenchSandbox(settings)
  try {
    const server = await replaceServer(sandbox, options.nodeOptions)
    options.print(`measuring ${server.url}, with ${settingsText({ ...CALM, ...settings })}`)
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

/** One more server beside the sandbox's, on a store of its own. */
export async function startServerBeside(
  { directory: sandboxDirectory }: Sandbox,
  options: { directory: string; databaseUrl: string; nodeOptions: readonly string[] },
): Promise<ServerProcess> {
  const { directory, databaseUrl, nodeOptions } = options
  const { server: port } = await claimPorts({ server: 0, rpc: 0, broker: 0 })
  const env = {
    ENV_FILE: join(sandboxDirectory, '.env'),
    DATABASE_URL: databaseUrl,
    DATA_DIR: directory,
    PORT: `${port}`,
    OPS_PORT: '0',
  }
  return startServerProcess({ directory, url: `http://127.0.0.1:${port}`, env, nodeOptions })
}

export function settingsText(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

/** A chain of the bench's own, without a sandbox. */
export interface BareChain {
  readonly rpcUrl: string
  readonly chainId: number
  readonly contracts: ContractAddresses
  readonly secrets: SandboxSecrets
  readonly relayerPrivateKey: string
}

/** The settings that a server on such a chain can't do without. */
export function bareEnvironment(chain: BareChain): Record<string, string> {
  const { contracts, secrets } = chain
  const { intentPublicKey, enclaveSigner } = publicIdentity(secrets)
  return {
    FRONTEND_ORIGIN: 'http://localhost:5173',
    RPC_URL: chain.rpcUrl,
    CHAIN_ID: `${chain.chainId}`,
    INSTITUTION_REGISTRY_ADDRESS: contracts.institutionRegistry,
    ORDER_ESCROW_ADDRESS: contracts.orderEscrow,
    CONFIDENTIAL_LEDGER_ADDRESS: contracts.confidentialLedger,
    EQUITY_TOKEN_ADDRESS: contracts.equityToken,
    PLATFORM_POOL_ADDRESS: contracts.platformPool,
    RELAY_AUTH_TOKEN: secrets.relayAuthToken,
    RELAYER_PRIVATE_KEY: chain.relayerPrivateKey,
    INTENT_PUBKEY: intentPublicKey,
    ENCLAVE_SIGNER: enclaveSigner,
    ALPACA_KEY_ID: secrets.serverBroker.keyId,
    ALPACA_SECRET_KEY: secrets.serverBroker.secretKey,
  }
}
