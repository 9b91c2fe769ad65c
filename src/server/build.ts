import { createBroker } from '../broker/index.js'
import { createContracts } from '../chain/contracts.js'
import { RpcProvider } from '../chain/provider.js'
import type { NodeFault } from '../chain/rpcTransport.js'
import type { Receipt } from '../protocol/api.js'
import type { Logger } from '../service/logger.js'
import { type AppDeps, createApp } from './app.js'
import type { Config } from './config.js'
import { backpressureFor, type LoadShedding, shedLoad } from './http/loadShedding.js'
import { createEnclaveKey } from './intake/enclaveKey.js'
import { createOrderStatus } from './intake/orderStatus.js'
import { createOrders } from './intake/orders.js'
import { createPolicy } from './intake/policy.js'
import { createPolicyVersionView } from './intake/policyVersion.js'
import { createAuthorCheck } from './intake/rulebookAuthor.js'
import type { Service } from './lifetime.js'
import { createMetrics } from './metrics/metrics.js'
import { processMetrics } from './metrics/processMetrics.js'
import { outcomeOf } from './metrics/rpcMetrics.js'
import { buildNarrator } from './narrator/build.js'
import type { NarratorOutput } from './narrator/output.js'
import { createNarratorProgress } from './narrator/progress.js'
import { buildOps, type Phase } from './ops/build.js'
import { buildReads } from './reads/build.js'
import { createHeadReads } from './reads/headReads.js'
import { buildRelay } from './relay/build.js'
import type { RelayerKey } from './signer/signer.js'
import { createProbeAnswer } from './status/health.js'
import { createListedSymbols } from './status/listedSymbols.js'
import { createStatusViews } from './status/views.js'
import type { Engine } from './store/engine.js'
import { createServeLease, leaseTiming } from './store/leaseHolder.js'
import { createOrderRecords } from './store/orderRecords.js'
import { buildTimeline } from './timeline/build.js'
import { keepDigests } from './timeline/relayedDigests.js'
import { buildEnclaveRuns } from './trigger/build.js'
import { readVersion } from './version.js'

const LISTED_SYMBOLS_INTERVAL_MS = 15_000

export interface ServerDeps {
  readonly config: Config
  readonly logger: Logger
  readonly engine: Engine
  /** This server, among those that share the database. */
  readonly serverId: string
  /** Of the accounts that pay the gas. At least one. */
  readonly relayerKeys: readonly RelayerKey[]
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
  readonly phase: () => Phase
  /** Where the narration goes. */
  readonly output: NarratorOutput
}

/** Builds every part from the configuration and wires them. Starts nothing and asks nobody. */
export function buildServer(deps: ServerDeps): {
  app: ReturnType<typeof createApp>
  /** The same as it listens: refuses what is too much. */
  api: LoadShedding
  /** The operator's endpoints. */
  ops: ReturnType<typeof buildOps>
  /** In the order in which they start. */
  services: readonly Service[]
} {
  const { config, logger, engine, serverId, relayerKeys, stopping } = deps
  const { chainId, contracts: addresses } = config.chain
  const metrics = createMetrics(readVersion())
  const provider = new RpcProvider({
    urls: config.chain.rpcUrls.reveal(),
    timeoutMs: config.chain.rpcTimeoutMs,
    chainId,
    onNodeChange: (node, fault) => reportNode(logger, node, fault),
    onRequest: (node, answers, durationMs) => metrics.rpc(node, outcomeOf(answers), durationMs),
  })
  const contracts = createContracts(provider, addresses)
  const marketData = createBroker({
    ...config.broker,
    keyId: config.broker.keyId.reveal(),
    secretKey: config.broker.secretKey.reveal(),
    // Callers have older answers: none waits for the limit.
    patienceMs: 0,
  })
  const reads = buildReads({ config, transport: provider.transport, logger })
  const { head } = reads
  const listedSymbols = createListedSymbols({
    token: reads.contracts.token,
    intervalMs: LISTED_SYMBOLS_INTERVAL_MS,
    logger,
  })
  const serveLease = createServeLease({
    engine,
    holder: serverId,
    timing: leaseTiming(config.leaseTtlMs),
    observe: metrics.lease,
    stopping,
    logger,
  })
  const records = createOrderRecords({ engine, logger })
  const onEnd = (receipt: Receipt) => {
    metrics.relay(receipt)
    head.expire()
  }
  const onForeign = metrics.foreignTransaction
  const relay = buildRelay({
    config,
    provider,
    engine,
    serveLease,
    observeLease: metrics.lease,
    serverId,
    relayerKeys,
    logger,
    stopping,
    onEnd,
    onForeign,
  })
  const { receipts } = relay
  const timeline = buildTimeline({ config, provider, contracts, head, records, receipts, stopping })
  const enclaveRuns = buildEnclaveRuns({
    config,
    engine,
    serveLease,
    contracts,
    provider,
    marketClock: marketData,
    records,
    escrowObserver: timeline.observer,
    runObserver: metrics.runs,
    logger,
    stopping,
  })
  const progress = createNarratorProgress()
  const { output, phase } = deps
  const narrator = buildNarrator({ config, provider, serveLease, logger, output, progress })
  const ops = buildOps({ config, provider, engine, relay, enclaveRuns, progress, metrics, phase, logger })

  const appDeps: AppDeps = {
    http: config.http,
    logger,
    observe: metrics.http,
    stopping,
    relay: { ...relay.router, relay: keepDigests(relay.router.relay, { records, logger }) },
    runs: enclaveRuns.router,
    health: {
      version: readVersion(),
      chainId,
      contracts: addresses,
      relayer: relay.address,
      symbols: () => listedSymbols.current() ?? [],
    },
    intake: {
      enclaveKey: createEnclaveKey({
        publicKey: config.enclave.intentPublicKey,
        chainId,
        escrow: contracts.escrow,
      }),
      orders: createOrders({
        records,
        escrow: contracts.escrow,
        onEscrowSeen: head.expire,
        onStored: enclaveRuns.onStored,
        room: enclaveRuns.room,
        knownEscrow: enclaveRuns.knownEscrow,
      }),
      orderStatus: createOrderStatus({
        escrowed: createHeadReads({ head, read: reads.contracts.escrow.orders }),
        summaryOf: records.summaryOf,
      }),
      policy: createPolicy({
        run: enclaveRuns.policyRuns.run,
        checkAuthor: createAuthorCheck({
          domain: { chainId, escrow: addresses.orderEscrow },
          adminOf: createHeadReads({ head, read: reads.contracts.registry.adminOf }),
        }),
        head,
        ledger: contracts.ledger,
        onPublished: head.expire,
      }),
      policyVersion: createHeadReads({ head, read: createPolicyVersionView(reads.contracts) }),
      bodyLimitBytes: config.http.bodyLimitBytes,
    },
    timeline: timeline.read,
    status: createStatusViews({
      ...reads,
      symbols: listedSymbols,
      broker: marketData,
      fees: config.broker.fees,
      marketMaxAgeMs: config.broker.marketMaxAgeMs,
      marketClockMaxAgeMs: config.broker.marketClockMaxAgeMs,
    }),
  }
  const services = [
    processMetrics(metrics),
    head.service,
    listedSymbols.service,
    ...enclaveRuns.services,
    ...relay.services,
    narrator,
  ]
  const app = createApp(appDeps)
  const backpressure = backpressureFor(config.http)
  const api = shedLoad(app, {
    ...config.http,
    hasRemoteEnclave: appDeps.runs !== undefined,
    authToken: relay.router.authToken,
    answerProbe: createProbeAnswer(appDeps.health, logger, metrics.http),
    stopping,
    logger,
    observe: metrics.http,
    backpressure,
  })
  return { app, api, ops, services }
}

/** By its place in RPC_URL, as a URL may hold a key. */
function reportNode(logger: Logger, node: number, fault: NodeFault | null): void {
  if (fault === null) logger.info('RPC node is back', { node })
  else logger.warn('RPC node set aside', { node, reason: fault })
}
