import type { Provider } from 'ethers'
import type { Hex } from '../../protocol/hex.js'

/** A transaction that was reported as mined, watched a while longer. */
export interface Settled {
  readonly hash: Hex
  readonly blockNumber: number
  readonly blockHash: string
  /** It is in that block no more. */
  readonly dropped: () => void
}

/** What was reported as mined: a reorganization deeper than the confirmations may still take it back. */
export interface SettledTransactions {
  add(settled: Settled): void
  isEmpty(): boolean
  /** Lets go of what is too deep to be taken back. */
  forget(head: number): void
  /** Asks for all again, and reports those that are in another block now, or in none. */
  recheck(): Promise<void>
  /** The chain was reset: nothing is put back onto one that never had it. */
  clear(): void
}

/** Two epochs of Ethereum, after which a block is final. */
const DEPTH = 64
/** Reports are kept of so many at most. */
const MAX_KEPT = 4_096

export function createSettledTransactions(provider: Provider): SettledTransactions {
  const kept = new Set<Settled>()

  async function check(settled: Settled): Promise<void> {
    const receipt = await provider.getTransactionReceipt(settled.hash)
    if (receipt?.blockHash === settled.blockHash || !kept.delete(settled)) return
    settled.dropped()
  }

  return {
    add(settled) {
      kept.add(settled)
      for (const oldest of kept) {
        if (kept.size <= MAX_KEPT) break
        kept.delete(oldest)
      }
    },
    isEmpty: () => kept.size === 0,
    forget(head) {
      for (const settled of kept) if (head - settled.blockNumber >= DEPTH) kept.delete(settled)
    },
    async recheck() {
      await Promise.all([...kept].map(check))
    },
    clear: () => kept.clear(),
  }
}
