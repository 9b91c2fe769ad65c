import { balanceOf, priceLimit } from '../../chain/fees.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import type { GasPurpose } from '../store/receipts.js'
import type { FeeMarket } from '../txManager/fees.js'
import type { Commitments } from '../txManager/pendingTx.js'
import { RelayRefusal } from './authorization.js'
import type { GasBudget } from './gasBudget.js'

/** The account's funds at one moment. */
interface Funds {
  /** Wei. */
  readonly balance: bigint
  /** The commitments that had ended when the balance was asked for. The balance may still include the cost of later ones. */
  readonly ended: bigint
}

interface AdmissionOptions {
  readonly rpc: Pick<Rpc, 'send'>
  /** The relayer's address. */
  readonly from: Hex
  readonly budget: Pick<
    GasBudget,
    'refresh' | 'reserve' | 'keptForHeld' | 'spend' | 'lose' | 'release' | 'end'
  >
  readonly fees: FeeMarket
  /** Wei that new work must leave in the account, beside the bookings for held orders. */
  readonly minBalance: bigint
  /** The most that signed transactions may cost. */
  readonly committed: () => Commitments
}

/** Decides which work the account takes on, by the highest possible cost of that work and all earlier work. */
export interface Admission {
  /** Ask for them together with the gas of the call. @throws ChainUnavailableError, ChainAnswerError */
  funds(): Promise<Funds>
  /**
   * Sets aside the authorization's possible cost, until {@link end}; again for one that is sent again.
   * @throws RelayRefusal, StorageError: nothing is set aside then
   */
  admit(digest: Hex, purpose: GasPurpose, gasLimit: bigint, funds: Funds): Promise<void>
  /** The commitments include its cost from now on. */
  counted(digest: Hex): void
  /** One of its transactions was mined. @returns a function that takes its gas off the quota */
  used(digest: Hex, gas: bigint): () => void
  /** Its last transaction may be mined or not: its gas stays counted at its limit. */
  lost(digest: Hex): void
  /** This term sends nothing more for it, but a later one may: its gas stays counted. */
  leave(digest: Hex): void
  /** This server sent nothing for it, and another may relay it: the other server's booking for its order stays. */
  release(digest: Hex): void
  /** No further transaction will be sent for it. Durable when it resolves. @throws StorageError: call it again */
  end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): Promise<void>
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { rpc, from, budget, fees, minBalance, committed } = options
  /** Wei of authorizations that are admitted and not signed yet. */
  const waiting = new Map<Hex, bigint>()

  function afford(digest: Hex, purpose: GasPurpose, gasLimit: bigint, price: bigint, funds: Funds): void {
    const cost = gasLimit * price
    const kept = budget.keptForHeld(purpose, gasLimit)
    const floor = kept === null ? 0n : minBalance + kept * price
    waiting.delete(digest)
    const { open, ended } = committed()
    const others = [...waiting.values()].reduce((sum, wei) => sum + wei, open + ended - funds.ended)
    if (funds.balance < floor + others + cost) throw new RelayRefusal({ code: 'relayer-underfunded' })
    waiting.set(digest, cost)
  }

  return {
    async funds() {
      const { ended } = committed()
      // Orders that another server holds keep wei as well.
      const [balance] = await Promise.all([balanceOf(rpc, from), budget.refresh()])
      return { balance, ended }
    },
    async admit(digest, purpose, gasLimit, funds) {
      const price = priceLimit(await fees.current())
      // No await until it is set aside, so that two authorizations cannot count on the same wei.
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
      return budget.end(digest, purpose, isConfirmed)
    },
  }
}
