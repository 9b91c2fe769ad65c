import { z } from 'zod'
import { ChainAnswerError } from '../../chain/errors.js'
import { quantitySchema, toQuantity } from '../../chain/quantity.js'
import { decodeRevert } from '../../chain/reverts.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcAnswer, RpcTransport } from '../../chain/rpcTransport.js'
import type { Revert } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { createTimedValue } from '../async/timedValue.js'
import { createRecentMap } from '../recentMap.js'

/** What the chain says of a call before any gas is spent on it. */
export type Forecast = { readonly gasLimit: bigint } | { readonly revert: Revert }

export interface PreflightOptions {
  readonly transport: Pick<RpcTransport, 'send'>
  /** The relayer's address. */
  readonly from: Hex
  /** Gas that one transaction may have. */
  readonly maxGas: bigint
}

/** JSON-RPC's code of a reverted execution, as the execution API specification has it. */
const EXECUTION_REVERTED = 3
/** A block's gas limit changes by a thousandth from one to the next, and a contract's code not at all. */
const ROOM_MAX_AGE_MS = 10_000
/** After this long a call's gas is estimated again: it may need much less by now. */
const ESTIMATE_MAX_AGE_MS = 60_000
/** Kinds of calls whose last estimate is remembered. */
const MAX_ESTIMATES = 1_024
/** The contracts that take authorizations are three. */
const MAX_TARGETS = 8
const SELECTOR_DIGITS = 10

const dataSchema = z.string().regex(/^0x(?:[0-9a-fA-F]{2})*$/)
const blockSchema = z.looseObject({ gasLimit: quantitySchema })

/** A call to be checked. */
interface Call {
  readonly to: Hex
  readonly data: Hex
}

export interface Preflight {
  /**
   * Runs the call on the latest state.
   * @throws ChainUnavailableError, ChainAnswerError
   */
  check(call: Call): Promise<Forecast>
}

/**
 * Calls of one kind and length need about the same gas. So what the last one needed is tried first, in one `eth_call` with
 * that much gas: an estimate runs the call several times. Only where that does not succeed it is estimated.
 */
export function createPreflight({ transport, from, maxGas }: PreflightOptions): Preflight {
  const estimates = createRecentMap<string, { readonly gas: bigint; readonly at: number }>(MAX_ESTIMATES)
  const codes = createRecentMap<Hex, () => Promise<boolean>>(MAX_TARGETS)
  const askForRoom = createTimedValue(ROOM_MAX_AGE_MS, async () => {
    const [block] = await transport.send([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
    return resultOf(block, blockSchema).gasLimit
  })

  /** A call to where no contract is succeeds, and does nothing. */
  function hasCode(address: Hex): Promise<boolean> {
    const ask = codes.get(address) ?? createTimedValue(ROOM_MAX_AGE_MS, () => askForCode(address))
    codes.set(address, ask)
    return ask()
  }

  async function askForCode(address: Hex): Promise<boolean> {
    const [answer] = await transport.send([{ method: 'eth_getCode', params: [address, 'latest'] }])
    return resultOf(answer, dataSchema) !== '0x'
  }

  async function isEnough(call: Call, gas: bigint): Promise<boolean> {
    const params = [{ from, ...call, gas: toQuantity(gas) }, 'latest']
    const [answer] = await transport.send([{ method: 'eth_call', params }])
    return answer !== undefined && 'result' in answer
  }

  async function estimate(call: Call): Promise<bigint | Revert> {
    const [answer] = await transport.send([
      { method: 'eth_estimateGas', params: [{ from, ...call }, 'latest'] },
    ])
    return revertOf(answer) ?? resultOf(answer, quantitySchema)
  }

  async function gasFor(call: Call): Promise<bigint | Revert> {
    const kind = `${call.to}${call.data.slice(0, SELECTOR_DIGITS)}${call.data.length}`
    const known = estimates.get(kind)
    if (known !== undefined && performance.now() - known.at < ESTIMATE_MAX_AGE_MS) {
      if (await isEnough(call, known.gas)) return known.gas
    }
    const gas = await estimate(call)
    if (typeof gas === 'bigint') estimates.set(kind, { gas, at: performance.now() })
    return gas
  }

  return {
    async check(call) {
      const [gas, room, isThere] = await Promise.all([gasFor(call), askForRoom(), hasCode(call.to)])
      if (!isThere) throw new ChainAnswerError('there is no contract at the target')
      if (typeof gas !== 'bigint') return { revert: gas }
      return gasLimitFor(gas, room < maxGas ? room : maxGas)
    },
  }
}

/** @throws ChainAnswerError when it is a failure that says nothing about the call */
function revertOf(answer: RpcAnswer | undefined): Revert | null {
  if (answer === undefined || !('error' in answer)) return null
  const data = dataSchema.safeParse(answer.error.data)
  if (data.success) return decodeRevert(data.data)
  if (answer.error.code === EXECUTION_REVERTED) return decodeRevert('0x')
  throw new ChainAnswerError('eth_estimateGas was refused')
}

/**
 * A quarter more than the estimate, as the state may differ a little by the time that the call is mined; less where
 * the limit leaves no room for it, but never less than 64/63. A call hands on 63/64 of the gas that it has left (EIP-150),
 * so a difference inside of the call takes more outside of it than it uses.
 */
export function gasLimitFor(estimate: bigint, limit: bigint): Forecast {
  const least = estimate + estimate / 63n + 1n
  if (least > limit) {
    return { revert: { name: 'GasLimitExceeded', args: { limit: `${limit}`, needed: `${least}` } } }
  }
  const ample = estimate + estimate / 4n + 1n
  return { gasLimit: ample > limit ? limit : ample }
}
