import { priceLimit } from '../../chain/fees.js'
import { quantitySchema } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcTransport } from '../../chain/rpcTransport.js'
import type { Hex } from '../../protocol/hex.js'
import { Problem } from '../http/problems.js'
import type { GasPurpose } from '../store/receipts.js'
import type { FeeMarket } from '../txManager/fees.js'
import type { Commitments, CorrectGas } from '../txManager/pendingTx.js'
import type { GasBudget } from './gasBudget.js'

/** What the account had, at some moment. */
export interface Funds {
  /** Wei. */
  readonly balance: bigint
  /** What had ended when the balance was asked for: what has since then may not be missing from it. */
  readonly ended: bigint
}

export interface AdmissionOptions {
  readonly transport: Pick<RpcTransport, 'send'>
  /** The relayer's address. */
  readonly from: Hex
  readonly budget: Pick<
    GasBudget,
    'refresh' | 'reserve' | 'keptForHeld' | 'spend' | 'lose' | 'release' | 'end'
  >
  readonly fees: FeeMarket
  /** Wei that whatever begins anything new must leave, beside what is booked for held orders. */
  readonly minBalance: bigint
  /** What is signed may cost. */
  readonly committed: () => Commitments
}

/** Decides what the account takes on, by what it may cost at most beside everything that was taken on before. */
export interface Admission {
  /** To be asked for beside the gas that is needed. @throws ChainUnavailableError, ChainAnswerError */
  funds(): Promise<Funds>
  /**
   * Sets aside what the authorization may need, until {@link end}; anew for one that goes out again.
   * @throws Problem `relayer-underfunded`, `relay-quota-exhausted`, `relay-budget-exhausted`, StorageError: nothing is set
   *   aside then
   */
  admit(digest: Hex, purpose: GasPurpose, gasLimit: bigint, funds: Funds): Promise<void>
  /** Its cost is among what is committed from now on. */
  counted(digest: Hex): void
  /** One of its transactions was mined. */
  used(digest: Hex, gas: bigint): void
  /** What was sent for it last may be mined, or not: its gas stays counted at its limit until it is corrected. */
  lost(digest: Hex): CorrectGas
  /** This term sends nothing more for it, and a later one may: its gas stays counted. */
  leave(digest: Hex): void
  /** Nothing was sent for it here, and another server may relay it: what that one has booked for its order stays. */
  release(digest: Hex): void
  /** Nothing more will be sent for it. */
  end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): void
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { transport, from, budget, fees, minBalance, committed } = options
  /** Wei of those that nothing is under way for. */
  const waiting = new Map<Hex, bigint>()

  function afford(digest: Hex, purpose: GasPurpose, gasLimit: bigint, price: bigint, funds: Funds): void {
    const cost = gasLimit * price
    const kept = budget.keptForHeld(purpose, gasLimit)
    const floor = kept === null ? 0n : minBalance + kept * price
    waiting.delete(digest)
    const { open, ended } = committed()
    const others = [...waiting.values()].reduce((sum, wei) => sum + wei, open + ended - funds.ended)
    if (funds.balance < floor + others + cost) throw new Problem('relayer-underfunded')
    waiting.set(digest, cost)
  }

  return {
    async funds() {
      const { ended } = committed()
      const [[answer]] = await Promise.all([
        transport.send([{ method: 'eth_getBalance', params: [from, 'latest'] }]),
        // Orders that another server holds keep wei as well.
        budget.refresh(),
      ])
      return { balance: resultOf(answer, quantitySchema), ended }
    },
    async admit(digest, purpose, gasLimit, funds) {
      const price = priceLimit(await fees.current())
      // From here on without a pause until it is set aside, so that two of them can't count on the same wei.
      afford(digest, purpose, gasLimit, price, funds)
      try {
        await budget.reserve(digest, purpose, gasLimit)
      } catch (error) {
        waiting.delete(digest)
        throw error
      }
    },
    counted(digest) {
      waiting.delete(digest)
    },
    used: budget.spend,
    lost: budget.lose,
    leave(digest) {
      waiting.delete(digest)
      budget.lose(digest)
    },
    release(digest) {
      waiting.delete(digest)
      budget.release(digest)
    },
    end(digest, purpose, isConfirmed) {
      waiting.delete(digest)
      budget.end(digest, purpose, isConfirmed)
    },
  }
}
