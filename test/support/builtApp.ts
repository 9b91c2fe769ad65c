import type { Express } from 'express'
import { buildServer } from '../../src/server/build.js'
import { openRelayerKeys } from '../../src/server/signer/signer.js'
import { SERVER_ACCOUNT } from './brokerStandIn.js'
import type { TestChain } from './chain.js'
import { createLogLines, type LogLines } from './logLines.js'
import { serverConfig } from './serverEnvironment.js'
import { openStores } from './stores.js'
import { temporaryDirectory } from './temporaryDirectory.js'

/** The whole server as `main` builds it, for this chain and this broker, its services not started. */
export async function buildApp(options: {
  readonly chain: TestChain
  /** Default: the chain's own node. */
  readonly rpcUrl?: string
  /** Default: a URL where no server listens. */
  readonly brokerUrl?: string
  readonly env?: Record<string, string>
  /** The data directory; default: one of its own. */
  readonly root?: string
  /** Default: never aborts. */
  readonly stopping?: AbortSignal
}): Promise<{ app: Express; log: LogLines }> {
  const { chain, rpcUrl = chain.anvil.rpcUrl, brokerUrl = 'http://127.0.0.1:9' } = options
  const { stopping = new AbortController().signal } = options
  const { addresses } = chain
  const root = options.root ?? (await temporaryDirectory())
  const config = serverConfig({
    RPC_URL: rpcUrl,
    CHAIN_ID: String(chain.anvil.chainId),
    INSTITUTION_REGISTRY_ADDRESS: addresses.institutionRegistry,
    ORDER_ESCROW_ADDRESS: addresses.orderEscrow,
    CONFIDENTIAL_LEDGER_ADDRESS: addresses.confidentialLedger,
    EQUITY_TOKEN_ADDRESS: addresses.equityToken,
    PLATFORM_POOL_ADDRESS: addresses.platformPool,
    ALPACA_KEY_ID: SERVER_ACCOUNT.keyId,
    ALPACA_SECRET_KEY: SERVER_ACCOUNT.secretKey,
    ALPACA_TRADING_URL: brokerUrl,
    ALPACA_DATA_URL: brokerUrl,
    DATA_DIR: root,
    ...options.env,
  })
  const log = createLogLines()
  const { engine } = await openStores(root)
  const relayerKeys = await openRelayerKeys(config.relay.relayerKeys)
  const { app } = buildServer({
    config,
    logger: log.logger,
    engine,
    serverId: 'the server of the test',
    relayerKeys,
    stopping,
    phase: () => 'running',
    output: { write: () => undefined },
  })
  return { app, log }
}
