import type { Provider } from 'ethers'
import { leastBalance, priceLimit } from '../../chain/fees.js'
import type { Hex } from '../../protocol/hex.js'
import type { FeeMarket } from '../txManager/fees.js'
import type { RelayerAccounts } from './accounts.js'
import type { RelayDesk } from './desk.js'
import type { GasBudget, GasLeft } from './gasBudget.js'

/** How much this server's relay has to do, and what all servers may still use today. */
export interface RelayLoad extends GasLeft {
  /** Transactions that are sent and not yet deep enough. */
  readonly inFlight: number
  /** Authorizations without a transaction: they are checked, wait for their turn, or for blocks on somebody else's effect. */
  readonly queued: number
  /** A transaction of an account of this server was found lately that no server of ours has signed. */
  readonly isKeyShared: boolean
}

/** An account that pays gas, whichever server holds it. */
export interface AccountHealth {
  readonly address: Hex
  /** Wei. */
  readonly balance: bigint
  /** False: it takes on nothing new, also when nothing is under way. */
  readonly isFunded: boolean
}

/** How the relay stands, for the readiness of the server. */
export interface RelayHealth extends RelayLoad {
  /** Wei that each account keeps, beside what is booked for held orders. */
  readonly minBalance: bigint
  readonly accounts: readonly AccountHealth[]
}

/** Asks neither chain nor store. */
export function createRelayLoad(options: {
  readonly accounts: Pick<RelayerAccounts, 'terms'>
  readonly desk: Pick<RelayDesk, 'underWay'>
  readonly budget: Pick<GasBudget, 'left'>
}): () => RelayLoad {
  const { accounts, desk, budget } = options
  return () => {
    const managers = accounts.terms().map(({ txManager }) => txManager)
    const inFlight = managers.reduce((sum, txManager) => sum + txManager.inFlight(), 0)
    const queued = Math.max(0, desk.underWay() - inFlight)
    return {
      inFlight,
      queued,
      ...budget.left(),
      isKeyShared: managers.some((txManager) => txManager.isKeyShared()),
    }
  }
}

/**
 * Asks the chain for balances and the price of gas, and the store for what other servers have used.
 * Rejects with ChainUnavailableError, StorageError.
 */
export function createRelayHealth(options: {
  readonly provider: Provider
  readonly accounts: Pick<RelayerAccounts, 'addresses'>
  readonly minBalance: bigint
  readonly fees: FeeMarket
  readonly budget: Pick<GasBudget, 'refresh'>
  readonly load: () => RelayLoad
}): () => Promise<RelayHealth> {
  const { provider, accounts, minBalance, fees, budget, load } = options

  async function canPay(balance: bigint): Promise<boolean> {
    // An empty account pays for nothing, also where no floor is set.
    if (balance === 0n || balance < minBalance) return false
    const now = await fees.current()
    return balance >= leastBalance(minBalance + load().booked * priceLimit(now), now)
  }

  return async () => {
    await budget.refresh()
    const found = accounts.addresses.map(async (address) => {
      const balance = await provider.getBalance(address)
      return { address, balance, isFunded: await canPay(balance) }
    })
    return { minBalance, accounts: await Promise.all(found), ...load() }
  }
}
