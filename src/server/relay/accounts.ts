import { balanceOf, leastBalance, priceLimit } from '../../chain/fees.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import { createHook, createPoller, type Service } from '../../service/lifetime.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { RelayerSigner } from '../signer/signer.js'
import type { Engine } from '../store/engine.js'
import { heldLeases, type LeaseObserver, type ServeLease, type Term } from '../store/leaseHolder.js'
import type { FeeMarket } from '../txManager/fees.js'
import type { TxManager } from '../txManager/txManager.js'
import type { GasBudget, GasLeft } from './gasBudget.js'
import type { Relay } from './relay.js'

/** The parts of one term of the lease on an account, discarded with the term. */
export interface RelayTerm {
  readonly account: Hex
  readonly relay: Relay
  readonly txManager: TxManager
  /** In the order in which they start. */
  readonly services: readonly Service[]
  /** Whether no other server can have taken the account yet, as far as is known. */
  readonly isTrusted: () => boolean
}

/** The relayer's accounts, and which of them this server holds now. */
export type RelayerAccounts = ReturnType<typeof createRelayerAccounts>

interface RelayerAccountsOptions {
  readonly engine: Engine
  readonly signers: readonly RelayerSigner[]
  readonly serveLease: ServeLease
  readonly serverId: string
  /** How often this server counts the others. */
  readonly shareEveryMs: number
  readonly build: (engine: Engine, signer: RelayerSigner, term: Term) => RelayTerm
  /** Called with leases named by the index of their account in the configuration. */
  readonly observeLease?: LeaseObserver | undefined
  readonly logger: Logger
}

const SERVER_LEASE = 'server:'
const leaseOf = (account: Hex) => `relayer:${account}`
/** Longer than a server takes to restart. */
const ABANDONED_AFTER_MS = 60_000

/**
 * Each account belongs to one server at a time, by a lease. Live servers share the accounts evenly. Each holds as many as its share,
 * and gives one back when it has more. It rounds its share up, or down while another server has less than that.
 */
export function createRelayerAccounts(options: RelayerAccountsOptions) {
  const { engine, signers, serveLease, serverId, logger } = options
  const held = new Map<Hex, { readonly term: RelayTerm; readonly end: () => void }>()
  const served = new Set<RelayTerm>()
  /** Accounts that this server is about to take. */
  const attempts = new Set<Hex>()
  const tried = new Map(signers.map(({ address }) => [address, Promise.withResolvers<void>()]))
  const freeSince = new Map<Hex, number>()
  let share = signers.length
  /** Accounts that no server held at the last count. */
  let free = new Set<Hex>(engine.isShared ? [] : signers.map(({ address }) => address))

  function isWanted(address: Hex): boolean {
    if (!free.has(address) || held.size + attempts.size >= share) return false
    attempts.add(address)
    return true
  }

  function onAttemptOver(address: Hex): void {
    attempts.delete(address)
    tried.get(address)?.resolve()
  }

  function holder(signer: RelayerSigner, index: number): Service {
    const { address } = signer
    return serveLease(
      leaseOf(address),
      (fenced, lease) => {
        const term = options.build(fenced, signer, lease)
        const isHeld = createHook('relayer account held', {
          start() {
            attempts.delete(address)
            held.set(address, { term, end: lease.end })
          },
          stop: () => held.delete(address),
        })
        const isServed = createHook('relayer account served', {
          start() {
            served.add(term)
            tried.get(address)?.resolve()
          },
          stop: () => served.delete(term),
        })
        return [isHeld, ...term.services, isServed]
      },
      {
        isWanted: () => isWanted(address),
        onAttemptOver: () => onAttemptOver(address),
        observe: (_lease, isHeld) => options.observeLease?.(`relayer:${index}`, isHeld),
      },
    )
  }

  async function rebalance(): Promise<void> {
    const leases = await heldLeases(engine.leases)
    const others = leases.filter(({ lease, holder }) => lease.startsWith(SERVER_LEASE) && holder !== serverId)
    const taken = new Set(leases.map(({ lease }) => lease))
    free = new Set(signers.flatMap(({ address }) => (taken.has(leaseOf(address)) ? [] : [address])))
    const accounts = new Set(signers.map(({ address }) => leaseOf(address)))
    const heldBy = (server: string) =>
      leases.filter(({ lease, holder }) => holder === server && accounts.has(lease)).length
    const each = signers.length / (others.length + 1)
    const isAnyShort = others.some(({ holder }) => heldBy(holder) < Math.floor(each))
    share = isAnyShort ? Math.floor(each) : Math.ceil(each)
    if (held.size <= share) return
    const [idlest] = [...held.values()].toSorted((a, b) => a.term.relay.underWay() - b.term.relay.underWay())
    if (idlest === undefined) return
    logger.info('relayer account given back', { recordId: leaseOf(idlest.term.account) })
    idlest.end()
  }

  const rebalancing = createPoller({
    name: 'relayer-accounts',
    intervalMs: options.shareEveryMs,
    tick: rebalance,
    logger,
  })

  return {
    addresses: signers.map(({ address }) => address),
    leases: signers.map(({ address }) => leaseOf(address)),
    terms: () => [...served].filter(({ isTrusted }) => isTrusted()),
    /** Those of the given accounts whose leases have been free for so long that no server seems to have their keys. */
    async areAbandoned(accounts: ReadonlySet<Hex>): Promise<ReadonlySet<Hex>> {
      const now = performance.now()
      const own = new Set(signers.map(({ address }) => address))
      const taken = new Set((await heldLeases(engine.leases)).map(({ lease }) => lease))
      const free = [...accounts].filter((account) => !own.has(account) && !taken.has(leaseOf(account)))
      for (const account of freeSince.keys()) if (!free.includes(account)) freeSince.delete(account)
      for (const account of free) if (!freeSince.has(account)) freeSince.set(account, now)
      // No other server can have the key of an account where this server's database is its own.
      const patienceMs = engine.isShared ? ABANDONED_AFTER_MS : 0
      return new Set(free.filter((account) => now - (freeSince.get(account) ?? now) >= patienceMs))
    },
    /** Resolves once this server has tried to take each account, and those that it took are served. */
    tried: Promise.all([...tried.values()].map(({ promise }) => promise)).then(() => undefined),
    services: engine.isShared
      ? [
          // Without a metric, because each start takes another name.
          serveLease(`${SERVER_LEASE}${serverId}`, () => [], { observe: undefined }),
          // Before the first attempt, so that a server that joins takes no more than its share.
          createHook('relayer shares', {
            start: () =>
              rebalance().catch((error: unknown) => logger.warn('servers not counted', describeError(error))),
          }),
          ...signers.map(holder),
          rebalancing,
        ]
      : signers.map(holder),
  }
}

/** The work of this server's relay, and the gas that all servers may still use today. */
export interface RelayLoad extends GasLeft {
  /** Transactions that are sent and not yet deep enough. */
  readonly inFlight: number
  /** Authorizations without a transaction: being checked, waiting for a permit, or for blocks on another party's effect. */
  readonly queued: number
  /** A transaction of an account of this server was found lately that no server of ours has signed. */
  readonly isKeyShared: boolean
}

/** An account that pays gas, whichever server holds it. */
export interface AccountHealth {
  readonly address: Hex
  /** Wei. */
  readonly balance: bigint
  /** False: it takes on no new work, even when none is under way. */
  readonly isFunded: boolean
}

/** The state of the relay, for the readiness of the server. */
export interface RelayHealth extends RelayLoad {
  /** Wei that each account keeps, beside the bookings for held orders. */
  readonly minBalance: bigint
  readonly accounts: readonly AccountHealth[]
}

/** The state of the relay: `load` reads memory only. */
export function createRelayHealth(options: {
  readonly rpc: Pick<Rpc, 'send'>
  readonly accounts: Pick<RelayerAccounts, 'addresses' | 'terms'>
  /** Authorizations that this server has under way, in any state. */
  readonly underWay: () => number
  readonly minBalance: bigint
  readonly fees: FeeMarket
  readonly budget: Pick<GasBudget, 'left' | 'refresh'>
}) {
  const { rpc, accounts, underWay, minBalance, fees, budget } = options

  function load(): RelayLoad {
    const managers = accounts.terms().map(({ txManager }) => txManager)
    const inFlight = managers.reduce((sum, txManager) => sum + txManager.inFlight(), 0)
    const queued = Math.max(0, underWay() - inFlight)
    const isKeyShared = managers.some((txManager) => txManager.isKeyShared())
    return { inFlight, queued, ...budget.left(), isKeyShared }
  }

  async function canPay(balance: bigint): Promise<boolean> {
    // An empty account cannot pay, even where no floor is set.
    if (balance === 0n || balance < minBalance) return false
    const now = await fees.current()
    return balance >= leastBalance(minBalance + load().booked * priceLimit(now), now)
  }

  return {
    load,
    /**
     * Asks the chain for balances and the price of gas, and the store for what other servers have used.
     * @throws ChainUnavailableError, StorageError
     */
    async health(): Promise<RelayHealth> {
      await budget.refresh()
      const found = accounts.addresses.map(async (address) => {
        const balance = await balanceOf(rpc, address)
        return { address, balance, isFunded: await canPay(balance) }
      })
      return { minBalance, accounts: await Promise.all(found), ...load() }
    },
  }
}
