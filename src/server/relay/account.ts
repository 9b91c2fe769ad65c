import { balanceOf, leastBalance, priceLimit } from '../../chain/fees.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import { createHook, type Service } from '../../service/lifetime.js'
import type { Engine } from '../store/engine.js'
import { type ServeLease, servedLeases, type Term } from '../store/leaseHolder.js'
import type { FeeMarket } from '../txManager/fees.js'
import type { TxManager } from '../txManager/txManager.js'
import type { GasBudget, RemainingGas } from './gasBudget.js'
import type { Relay } from './relay.js'

/** The parts of one term of the lease on the account, discarded with the term. */
export interface RelayTerm {
  readonly relay: Relay
  readonly txManager: TxManager
  readonly services: readonly Service[]
  /** Whether no other server can have the account's lease yet, as far as is known. */
  readonly isTrusted: () => boolean
}

export type RelayerAccount = ReturnType<typeof createRelayerAccount>

const leaseOf = (account: Hex) => `relayer:${account}`

/** The account belongs to one server at a time, by a lease. */
export function createRelayerAccount(options: {
  readonly engine: Engine
  readonly address: Hex
  readonly serveLease: ServeLease
  readonly build: (engine: Engine, term: Term) => RelayTerm
}) {
  const { engine, address } = options
  const lease = leaseOf(address)
  const tried = Promise.withResolvers<void>()
  let free: ReadonlySet<Hex> = new Set()
  let served: RelayTerm | undefined

  return {
    address,
    lease,
    /** Undefined while another server may have the account. */
    term: () => (served?.isTrusted() ? served : undefined),
    /** Those of the given accounts whose keys no server seems to have: their leases are free, as they were at the call before. */
    async areAbandoned(accounts: readonly Hex[]): Promise<ReadonlySet<Hex>> {
      const served = new Set((await servedLeases(engine.leases)).map(({ lease }) => lease))
      const before = free
      free = new Set(accounts.filter((account) => account !== address && !served.has(leaseOf(account))))
      // No other server can have the key of an account where this server's database is its own.
      return engine.isShared ? new Set([...free].filter((account) => before.has(account))) : free
    },
    /** Resolves once this server has tried to take the account's lease, and serves the account if it has it. */
    tried: tried.promise,
    service: options.serveLease(
      lease,
      (fenced, lease) => {
        const term = options.build(fenced, lease)
        const isServed = createHook('relayer account served', {
          start() {
            served = term
            tried.resolve()
          },
          stop() {
            served = undefined
          },
        })
        return [...term.services, isServed]
      },
      { onAttemptOver: tried.resolve },
    ),
  }
}

/** The work of this server's relay, and the gas that all servers may still use today. */
export interface RelayLoad extends RemainingGas {
  readonly inFlight: number
  /** Authorizations without a transaction: being checked, waiting for a permit, or for blocks on another party's effect. */
  readonly queued: number
  /** A transaction of the account was found lately that no server of ours has signed. */
  readonly isKeyShared: boolean
}

export interface RelayHealth extends RelayLoad {
  /** Wei that the account keeps, beside the bookings for orders written ahead. */
  readonly minBalance: bigint
  /** The balance in wei. Without funds the account accepts no new work, even when none is under way. */
  readonly account: { readonly address: Hex; readonly balance: bigint; readonly isFunded: boolean }
}

/** The state of the relay: `load` reads memory only. */
export function createRelayHealth(options: {
  readonly rpc: Pick<Rpc, 'send'>
  readonly account: Pick<RelayerAccount, 'address' | 'term'>
  readonly underWay: () => number
  readonly minBalance: bigint
  readonly fees: FeeMarket
  readonly budget: Pick<GasBudget, 'refresh' | 'remaining'>
}) {
  const { rpc, account, underWay, minBalance, fees, budget } = options

  function load(): RelayLoad {
    const manager = account.term()?.txManager
    const inFlight = manager?.inFlight() ?? 0
    const queued = Math.max(0, underWay() - inFlight)
    return { inFlight, queued, ...budget.remaining(), isKeyShared: manager?.isKeyShared() ?? false }
  }

  async function canPay(balance: bigint): Promise<boolean> {
    // An empty account cannot pay, even where no floor is set.
    if (balance === 0n || balance < minBalance) return false
    const now = await fees()
    return balance >= leastBalance(minBalance + load().booked * priceLimit(now), now)
  }

  return {
    load,
    /**
     * Asks the chain for the balance and the price of gas, and the store for what other servers have used.
     * @throws ChainUnavailableError, StorageError
     */
    async health(): Promise<RelayHealth> {
      await budget.refresh()
      const { address } = account
      const balance = await balanceOf(rpc, address)
      const isFunded = await canPay(balance)
      return { minBalance, account: { address, balance, isFunded }, ...load() }
    },
  }
}
