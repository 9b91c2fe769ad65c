import type { Express } from 'express'
import { buildServer } from '../../src/server/build.js'
import type { Phase } from '../../src/server/ops/checks.js'
import { openRelayerSigner } from '../../src/server/signer/signer.js'
import { SERVER_ACCOUNT } from './brokerStandIn.js'
import type { TestChain } from './chain.js'
import { chainEnvironment } from './intakeServer.js'
import { createLogLines, type LogLines } from './logLines.js'
import { serverConfig } from './serverEnvironment.js'
import { openStores } from './stores.js'
import { temporaryDirectory } from './temporaryDirectory.js'

/** The whole server as `main` builds it, for this chain and this broker, its services not started. */
export async function buildApp(options: {
  /** Default: none, and no node answers. */
  readonly chain?: TestChain
  /** Default: the chain's own node. */
  readonly rpcUrl?: string
  /** Default: a URL where no server listens. */
  readonly brokerUrl?: string
  readonly env?: Record<string, string>
  /** The data directory; default: one of its own. */
  readonly root?: string
  /** Default: never aborts. */
  readonly stopping?: AbortSignal
  /** Default: running. */
  readonly phase?: Phase
}): Promise<{ app: Express; ops: Express; log: LogLines }> {
  const { chain, rpcUrl, brokerUrl = 'http://127.0.0.1:9' } = options
  const { stopping = new AbortController().signal } = options
  const root = options.root ?? (await temporaryDirectory())
  const config = serverConfig({
    ...(chain && chainEnvironment(chain)),
    ...(rpcUrl !== undefined && { RPC_URL: rpcUrl }),
    ALPACA_KEY_ID: SERVER_ACCOUNT.keyId,
    ALPACA_SECRET_KEY: SERVER_ACCOUNT.secretKey,
    ALPACA_TRADING_URL: brokerUrl,
    ALPACA_DATA_URL: brokerUrl,
    DATA_DIR: root,
    ...options.env,
  })
  const log = createLogLines()
  const { engine } = await openStores(root)
  const signer = await openRelayerSigner(config.relay.relayerKey)
  const { app, ops } = buildServer({
    config,
    logger: log.logger,
    engine,
    serverId: 'the server of the test',
    signer,
    stopping,
    phase: () => options.phase ?? 'running',
    output: { write: () => undefined },
  })
  return { app, ops, log }
}
