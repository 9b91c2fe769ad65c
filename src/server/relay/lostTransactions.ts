import type { Hex } from '../../protocol/hex.js'
import type { CorrectGas, Flight } from './flight.js'
import type { GasCount } from './gasCount.js'
import type { FindMined } from './mined.js'

/** Transactions whose nonce was given up before a receipt was found: a node that has none may just not show it. */
export interface LostTransactions {
  add(flight: Flight): void
  /** The nonce was used by something else: nothing that was sent under it uses gas. */
  taken(nonce: number): void
  /** Looks for their receipts, every few seconds at most. What can't be asked is asked again. Never rejects. */
  check(): Promise<void>
}

interface Lost {
  readonly nonce: number
  /** All that may be mined under its nonce. */
  readonly hashes: readonly Hex[]
  readonly correct: CorrectGas
  /** Of `performance.now()`. */
  readonly since: number
}

const ASK_AGAIN_MS = 10_000
/** The budget begins anew each day. */
const MAX_AGE_MS = 86_400_000
const MAX_KEPT = 1_024

/** Until its receipt is found, the gas of a lost transaction stays counted at its limit. */
export function createLostTransactions(options: {
  readonly findMined: FindMined
  readonly gasCount: GasCount
}): LostTransactions {
  const { findMined, gasCount } = options
  const kept = new Set<Lost>()
  let askedAt = Number.NEGATIVE_INFINITY

  async function look(lost: Lost): Promise<void> {
    if (performance.now() - lost.since > MAX_AGE_MS) kept.delete(lost)
    const found = await Promise.all(lost.hashes.map(findMined))
    const mined = found.find((transaction) => transaction !== null)
    if (!mined || !kept.delete(lost)) return
    lost.correct(gasCount(mined))
  }

  return {
    add({ nonce, transactions, owner }) {
      const own = transactions.filter((transaction) => transaction.nonce === nonce)
      kept.add({
        nonce,
        hashes: own.map(({ hash }) => hash),
        correct: owner.lost(),
        since: performance.now(),
      })
      for (const oldest of kept) {
        if (kept.size <= MAX_KEPT) break
        kept.delete(oldest)
      }
    },
    taken(nonce) {
      for (const lost of kept) if (lost.nonce === nonce && kept.delete(lost)) lost.correct(0n)
    },
    async check() {
      if (kept.size === 0 || performance.now() - askedAt < ASK_AGAIN_MS) return
      askedAt = performance.now()
      await Promise.allSettled([...kept].map(look))
    },
  }
}
