import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { ChainAnswerError } from '../../chain/errors.js'
import { balanceOf, priceLimit } from '../../chain/fees.js'
import {
  blockCall,
  isRateLimited,
  isResult,
  quantitySchema,
  resultOf,
  toQuantity,
} from '../../chain/jsonRpc.js'
import { decodeRevert, revertIn } from '../../chain/reverts.js'
import type { Rpc, RpcCall } from '../../chain/rpc.js'
import { hasCode as isContract } from '../../chain/views.js'
import type { Revert } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { createTimedValue } from '../../service/waiting.js'
import type { FeeMarket } from '../txManager/fees.js'
import type { Call, PendingTxs } from '../txManager/pendingTx.js'
import { RelayRefusal } from './authorization.js'
import { MOST_GAS } from './gasBudget.js'

/** The result of simulating a call on the latest state, before any gas is spent on it. */
export type Forecast = { readonly gasLimit: bigint } | { readonly revert: Revert }

/** A block's gas limit changes by a thousandth from one to the next, and a contract's code not at all. */
const ROOM_MAX_AGE_MS = 10_000
/** A call's gas is estimated again after this long: it may need much less by now. */
const ESTIMATE_MAX_AGE_MS = 60_000
/** The most kinds of calls whose last estimate is remembered. */
const MAX_ESTIMATES = 1_024
/** Three contracts accept authorizations. */
const MAX_TARGETS = 8
const SELECTOR_DIGITS = 10

const limitSchema = z.looseObject({ gasLimit: quantitySchema })

export type Preflight = ReturnType<typeof createPreflight>

/**
 * Calls of one kind and length need about the same gas. So the gas of the last one is tried first, in one `eth_call`: an estimate
 * runs the call several times. The call is estimated only if that try fails.
 */
export function createPreflight(options: {
  readonly rpc: Pick<Rpc, 'send'>
  /** The relayer's address. */
  readonly from: Hex
  /** Gas that one transaction may have. */
  readonly maxGas: bigint
}) {
  const { rpc, from, maxGas } = options
  const estimates = new LRUCache<string, { readonly gas: bigint; readonly at: number }>({
    max: MAX_ESTIMATES,
  })
  const codes = new LRUCache<Hex, () => Promise<boolean>>({ max: MAX_TARGETS })
  const askForRoom = createTimedValue(ROOM_MAX_AGE_MS, async () => {
    const [block] = await rpc.send([blockCall('latest')])
    return resultOf(block, limitSchema).gasLimit
  })

  /** A call to an address without a contract succeeds, and does nothing. */
  function hasCode(address: Hex): Promise<boolean> {
    const ask = codes.get(address) ?? createTimedValue(ROOM_MAX_AGE_MS, () => isContract(rpc, address))
    codes.set(address, ask)
    return ask()
  }

  /** Gas that one transaction may have now. */
  async function gasRoom(): Promise<bigint> {
    const room = await askForRoom()
    return room < maxGas ? room : maxGas
  }

  async function isEnough(call: Call, gas: bigint): Promise<boolean> {
    const [answer] = await rpc.send([execution({ from, ...call, gas: toQuantity(gas) })])
    return isResult(answer)
  }

  /** Undefined when the node's error does not show whether the call or the node is at fault. */
  async function estimate(call: Call): Promise<bigint | Revert | undefined> {
    const question = { method: 'eth_estimateGas', params: [{ from, ...call }, 'latest'] }
    const [answer] = await rpc.send([question])
    if (isRateLimited(question, answer)) throw new ChainAnswerError('a node is asked too much')
    return revertIn(answer) ?? (isResult(answer) ? resultOf(answer, quantitySchema) : undefined)
  }

  /**
   * Runs a call of unknown gas with as much as it may have. A transfer of zero wei travels beside it, which only a fault of the node
   * can make fail. If that succeeds, the failure is the call's own.
   */
  async function tryOut(call: Call): Promise<Forecast> {
    const gasLimit = await gasRoom()
    const question = execution({ from, ...call, gas: toQuantity(gasLimit) })
    const [answer, control] = await rpc.send([question, execution({ from, to: from })])
    if (isResult(answer)) return { gasLimit }
    const revert = revertIn(answer)
    if (revert !== null) return { revert }
    if (isRateLimited(question, answer) || !isResult(control)) {
      throw new ChainAnswerError('a node neither estimates a call nor runs it')
    }
    return { revert: decodeRevert('0x') }
  }

  async function forecast(call: Call): Promise<Forecast> {
    const kind = `${call.to}${call.data.slice(0, SELECTOR_DIGITS)}${call.data.length}`
    const known = estimates.get(kind)
    const isFresh = known !== undefined && performance.now() - known.at < ESTIMATE_MAX_AGE_MS
    if (isFresh && (await isEnough(call, known.gas))) return gasLimitFor(known.gas, await gasRoom())
    const gas = await estimate(call)
    if (gas === undefined) return tryOut(call)
    if (typeof gas !== 'bigint') return { revert: gas }
    estimates.set(kind, { gas, at: performance.now() })
    return gasLimitFor(gas, await gasRoom())
  }

  return {
    /**
     * Simulates the call on the latest state.
     * @throws ChainUnavailableError, ChainAnswerError
     */
    async check(call: Call): Promise<Forecast> {
      const [found, isThere] = await Promise.all([forecast(call), hasCode(call.to), gasRoom()])
      if (!isThere) throw new ChainAnswerError('there is no contract at the target')
      return found
    },
  }
}

function execution(transaction: object): RpcCall {
  return { method: 'eth_call', params: [transaction, 'latest'] }
}

/**
 * A quarter more than the estimate, because the state may differ once the call is mined: a buy costs 17,100 more where the last other
 * order has ended, as the escrow's balance is zero then (EIP-2200), and the cheapest call some 100,000. It is less where the limit
 * leaves no room, but at least 64/63: a call hands on 63/64 of the gas that it has left (EIP-150).
 */
export function gasLimitFor(estimate: bigint, limit: bigint): Forecast {
  const least = estimate + estimate / 63n + 1n
  if (least > limit) {
    return { revert: { name: 'GasLimitExceeded', args: { limit: `${limit}`, needed: `${least}` } } }
  }
  const ample = estimate + estimate / 4n + 1n
  return { gasLimit: ample > limit ? limit : ample }
}

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
