import type { FindMined, MinedTransaction } from './mined.js'

/** A transaction that was reported as mined, watched a while longer. */
export interface Settled {
  readonly transaction: MinedTransaction
  /** It is in its block no more. */
  readonly dropped: () => void
}

/** What was reported as mined: a reorganization deeper than the confirmations may still take it back. */
export interface SettledTransactions {
  add(settled: Settled): void
  isEmpty(): boolean
  /** Lets go of what is too deep to be taken back. */
  forget(head: number): void
  /** Blocks were exchanged: any of them may be in another one now, or in none. */
  suspectAll(): void
  /** Asks for those that are suspected, and reports those that moved. What can't be asked stays suspected. */
  check(): Promise<void>
  /** The chain was reset: nothing is put back onto one that never had it. */
  clear(): void
}

/** Two epochs of Ethereum, after which a block is final. */
const DEPTH = 64
/** Reports are kept of so many at most. */
const MAX_KEPT = 4_096

export function createSettledTransactions(findMined: FindMined): SettledTransactions {
  const kept = new Set<Settled>()

  const suspected = new Set<Settled>()

  async function look(settled: Settled): Promise<void> {
    const { hash, blockHash } = settled.transaction
    const now = await findMined(hash)
    if (!suspected.delete(settled) || now?.blockHash === blockHash) return
    kept.delete(settled)
    settled.dropped()
  }

  function letGo(settled: Settled): void {
    kept.delete(settled)
    suspected.delete(settled)
  }

  return {
    add(settled) {
      kept.add(settled)
      for (const oldest of kept) {
        if (kept.size <= MAX_KEPT) break
        letGo(oldest)
      }
    },
    isEmpty: () => kept.size === 0,
    forget(head) {
      for (const settled of kept) if (head - settled.transaction.blockNumber >= DEPTH) letGo(settled)
    },
    suspectAll() {
      for (const settled of kept) suspected.add(settled)
    },
    async check() {
      await Promise.allSettled([...suspected].map(look))
    },
    clear() {
      kept.clear()
      suspected.clear()
    },
  }
}
