import type { Provider } from 'ethers'
import { leastBalance, priceLimit } from '../../chain/fees.js'
import type { Hex } from '../../protocol/hex.js'
import type { FeeMarket } from '../txManager/fees.js'
import type { TxManager } from '../txManager/txManager.js'
import type { GasBudget, GasLeft } from './gasBudget.js'
import type { Relay } from './relay.js'

/** How much the relay has to do, and may still use today. */
export interface RelayLoad extends GasLeft {
  /** Transactions that are sent and not yet deep enough. */
  readonly inFlight: number
  /** Authorizations without a transaction: they are checked, wait for their turn, or for blocks on somebody else's effect. */
  readonly queued: number
  /** A transaction of the account was found lately that this server has not signed. */
  readonly isKeyShared: boolean
}

/** How the relay stands, for whoever asks whether the server is ready. */
export interface RelayHealth extends RelayLoad {
  readonly address: Hex
  /** Wei. */
  readonly balance: bigint
  /** Wei that whatever begins anything new must leave, beside what is booked for held orders. */
  readonly minBalance: bigint
  /** False: `POST /relay` answers 503 `relayer-underfunded` to whatever begins anything new, also when nothing is under way. */
  readonly isFunded: boolean
}

/** Asks nobody. */
export function createRelayLoad(options: {
  readonly txManager: Pick<TxManager, 'inFlight' | 'isKeyShared'>
  readonly relay: Pick<Relay, 'underWay'>
  readonly budget: Pick<GasBudget, 'left'>
}): () => RelayLoad {
  const { txManager, relay, budget } = options
  return () => {
    const inFlight = txManager.inFlight()
    const queued = Math.max(0, relay.underWay() - inFlight)
    return { inFlight, queued, ...budget.left(), isKeyShared: txManager.isKeyShared() }
  }
}

/** Asks the chain for the balance and what gas costs, nobody for the rest. Rejects with ChainUnavailableError. */
export function createRelayHealth(options: {
  readonly provider: Provider
  readonly address: Hex
  readonly minBalance: bigint
  readonly fees: FeeMarket
  readonly load: () => RelayLoad
}): () => Promise<RelayHealth> {
  const { provider, address, minBalance, fees, load } = options

  async function canPay(balance: bigint): Promise<boolean> {
    // An empty account pays for nothing, also where no floor is set.
    if (balance === 0n || balance < minBalance) return false
    const now = await fees.current()
    return balance >= leastBalance(minBalance + load().booked * priceLimit(now), now)
  }

  return async () => {
    const balance = await provider.getBalance(address)
    return { address, balance, minBalance, isFunded: await canPay(balance), ...load() }
  }
}
