import type { Provider } from 'ethers'
import type { Hex } from '../../protocol/hex.js'
import type { GasBudget } from './gasBudget.js'
import type { Relay } from './relay.js'
import type { Transactor } from './transactor.js'

/** How much the relay has to do, and may still use today. */
export interface RelayLoad {
  /** Transactions that are sent and not yet deep enough. */
  readonly inFlight: number
  /** Authorizations without a transaction: they are checked, wait for their turn, or for blocks on somebody else's effect. */
  readonly queued: number
  /** Gas that is left of today's budget. */
  readonly gasLeft: bigint
}

/** How the relay stands, for whoever asks whether the server is ready. */
export interface RelayHealth extends RelayLoad {
  readonly address: Hex
  /** Wei. */
  readonly balance: bigint
  /** Wei below which nothing more is taken on. */
  readonly minBalance: bigint
  /** False: `POST /relay` answers 503 `relayer-underfunded`. */
  readonly isFunded: boolean
}

/** Asks nobody. */
export function createRelayLoad(options: {
  readonly transactor: Pick<Transactor, 'inFlight'>
  readonly relay: Pick<Relay, 'underWay'>
  readonly budget: Pick<GasBudget, 'left'>
}): () => RelayLoad {
  const { transactor, relay, budget } = options
  return () => {
    const inFlight = transactor.inFlight()
    return { inFlight, queued: Math.max(0, relay.underWay() - inFlight), gasLeft: budget.left() }
  }
}

/** Asks the chain for the balance, nobody for the rest. Rejects with ChainUnavailableError. */
export function createRelayHealth(options: {
  readonly provider: Provider
  readonly address: Hex
  readonly minBalance: bigint
  readonly load: () => RelayLoad
}): () => Promise<RelayHealth> {
  const { provider, address, minBalance, load } = options
  return async () => {
    const balance = await provider.getBalance(address)
    // An empty account pays for nothing, also where no floor is set.
    const isFunded = balance > 0n && balance >= minBalance
    return { address, balance, minBalance, isFunded, ...load() }
  }
}
