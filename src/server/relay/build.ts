import type { RpcProvider } from '../../chain/provider.js'
import { createRpcBatcher } from '../../chain/rpcBatcher.js'
import type { Receipt } from '../../protocol/api.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config.js'
import type { Service } from '../lifetime.js'
import { createRelayerSigner, type RelayerKey } from '../signer/signer.js'
import type { Engine, Fence } from '../store/engine.js'
import { createReceiptStore, createSaveNoOp, type ReceiptStore } from '../store/receipts.js'
import { createBroadcaster } from '../txManager/broadcast.js'
import { createFeeMarket } from '../txManager/fees.js'
import { createTxManager } from '../txManager/txManager.js'
import { createAdmission } from './admission.js'
import { createAuthorizationVerifier } from './authorization.js'
import { createChainView } from './chainView.js'
import { createGasBudget } from './gasBudget.js'
import { createRelayHealth, createRelayLoad, type RelayHealth, type RelayLoad } from './health.js'
import { createPreflight } from './preflight.js'
import { createRelay } from './relay.js'
import type { RelayRouterDeps } from './router.js'

export interface RelaySurroundings {
  readonly config: Config
  readonly provider: RpcProvider
  readonly engine: Engine
  /** The current term of the lease on the relayer's account. */
  readonly fence: Fence
  readonly relayerKey: RelayerKey
  readonly logger: Logger
  readonly stopping: AbortSignal
  /** Is told of each authorization whose job has ended. */
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
  const { relay, txManager, budget, store, fees } = wire(surroundings, signer)
  const load = createRelayLoad({ relay, txManager, budget })
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
    // In this order, so that they stop in the reverse one: first the transaction manager lets go of everything under way.
    services: [budget.service, relay.service, txManager.service],
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
  const budget = createGasBudget({
    engine,
    isShared: config.databaseUrl !== undefined,
    limits: settings.gas,
    now: Date.now,
    logger,
  })
  const txManager = createTxManager({
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
    saveNoOp: createSaveNoOp({ engine, fence, address: from, logger }),
    onNoOpSent: budget.spendOther,
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
      committed: txManager.committed,
    }),
    txManager,
    stopping,
    onEnd,
    logger,
  })
  return { relay, txManager, budget, store, fees }
}
