import { join } from 'node:path'
import type { TestChain } from '../../support/chain.js'
import { chainEnvironment } from '../../support/intakeServer.js'
import { ENCLAVE_SIGNER, ROLES } from '../../support/roles.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { createServerUnderFaults, type ServerUnderFaults } from './serverProcess.js'
import { RELAY_SETTINGS } from './settings.js'

const PRELOAD = new URL('stepPreload.mjs', import.meta.url).href

/** The real server on a chain, whose relay counts its steps. */
export interface RelayServer extends Omit<ServerUnderFaults, 'start'> {
  /** On these nodes, in its order of preference. Resolves when it listens, or has ended before. */
  start(nodes: readonly number[], variables?: Record<string, string>): Promise<void>
}

export interface RelayServerOptions {
  readonly chain: TestChain
  /** Of its data and its log. */
  readonly directory: string
  /** Of each node. */
  readonly rpcUrls: readonly string[]
  /** Further ones of its environment. */
  readonly variables: Record<string, string>
}

export function createRelayServer(options: RelayServerOptions): RelayServer {
  const { directory, rpcUrls } = options
  const server = createServerUnderFaults({ directory, environment: environmentOf(options), preload: PRELOAD })
  return {
    ...server,
    start: (nodes, variables = {}) =>
      server.start({ RPC_URL: nodes.map((node) => rpcUrls[node]).join(), ...variables }),
  }
}

function environmentOf({ chain, directory, variables }: RelayServerOptions): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    ...SERVER_ENVIRONMENT,
    ...chainEnvironment(chain),
    ...RELAY_SETTINGS,
    DATA_DIR: join(directory, 'data'),
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '',
    ...variables,
  }
}
