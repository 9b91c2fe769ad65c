import type { Hex } from '../../protocol/hex.js'
import { Problem } from '../http/problems.js'
import { type FeeMarket, priceLimit } from './fees.js'
import type { GasBudget } from './gasBudget.js'

/** What an authorization would need, and what there is. */
export interface Need {
  readonly gasLimit: bigint
  /** Of the relayer's account, in wei. */
  readonly balance: bigint
}

export interface AdmissionOptions {
  readonly budget: Pick<GasBudget, 'reserve' | 'release'>
  readonly fees: FeeMarket
  /** Wei that the account must keep. */
  readonly minBalance: bigint
  /** Wei that what is signed and under way may cost at most. */
  readonly committed: () => bigint
}

/** Decides what the account takes on, by what it may cost at most beside everything that was taken on before. */
export interface Admission {
  /**
   * Sets aside what the authorization may need, until {@link release}; anew for one that goes out again.
   * @throws Problem `relayer-underfunded`, `relay-budget-exhausted`, StorageError: nothing is set aside then
   */
  admit(digest: Hex, need: Need): Promise<void>
  /** From now on its cost is among what is committed. */
  signed(digest: Hex): void
  release(digest: Hex): void
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { budget, fees, minBalance } = options
  /** Wei of those that nothing is signed for. */
  const waiting = new Map<Hex, bigint>()

  async function afford(digest: Hex, { gasLimit, balance }: Need): Promise<void> {
    const cost = gasLimit * priceLimit(await fees.current())
    // From here on without a pause, so that two of them can't count on the same wei.
    waiting.delete(digest)
    const others = [...waiting.values()].reduce((sum, wei) => sum + wei, options.committed())
    if (balance < minBalance + others + cost) throw new Problem('relayer-underfunded')
    waiting.set(digest, cost)
  }

  return {
    async admit(digest, need) {
      await afford(digest, need)
      try {
        await budget.reserve(digest, need.gasLimit)
      } catch (error) {
        waiting.delete(digest)
        throw error
      }
    },
    signed(digest) {
      waiting.delete(digest)
    },
    release(digest) {
      waiting.delete(digest)
      budget.release(digest)
    },
  }
}
