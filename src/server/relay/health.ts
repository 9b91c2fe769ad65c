import type { Provider } from 'ethers'
import type { Hex } from '../../protocol/hex.js'
import type { GasBudget } from './gasBudget.js'
import type { Relay } from './relay.js'
import type { Transactor } from './transactor.js'

/** How the relay stands, for whoever asks whether the server is ready. */
export interface RelayHealth {
  readonly address: Hex
  /** Wei. */
  readonly balance: bigint
  /** Wei below which nothing more is taken on. */
  readonly minBalance: bigint
  /** False: `POST /relay` answers 503 `relayer-underfunded`. */
  readonly isFunded: boolean
  /** Transactions that are sent and not yet deep enough. */
  readonly inFlight: number
  /** Authorizations that wait for a nonce. */
  readonly queued: number
  /** Gas that is left of today's budget. */
  readonly gasLeft: bigint
}

export interface RelayHealthOptions {
  readonly provider: Provider
  readonly address: Hex
  readonly minBalance: bigint
  readonly transactor: Pick<Transactor, 'inFlight'>
  readonly relay: Pick<Relay, 'underWay'>
  readonly budget: Pick<GasBudget, 'left'>
}

/** Asks the chain for the balance, nobody for the rest. Rejects with ChainUnavailableError. */
export function createRelayHealth(options: RelayHealthOptions): () => Promise<RelayHealth> {
  const { provider, address, minBalance, transactor, relay, budget } = options
  return async () => {
    const balance = await provider.getBalance(address)
    const inFlight = transactor.inFlight()
    return {
      address,
      balance,
      minBalance,
      isFunded: balance >= minBalance,
      inFlight,
      queued: Math.max(0, relay.underWay() - inFlight),
      gasLeft: budget.left(),
    }
  }
}
