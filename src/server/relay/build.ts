import { balanceOf } from '../../chain/fees.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Receipt } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { createTimedValue } from '../../service/waiting.js'
import type { Config } from '../config/config.js'
import { createRelayerSigner, type RelayerKey, type RelayerSigner } from '../signer/signer.js'
import type { Engine } from '../store/engine.js'
import type { LeaseObserver, ServeLease, Term } from '../store/leaseHolder.js'
import { createReceiptStore, createSaveNoOp } from '../store/receipts.js'
import { createBroadcaster } from '../txManager/broadcast.js'
import { createFeeMarket } from '../txManager/fees.js'
import { createTxManager } from '../txManager/txManager.js'
import { createRelayerAccounts, createRelayHealth, type RelayTerm } from './accounts.js'
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
  /** This server, among those that share the database. */
  readonly serverId: string
  /** At least one. */
  readonly relayerKeys: readonly RelayerKey[]
  readonly logger: Logger
  readonly stopping: AbortSignal
  /** Called with the receipt of each job that has ended here. */
  readonly onEnd?: (receipt: Receipt) => void
  readonly observeLease?: LeaseObserver
  /** Called for each transaction of a relayer's account that no server of ours has signed. */
  readonly onForeign?: () => void
}

export type BuiltRelay = ReturnType<typeof buildRelay>

/** How often a server counts the others, as a share of a lease's time to live. */
const REBALANCE_SHARE = 0.1

/** How old an account's balance may be when it claims work. Work that it cannot pay for any more waits for funds. */
const FUNDS_MAX_AGE_MS = 5_000

/** Wires the relay. Starts nothing. */
export function buildRelay(deps: BuildRelayDeps) {
  const { config, rpc, engine, serveLease, serverId, relayerKeys, logger, stopping } = deps
  const { relay: settings, chain, enclave } = config
  const shared = createShared(deps)
  const { store, chainView, preflight, fees, budget } = shared
  const accounts = createRelayerAccounts({
    engine,
    signers: relayerKeys.map(createRelayerSigner),
    serveLease,
    serverId,
    shareEveryMs: config.leaseTtlMs * REBALANCE_SHARE,
    observeLease: deps.observeLease,
    build: (fenced, signer, term) => buildTerm(deps, shared, { engine: fenced, signer, term }),
    logger,
  })
  const dispatcher = createRelayDispatcher({
    accounts,
    store,
    chain: chainView,
    preflight,
    budget,
    isFunded: createFundsCheck(relayerKeys, rpc, settings.minBalance),
    maxUnderWay: settings.maxInFlight + settings.maxQueued,
    waitMs: settings.waitMs,
    searchEveryMs: deps.searchEveryMs,
    stopping,
    logger,
  })
  const { minBalance } = settings
  const { health, load } = createRelayHealth({
    rpc,
    accounts,
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
    services: [...accounts.services, dispatcher.service],
    /** The names of the accounts' leases. */
    leases: accounts.leases,
    /** The accounts' addresses; at least one. */
    addresses: relayerKeys.map(({ address }) => address),
    dispatcher,
    /** The stored record of each authorization. */
    receipts: store,
    health,
    load,
  }
}

/** Lives as long as the process, whichever accounts it holds. */
function createShared({ config, rpc, engine, relayerKeys, logger }: BuildRelayDeps) {
  const { chain, relay: settings } = config
  // The contracts demand no particular sender, so a call is tried out from any of the accounts.
  const from = relayerKeys[0]?.address
  if (from === undefined) throw new TypeError('the relay has no account')
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

function createFundsCheck(keys: readonly RelayerKey[], rpc: Pick<Rpc, 'send'>, minBalance: bigint) {
  const balances = new Map(
    keys.map(({ address }) => [
      address,
      createTimedValue(FUNDS_MAX_AGE_MS, async () => {
        const balance = await balanceOf(rpc, address)
        return balance > 0n && balance >= minBalance
      }),
    ]),
  )
  return async (account: Hex) => (await balances.get(account)?.()) ?? false
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
    account,
    relay,
    txManager,
    services: [relay.service, txManager.service],
    isTrusted: term.isTrusted,
  }
}
