import type { Provider } from 'ethers'
import type { Hex } from '../../protocol/hex.js'
import { createKeyedLock } from '../store/keyedLock.js'
import type { InFlight } from './inFlight.js'

export interface NoncesOptions {
  readonly provider: Provider
  readonly address: Hex
  /** All that is under way. */
  readonly inFlight: ReadonlySet<InFlight>
}

/** Hands out the account's nonces one after another. */
export interface Nonces {
  /** Runs `action` with the next nonce, alone. It is used up only when `action` resolves. */
  use<T>(action: (nonce: number) => Promise<T>): Promise<T>
  /** What was under way can't be mined under its nonce: go back to what the chain says. */
  distrust(reason: 'taken' | 'unreachable'): void
}

/**
 * The chain is asked whenever nothing is under way, so that a use of the key elsewhere or a chain that was reset
 * can't make the count drift; in between it is counted here, as no node knows of what was signed a moment ago.
 */
export function createNonces({ provider, address, inFlight }: NoncesOptions): Nonces {
  const lock = createKeyedLock()
  let next: number | undefined
  // A node counts its pending transactions too, also those that are stuck: behind them nothing is ever mined.
  let tag: 'pending' | 'latest' = 'pending'

  async function choose(): Promise<number> {
    if (next !== undefined && inFlight.size > 0) return next
    const onChain = await provider.getTransactionCount(address, tag)
    return Math.max(onChain, ...[...inFlight].map(({ nonce }) => nonce + 1))
  }

  return {
    use: (action) =>
      lock.run('nonce', async () => {
        const nonce = await choose()
        const result = await action(nonce)
        next = nonce + 1
        tag = 'pending'
        return result
      }),
    distrust(reason) {
      next = undefined
      if (reason === 'unreachable') tag = 'latest'
    },
  }
}
