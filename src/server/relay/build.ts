import { balanceOf } from '../../chain/fees.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Receipt } from '../../protocol/api.js'
import type { Logger } from '../../service/logger.js'
import { createTimedValue } from '../../service/waiting.js'
import type { Config } from '../config/config.js'
import { createRelayerSigner, type RelayerKey, type RelayerSigner } from '../signer/signer.js'
import type { Engine } from '../store/engine.js'
import type { ServeLease, Term } from '../store/leaseHolder.js'
import { createReceiptStore, createSaveNoOp } from '../store/receipts.js'
import { createBroadcaster } from '../txManager/broadcast.js'
import { createFeeMarket } from '../txManager/fees.js'
import { createTxManager } from '../txManager/txManager.js'
import { createRelayerAccount, createRelayHealth, type RelayTerm } from './account.js'
import { createAdmission } from './admission.js'
import { createAuthorizationVerifier } from './authorization.js'
import { createChainView } from './chainView.js'
import { createRelayDispatcher } from './dispatcher.js'
import { createGasBudget } from './gasBudget.js'
import { createPreflight } from './preflight.js'
import { createRelay } from './relay.js'

interface BuildRelayDeps {
  readonly config: Config
  readonly rpc: Rpc
  /** See `TxManagerOptions`. */
  readonly trailingMs?: number | undefined
  /** See `RelayDispatcherOptions`. */
  readonly searchEveryMs?: number | undefined
  readonly engine: Engine
  readonly serveLease: ServeLease
  readonly relayerKey: RelayerKey
  readonly logger: Logger
  readonly stopping: AbortSignal
  /** Called with the receipt of each job that has ended here. */
  readonly onEnd?: (receipt: Receipt) => void
  /** Called for each transaction of the relayer's account that no server of ours has signed. */
  readonly onForeign?: () => void
}

export type BuiltRelay = ReturnType<typeof buildRelay>

/** How old the account's balance may be when it claims work. Work that it cannot pay for any more waits for funds. */
const FUNDS_MAX_AGE_MS = 5_000

/** Wires the relay. Starts nothing. */
export function buildRelay(deps: BuildRelayDeps) {
  const { config, rpc, engine, serveLease, relayerKey, logger, stopping } = deps
  const { relay: settings, chain, enclave } = config
  const shared = createShared(deps)
  const { store, chainView, preflight, fees, budget } = shared
  const signer = createRelayerSigner(relayerKey)
  const account = createRelayerAccount({
    engine,
    address: signer.address,
    serveLease,
    build: (fenced, term) => buildTerm(deps, shared, { engine: fenced, signer, term }),
  })
  const dispatcher = createRelayDispatcher({
    account,
    store,
    chain: chainView,
    preflight,
    budget,
    isFunded: createTimedValue(FUNDS_MAX_AGE_MS, async () => {
      const balance = await balanceOf(rpc, account.address)
      return balance > 0n && balance >= settings.minBalance
    }),
    maxUnderWay: settings.maxInFlight + settings.maxQueued,
    waitMs: settings.waitMs,
    searchEveryMs: deps.searchEveryMs,
    stopping,
    logger,
  })
  const { minBalance } = settings
  const { health, load } = createRelayHealth({
    rpc,
    account,
    minBalance,
    fees,
    budget,
    underWay: dispatcher.underWay,
  })
  return {
    router: {
      authToken: settings.authToken.reveal(),
      verify: createAuthorizationVerifier({
        chainId: chain.chainId,
        contracts: chain.contracts,
        signer: enclave.signer,
      }),
      relay: dispatcher,
      waitMs: settings.waitMs,
      stopping,
    },
    services: [account.service, dispatcher.service],
    /** The name of the account's lease. */
    lease: account.lease,
    address: account.address,
    dispatcher,
    /** The stored record of each authorization. */
    receipts: store,
    health,
    load,
  }
}

/** Lives as long as the process, whether it holds the account or not. */
function createShared({ config, rpc, engine, relayerKey, logger }: BuildRelayDeps) {
  const { chain, relay: settings } = config
  const from = relayerKey.address
  const store = createReceiptStore({ engine, logger })
  return {
    store,
    chainView: createChainView({ rpc, from, confirmations: chain.confirmations }),
    preflight: createPreflight({ rpc, from, maxGas: settings.maxGas }),
    fees: createFeeMarket({
      rpc,
      ceiling: settings.maxFeePerGas,
      maxAgeMs: settings.pollIntervalMs,
    }),
    budget: createGasBudget({ engine, store, limits: settings.gas, now: Date.now, logger }),
  }
}

/** Builds every part that remembers the account's nonces. A later term begins with new ones. */
function buildTerm(
  deps: BuildRelayDeps,
  shared: ReturnType<typeof createShared>,
  termDeps: { readonly engine: Engine; readonly signer: RelayerSigner; readonly term: Term },
): RelayTerm {
  const { config, rpc, logger, onEnd } = deps
  const { chain, relay: settings } = config
  const { chainView, preflight, fees } = shared
  const { engine, signer, term } = termDeps
  const account = signer.address
  const store = createReceiptStore({ engine, logger })
  const budget = createGasBudget({ engine, store, limits: settings.gas, now: Date.now, logger })
  const txManager = createTxManager({
    ...settings,
    chainId: chain.chainId,
    confirmations: chain.confirmations,
    rpc,
    trailingMs: deps.trailingMs,
    broadcaster: createBroadcaster(rpc),
    signer,
    isTrusted: term.isTrusted,
    fees,
    saveNoOp: createSaveNoOp({ engine, address: account, logger }),
    onNoOpSent: budget.spendOther,
    onForeign: () => deps.onForeign?.(),
    logger,
  })
  const relay = createRelay({
    account,
    store,
    budget,
    chain: chainView,
    preflight,
    admission: createAdmission({
      rpc,
      from: account,
      fees,
      minBalance: settings.minBalance,
      committed: txManager.committed,
    }),
    txManager,
    stopping: AbortSignal.any([deps.stopping, term.signal]),
    onEnd,
    logger,
  })
  // They stop in the reverse order: first the transaction manager releases everything under way.
  return {
    relay,
    txManager,
    services: [relay.service, txManager.service],
    isTrusted: term.isTrusted,
  }
}
