import { createSignersView } from '../../chain/authorityView.js'
import { balanceOf, currentFees } from '../../chain/fees.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Receipt } from '../../protocol/relayReceipt.js'
import { createPoller } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import { createTimedValue } from '../../service/waiting.js'
import type { Config } from '../config/config.js'
import { type Curve, createCurve } from '../signer/curve.js'
import type { RelayerSigner } from '../signer/signer.js'
import type { Engine } from '../store/engine.js'
import type { ServeLease, Term } from '../store/leaseHolder.js'
import { createReceiptStore, createSaveNoOp } from '../store/receipts.js'
import { createBroadcaster } from '../txManager/broadcast.js'
import { createTxManager } from '../txManager/txManager.js'
import { createRelayerAccount, createRelayHealth, type RelayTerm } from './account.js'
import { createAuthorizationVerifier } from './authorization.js'
import { createChainView } from './chainView.js'
import { createRelayDispatcher } from './dispatcher.js'
import { createEnactments } from './enactments.js'
import { type ChangedQuotas, createGasBudget } from './gasBudget.js'
import { createAdmission, createPreflight } from './preflight.js'
import { createRelay } from './relay.js'

interface BuildRelayDeps {
  readonly config: Config
  readonly rpc: Rpc
  /** The same nodes, at the cost of the client whose opening is checked. */
  readonly charged: Pick<Rpc, 'send'>
  readonly trailingMs?: number | undefined
  readonly searchEveryMs?: number | undefined
  readonly enactEveryMs?: number | undefined
  readonly engine: Engine
  readonly serveLease: ServeLease
  readonly signer: RelayerSigner
  /** Default: on the caller's thread. */
  readonly curve?: Curve | undefined
  readonly logger: Logger
  readonly stopping: AbortSignal
  readonly onEnd?: (receipt: Receipt) => void
  /** Called for each transaction of the relayer's account that no server of ours has signed. */
  readonly onForeign?: () => void
}

export type BuiltRelay = ReturnType<typeof buildRelay>

/** How old the account's balance may be when it claims work. Work that it cannot pay for any more waits for funds. */
const FUNDS_MAX_AGE_MS = 5_000
/** A corporate action takes effect on a date, so this is soon enough. */
const ENACT_EVERY_MS = 10_000

export function buildRelay(deps: BuildRelayDeps) {
  const { config, rpc, signer, curve = createCurve(), stopping } = deps
  const { relay: settings, chain } = config
  const { minBalance, waitMs } = settings
  const shared = createShared(deps)
  const account = createRelayerAccount({
    ...deps,
    address: signer.address,
    build: (engine, term) =>
      buildTerm({ ...deps, ...shared, ...shared.storesOf(engine), engine }, signer, term),
  })
  const dispatcher = createRelayDispatcher({
    ...deps,
    ...shared,
    ...{ account, waitMs },
    isFunded: createTimedValue(FUNDS_MAX_AGE_MS, async () => {
      const balance = await balanceOf(rpc, account.address)
      return balance > 0n && balance >= minBalance
    }),
    room: { openings: settings.maxOpenings, others: settings.maxInFlight + settings.maxQueued },
  })
  const readSigners = createSignersView(rpc)
  const signers = () => readSigners(chain.contracts.orderEscrow)
  const verify = createAuthorizationVerifier({ ...chain, ...curve, signers })
  return {
    router: { authToken: settings.authToken.reveal(), verify, relay: dispatcher, waitMs, stopping },
    services: [account.service, dispatcher.service],
    lease: account.lease,
    address: account.address,
    dispatcher,
    receipts: shared.store,
    ...createRelayHealth({ ...shared, rpc, account, minBalance, underWay: dispatcher.underWay }),
  }
}

/** Lives as long as the process, whether it holds the account or not. */
function createShared({ config, rpc, charged, engine, signer, logger }: BuildRelayDeps) {
  const { chain, relay: settings } = config
  const from = signer.address
  const changed: ChangedQuotas = new Map()
  /** @param of the engine of every server, or one whose writes have the fence of a term */
  const storesOf = (of: Engine) => {
    const store = createReceiptStore({ engine: of, logger })
    return { store, budget: createGasBudget({ engine: of, store, limits: settings.gas, changed, logger }) }
  }
  return {
    storesOf,
    ...storesOf(engine),
    chain: createChainView({ rpc: charged, from, confirmations: chain.confirmations }),
    preflight: createPreflight({ rpc: charged, from, maxGas: settings.maxGas }),
    fees: createTimedValue(settings.pollIntervalMs, () => currentFees(rpc, settings.maxFeePerGas)),
  }
}

/** Builds every part that remembers the account's nonces. A later term begins with new ones. */
function buildTerm(
  parts: BuildRelayDeps & ReturnType<typeof createShared>,
  signer: RelayerSigner,
  term: Term,
): RelayTerm {
  const { config, rpc, engine, fees, budget, logger } = parts
  const { relay: settings } = config
  const { isTrusted } = term
  const account = signer.address
  const txManager = createTxManager({
    ...settings,
    ...{ rpc, signer, fees, isTrusted, logger },
    chainId: config.chain.chainId,
    confirmations: config.chain.confirmations,
    trailingMs: parts.trailingMs,
    broadcaster: createBroadcaster(rpc),
    saveNoOp: createSaveNoOp({ engine, address: account, logger }),
    onNoOpSent: budget.spendOther,
    onForeign: () => parts.onForeign?.(),
  })
  const relay = createRelay({
    ...parts,
    ...{ account, txManager },
    admission: createAdmission({
      ...{ rpc, from: account, fees },
      minBalance: settings.minBalance,
      committed: txManager.committed,
    }),
    stopping: AbortSignal.any([parts.stopping, term.signal]),
  })
  const { contracts, logRange } = config.chain
  const enactments = createPoller({
    name: 'enactments',
    intervalMs: parts.enactEveryMs ?? ENACT_EVERY_MS,
    tick: createEnactments({ rpc, contracts, logRange, relay, logger }),
    logger,
  })
  // They stop in the reverse order: first nothing more begins, then the transaction manager releases everything under way.
  return { relay, txManager, services: [relay.service, txManager.service, enactments], isTrusted }
}
