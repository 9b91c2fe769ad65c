import { balanceOf, priceLimit } from '../../chain/fees.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import type { FeeMarket } from '../txManager/fees.js'
import type { PendingTxs } from '../txManager/pendingTx.js'
import { RelayRefusal } from './authorization.js'
import { MOST_GAS } from './gasBudget.js'

/** The account's funds at one moment. */
export interface Funds {
  /** Wei. */
  readonly balance: bigint
  /** The commitments that had ended when the balance was asked for. The balance may still include the cost of later ones. */
  readonly ended: bigint
}

/** Decides which work the account accepts, by the highest possible cost of that work and all earlier work. */
export type Admission = ReturnType<typeof createAdmission>

export function createAdmission(options: {
  readonly rpc: Pick<Rpc, 'send'>
  /** The relayer's address. */
  readonly from: Hex
  readonly fees: FeeMarket
  /** Wei that new work must not use up, beside the bookings for orders written ahead. */
  readonly minBalance: bigint
  /** The most that signed transactions may cost. */
  readonly committed: PendingTxs['committed']
}) {
  const { rpc, from, fees, minBalance, committed } = options
  /** Wei of authorizations that are admitted and not signed yet. */
  const waiting = new Map<Hex, bigint>()
  let kept = 0n

  function forget(digest: Hex): void {
    kept -= waiting.get(digest) ?? 0n
    waiting.delete(digest)
  }

  return {
    /** Ask for them together with the gas of the call. @throws ChainUnavailableError, ChainAnswerError */
    async funds(): Promise<Funds> {
      const { ended } = committed()
      return { balance: await balanceOf(rpc, from), ended }
    },
    /**
     * Keeps wei for the authorization's possible cost, until `forget`; again for one that is sent again.
     *
     * @param put sets its gas aside, where no more than so much gas is booked for orders written ahead afterwards
     * @throws RelayRefusal, and as `put`: no wei are kept then
     */
    async admit<T>(
      digest: Hex,
      gas: bigint,
      funds: Funds,
      put: (bookable: bigint) => Promise<T>,
    ): Promise<T> {
      const price = priceLimit(await fees())
      // No await until it is kept, so that two authorizations cannot count on the same wei.
      forget(digest)
      const { open, ended } = committed()
      const remaining = funds.balance - kept - (open + ended - funds.ended) - gas * price
      if (remaining < 0n) throw new RelayRefusal({ code: 'relayer-underfunded' })
      waiting.set(digest, gas * price)
      kept += gas * price
      try {
        return await put(bookableWith(remaining - minBalance, price))
      } catch (error) {
        forget(digest)
        throw error
      }
    },
    /** The commitments include its cost from now on, or this term sends nothing more for it. */
    forget,
  }
}

/** The most gas that wei above the floor pay for. New work uses nothing of the floor, even where it books no gas. */
function bookableWith(wei: bigint, price: bigint): bigint {
  if (wei < 0n) return -1n
  return price === 0n ? MOST_GAS : wei / price
}
