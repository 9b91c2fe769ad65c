import type { RpcProvider } from '../../chain/provider.js'
import { createRpcBatcher } from '../../chain/rpcBatcher.js'
import type { Receipt } from '../../protocol/api.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config.js'
import type { Service } from '../lifetime.js'
import type { Engine, Fence } from '../store/engine.js'
import { createReceiptStore, createSaveFiller, type ReceiptStore } from '../store/receipts.js'
import { createAdmission } from './admission.js'
import { createAuthorizationVerifier } from './authorization.js'
import { createBroadcaster } from './broadcast.js'
import { createChainView } from './chainView.js'
import { createFeeMarket } from './fees.js'
import { createGasBudget } from './gasBudget.js'
import { createRelayHealth, createRelayLoad, type RelayHealth, type RelayLoad } from './health.js'
import { createPreflight } from './preflight.js'
import { createRelay } from './relay.js'
import type { RelayRouterDeps } from './router.js'
import { createRelayerSigner, type RelayerKey } from './signer.js'
import { createTransactor } from './transactor.js'

export interface RelaySurroundings {
  readonly config: Config
  readonly provider: RpcProvider
  readonly engine: Engine
  /** The current term of the lease on the relayer's account. */
  readonly fence: Fence
  readonly relayerKey: RelayerKey
  readonly logger: Logger
  readonly stopping: AbortSignal
  /** Is told of each authorization whose course has ended. */
  readonly onEnd?: (receipt: Receipt) => void
  /** Is called for each transaction of the relayer's account that this server has not signed. */
  readonly onForeign?: () => void
}

export interface BuiltRelay {
  readonly router: RelayRouterDeps
  readonly services: readonly Service[]
  /** What is stored of each authorization, as far as the relay has got with it. */
  readonly receipts: Pick<ReceiptStore, 'get'>
  readonly health: () => Promise<RelayHealth>
  readonly load: () => RelayLoad
}

/** Wires the relay. Starts nothing. */
export function buildRelay(surroundings: RelaySurroundings): BuiltRelay {
  const { config, provider, stopping } = surroundings
  const { relay: settings, chain, enclave } = config
  const signer = createRelayerSigner(surroundings.relayerKey)
  const { address } = signer
  const { relay, transactor, budget, store, fees } = wire(surroundings, signer)
  const load = createRelayLoad({ relay, transactor, budget })
  return {
    router: {
      authToken: settings.authToken.reveal(),
      verifier: createAuthorizationVerifier({
        chainId: chain.chainId,
        contracts: chain.contracts,
        signer: enclave.signer,
      }),
      relay,
      waitMs: settings.waitMs,
      stopping,
    },
    // In this order, so that they stop in the reverse one: first the transactor lets go of everything under way.
    services: [budget.service, relay.service, transactor.service],
    receipts: store,
    health: createRelayHealth({ provider, address, minBalance: settings.minBalance, fees, load }),
    load,
  }
}

function wire(surroundings: RelaySurroundings, signer: ReturnType<typeof createRelayerSigner>) {
  const { config, provider, engine, fence, logger, stopping, onEnd } = surroundings
  const { chain, relay: settings } = config
  const { maxInFlight, maxSentAhead, maxFeePerGas, pollIntervalMs, resubmitAfterMs } = settings
  const from = signer.address
  const transport = createRpcBatcher(provider.transport)
  const fees = createFeeMarket({ provider, ceiling: maxFeePerGas, maxAgeMs: pollIntervalMs })
  const budget = createGasBudget({ engine, fence, limits: settings.gas, now: Date.now, logger })
  const transactor = createTransactor({
    chainId: chain.chainId,
    confirmations: chain.confirmations,
    maxInFlight,
    maxSentAhead,
    maxFeePerGas,
    pollIntervalMs,
    resubmitAfterMs,
    provider,
    transport,
    broadcaster: createBroadcaster(provider.transport),
    signer,
    fees,
    saveFiller: createSaveFiller({ engine, fence, address: from, logger }),
    onFillerSent: budget.spendOther,
    onForeign: () => surroundings.onForeign?.(),
    logger,
  })
  const store = createReceiptStore({ engine, fence, logger })
  const relay = createRelay({
    maxUnderWay: maxInFlight + settings.maxQueued,
    store,
    chain: createChainView({ provider, transport, from, confirmations: chain.confirmations }),
    preflight: createPreflight({ transport, from, maxGas: settings.maxGas }),
    admission: createAdmission({
      transport,
      from,
      budget,
      fees,
      minBalance: settings.minBalance,
      committed: transactor.committed,
    }),
    transactor,
    stopping,
    onEnd,
    logger,
  })
  return { relay, transactor, budget, store, fees }
}
