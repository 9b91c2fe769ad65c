import type { RpcProvider } from '../../chain/provider.js'
import type { Config } from '../config.js'
import type { Service } from '../lifetime.js'
import type { Logger } from '../logger.js'
import type { AtomicFiles } from '../store/atomicFiles.js'
import { createReceiptStore } from '../store/receipts.js'
import { createBroadcaster } from './broadcast.js'
import { createChainView } from './chainView.js'
import { createFeeMarket } from './fees.js'
import { createPreflight } from './preflight.js'
import { createRelay } from './relay.js'
import type { RelayRouterDeps } from './router.js'
import { createPrivateKey, createRelayerSigner } from './signer.js'
import { createTransactor } from './transactor.js'

/** Wires the relay. Starts nothing. */
export function buildRelay(surroundings: {
  readonly config: Config
  readonly provider: RpcProvider
  readonly files: AtomicFiles
  readonly logger: Logger
  readonly stopping: AbortSignal
}): { router: RelayRouterDeps; services: readonly Service[] } {
  const { config, provider, files, logger, stopping } = surroundings
  const { chain, relay: settings } = config
  const { chainId, contracts, confirmations } = chain
  const signer = createRelayerSigner(createPrivateKey(settings.relayerPrivateKey))
  const fees = createFeeMarket({
    provider,
    ceiling: settings.maxFeePerGas,
    maxAgeMs: settings.pollIntervalMs,
  })
  const transactor = createTransactor({
    ...settings,
    chainId,
    confirmations,
    provider,
    signer,
    fees,
    onGasUsed: () => undefined,
    logger,
    broadcaster: createBroadcaster(provider.transport),
  })
  const relay = createRelay({
    maxUnderWay: settings.maxInFlight + settings.maxQueued,
    store: createReceiptStore({ files, logger }),
    chain: createChainView({ provider, from: signer.address }),
    preflight: createPreflight({ provider, from: signer.address, minBalance: settings.minBalance }),
    transactor,
    stopping,
    logger,
  })
  return {
    router: {
      authToken: settings.authToken.reveal(),
      rules: { chainId, contracts, signer: config.enclave.signer },
      relay,
      waitMs: settings.waitMs,
      stopping,
    },
    // The relay first: it stops last, once the transactor has let go of everything under way.
    services: [relay.service, transactor.service],
  }
}
