import type { BlockTag } from 'ethers'
import { createBroker } from '../broker/index.js'
import { createSignatureCheck } from '../chain/accountSignature.js'
import { createOwnerView, createSignersView } from '../chain/authorityView.js'
import { createRpc } from '../chain/rpc.js'
import { createViewCaller, hasCode } from '../chain/views.js'
import type { Health } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { createHook } from '../service/lifetime.js'
import type { Logger } from '../service/logger.js'
import { readVersion } from '../service/version.js'
import { createApp, createEnclaveApp } from './app.js'
import type { Config } from './config/config.js'
import { createReaders } from './http/clients.js'
import { attestationRoute, challengeRoute, createShownAttestation } from './intake/attestation.js'
import { createOrderStatus } from './intake/orderStatus.js'
import { createCancels, createOpenings, createOrders } from './intake/orders.js'
import { createEnclaveKey, intakeRoutes } from './intake/router.js'
import { createPolicy, createPolicyVersionView, createResolutions } from './intake/signedJobs.js'
import { Metrics } from './metrics.js'
import type { NarratorOutput } from './narrator/lines.js'
import { buildNarrator, createNarratorProgress } from './narrator/poll.js'
import { buildOps } from './ops/app.js'
import type { Phase } from './ops/checks.js'
import { buildReads, createHeadReads } from './reads/chainHead.js'
import { createOpeningVerifier } from './relay/authorization.js'
import { buildRelay } from './relay/build.js'
import { createOpeningQuota } from './relay/openingQuota.js'
import { relayRoutes } from './relay/router.js'
import type { Curve } from './signer/curve.js'
import type { RelayerSigner } from './signer/signer.js'
import { createListedSymbols } from './status/listedSymbols.js'
import { statusReads } from './status/router.js'
import { createStatusViews } from './status/views.js'
import type { Engine } from './store/engine.js'
import { createServeLease } from './store/leaseHolder.js'
import { createOrderRecords } from './store/orderRecords.js'
import { createOpeningRecords } from './store/receipts.js'
import { createRetention } from './store/retention.js'
import { buildTimeline, keepDigests } from './timeline/timeline.js'
import { createChallenge } from './trigger/door.js'
import { buildEnclaveRuns } from './trigger/enclaveRuns.js'
import { runRoutes } from './trigger/httpRunner.js'
import type { RetryTimes } from './trigger/orderRun.js'

/** Builds every part from the configuration and wires them. Starts no part and sends no request. */
export function buildServer(deps: {
  readonly config: Config
  readonly logger: Logger
  readonly engine: Engine
  readonly serverId: string
  readonly signer: RelayerSigner
  /** Default: on the caller's thread. */
  readonly curve?: Curve | undefined
  readonly stopping: AbortSignal
  readonly phase: () => Phase
  readonly output: NarratorOutput
  /** Default: the trigger's own. */
  readonly times?: RetryTimes | undefined
}) {
  const { config, logger, engine, serverId, stopping } = deps
  const { chainId, contracts: addresses } = config.chain
  const metrics = new Metrics(readVersion())
  const rpc = createRpc({
    urls: config.chain.rpcUrls.reveal(),
    timeoutMs: config.chain.rpcTimeoutMs,
    chainId,
    // A node is named by its place in RPC_URL, because a URL may hold a key.
    onNodeChange(node, reason) {
      if (reason === null) logger.info('RPC node restored', { node })
      else logger.warn('RPC node set aside', { node, reason })
    },
    onRequest: metrics.rpc,
  })
  const marketData = createBroker({
    ...config.broker,
    keyId: config.broker.keyId.reveal(),
    secretKey: config.broker.secretKey.reveal(),
    // Callers have older answers, so no call waits for the rate limit.
    patienceMs: 0,
  })
  const readers = createReaders()
  const reads = buildReads({ config, rpc, readers, logger })
  const { head, trading, posted, shown } = reads
  const { contracts } = trading
  const views = shown.contracts
  const listedSymbols = createListedSymbols({ token: views.token, logger })
  const serveLease = createServeLease({
    engine,
    holder: serverId,
    ttlMs: config.leaseTtlMs,
    observe: metrics.lease,
    stopping,
    logger,
  })
  const parts = { ...deps, rpc, serveLease }
  const records = createOrderRecords({ engine, logger })
  const relay = buildRelay({
    ...parts,
    charged: reads.charged,
    onEnd(receipt) {
      metrics.relay(receipt)
      head.expire()
    },
    onForeign: metrics.foreignTransaction,
  })
  const { receipts } = relay
  const openingRecords = createOpeningRecords({ engine, receipts, logger })
  const findOpening = openingRecords.receiptOf
  const timeline = buildTimeline({ ...parts, ...reads.timelines, head, records, receipts, findOpening })
  const readSigners = createHeadReads({ head, read: createSignersView(rpc) })
  const signers = () => readSigners(addresses.orderEscrow)
  const enclaveRuns = buildEnclaveRuns({
    ...parts,
    signers,
    ...{ escrow: contracts.escrow, records },
    marketClock: marketData,
    escrowObserver: timeline.observer,
    runObserver: metrics.runs,
  })
  const domain = { chainId, escrow: addresses.orderEscrow }
  const { escrow } = posted.contracts
  const hasCodeAt = (account: Hex, block: BlockTag) => hasCode(reads.charged, account, block)
  const isContract = createHeadReads({ head, read: hasCodeAt })
  const isSignedBy = createSignatureCheck(createViewCaller(reads.charged), isContract)
  const shownOrders = createHeadReads({ head, read: views.escrow.orders, lane: shown.lane })
  const escrowed = createHeadReads({ head, read: escrow.orders })
  const orders = createOrders({ ...enclaveRuns, records, escrow, onEscrowSeen: head.expire })
  const progress = createNarratorProgress()
  const narrator = buildNarrator({ ...parts, progress })
  const ops = buildOps({ ...parts, relay, enclaveRuns, progress, metrics })
  const attestation = createShownAttestation({ engine, logger, now: Date.now })
  /** The routes that the enclave calls, of both ports. */
  const ofEnclave = [
    ...runRoutes(enclaveRuns.router),
    ...relayRoutes({ ...relay.router, relay: keepDigests(relay.dispatcher, { records, logger }) }),
    attestationRoute({ ...relay.router, shown: attestation }),
  ]
  const enclaveKey = createEnclaveKey({
    publicKey: config.enclave.intentPublicKey,
    ...{ chainId, escrow: contracts.escrow, shown: attestation },
    signers,
  })
  const intake = intakeRoutes({
    enclaveKey: enclaveKey.current,
    orders,
    openings: createOpenings({
      orders,
      verify: createOpeningVerifier(rpc, domain),
      relay: {
        precheck: relay.dispatcher.precheck,
        // Only the check is at the client's cost: the quota bounds what is relayed, and a job may last for days.
        post: (opening) => readers.shared(() => relay.dispatcher.post(opening)),
      },
      quota: createOpeningQuota({
        engine,
        membershipOf: createHeadReads({ head, read: posted.lenses.wallet }),
        receipts,
        escrowed,
        historyOf: timeline.historyOf,
        isCancelled: async (orderId) => (await records.cancels.get(orderId)) !== undefined,
        now: Date.now,
        logger,
      }),
      receipts,
      records: openingRecords,
      onMember: readers.noteMember,
    }),
    cancels: createCancels({
      ...{ domain, escrowed, isSignedBy, records },
      onStored: enclaveRuns.onCancelled,
    }),
    orderStatus: createOrderStatus({ escrowed: shownOrders, summaryOf: records.summaryOf, findOpening }),
    policy: createPolicy({
      domain,
      run: enclaveRuns.sealedJobs.run,
      adminOf: createHeadReads({ head, read: posted.contracts.registry.adminOf }),
      isSignedBy,
      head,
      ledger: contracts.ledger,
      onPublished: head.expire,
    }),
    resolutions: createResolutions({
      domain,
      ownerOf: createHeadReads({ head, read: createOwnerView(rpc) }),
      run: enclaveRuns.sealedJobs.run,
      onResolved: head.expire,
    }),
    policyVersion: createHeadReads({ head, read: createPolicyVersionView(views), lane: shown.lane }),
  })
  const status = createStatusViews({
    ...{ ...shown, ...config.broker },
    ...{ head, readers, symbols: listedSymbols, broker: marketData },
  })
  const { address: relayer } = relay
  const fixed = { version: readVersion(), chainId, contracts: addresses, relayer }
  const health = (): Health => ({
    ...{ status: 'ok', ...fixed, mode: enclaveKey.mode() },
    symbols: [...(listedSymbols.current() ?? [])],
  })
  const services = [
    createHook('process metrics', { start: () => metrics.addProcess() }),
    head.service,
    listedSymbols.service,
    ...enclaveRuns.services,
    ...relay.services,
    narrator,
    ...(config.retentionMs === undefined
      ? []
      : [createRetention({ engine, keptMs: config.retentionMs, logger })]),
  ]
  const { authToken } = relay.router
  const common = { logger, observe: metrics.http, stopping, authToken }
  const reading = statusReads(status, health, ops.healthChecks)
  // The busiest first, because Express tries them in this order: pages ask for the wallet in each block.
  const challenge = challengeRoute({ readers, challenge: createChallenge(enclaveRuns.door) })
  const routes = [
    ...reading.slice(0, 1),
    ...[...intake, ...ofEnclave],
    ...reading.slice(1),
    ...[timeline.route, challenge],
  ]
  return {
    app: createApp({ ...common, http: config.http, readers, routes }),
    enclave: createEnclaveApp({ ...common, routes: ofEnclave }),
    ops: ops.app,
    services,
  }
}
