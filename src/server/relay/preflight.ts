import { z } from 'zod'
import { ChainAnswerError } from '../../chain/errors.js'
import { quantitySchema } from '../../chain/quantity.js'
import { decodeRevert } from '../../chain/reverts.js'
import type { RpcAnswer, RpcTransport } from '../../chain/rpcTransport.js'
import type { Revert } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { Problem } from '../http/problems.js'
import type { Need } from './admission.js'

/** What the chain says of a call before any gas is spent on it. */
export type Forecast = Need | { readonly revert: Revert }

export interface PreflightOptions {
  readonly transport: Pick<RpcTransport, 'send'>
  /** The relayer's address. */
  readonly from: Hex
  /** Gas that one transaction may have. */
  readonly maxGas: bigint
}

/** JSON-RPC's code of a reverted execution, as the execution API specification has it. */
const EXECUTION_REVERTED = 3
const dataSchema = z.string().regex(/^0x(?:[0-9a-fA-F]{2})*$/)
const blockSchema = z.looseObject({ gasLimit: quantitySchema })

export interface Preflight {
  /**
   * Runs the call on the latest state.
   * @throws Problem `chain-unavailable`; ChainUnavailableError
   */
  check(call: { to: Hex; data: Hex }): Promise<Forecast>
}

export function createPreflight({ transport, from, maxGas }: PreflightOptions): Preflight {
  let asked: Promise<RpcAnswer[]> | undefined

  /** Balance and block, asked for once for all who want them in one turn: a full block is long. */
  function askForRoom(): Promise<RpcAnswer[]> {
    if (asked === undefined) {
      asked = transport.send([
        { method: 'eth_getBalance', params: [from, 'latest'] },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ])
      setImmediate(() => {
        asked = undefined
      })
    }
    return asked
  }

  return {
    async check({ to, data }) {
      const call = { method: 'eth_estimateGas', params: [{ from, to, data }, 'latest'] }
      const [[estimate], [balance, block]] = await Promise.all([transport.send([call]), askForRoom()])
      const revert = revertOf(estimate)
      if (revert !== null) return { revert }
      const room = resultOf(block, blockSchema).gasLimit
      const limit = room < maxGas ? room : maxGas
      const forecast = gasLimitFor(resultOf(estimate, quantitySchema), limit)
      return 'revert' in forecast ? forecast : { ...forecast, balance: resultOf(balance, quantitySchema) }
    },
  }
}

/** @throws Problem `chain-unavailable` when it is a failure that says nothing about the call */
function revertOf(answer: RpcAnswer | undefined): Revert | null {
  if (answer === undefined || !('error' in answer)) return null
  const data = dataSchema.safeParse(answer.error.data)
  if (data.success) return decodeRevert(data.data)
  if (answer.error.code === EXECUTION_REVERTED) return decodeRevert('0x')
  throw new Problem('chain-unavailable', { cause: new ChainAnswerError('eth_estimateGas was refused') })
}

/**
 * A quarter more than the estimate, as the state may differ a little by the time that the call is mined; less where
 * the limit leaves no room for it, but never less than 64/63. A call hands on 63/64 of the gas that it has left (EIP-150),
 * so a difference inside of the call takes more outside of it than it uses.
 */
export function gasLimitFor(
  estimate: bigint,
  limit: bigint,
): { readonly gasLimit: bigint } | { readonly revert: Revert } {
  const least = estimate + estimate / 63n + 1n
  if (least > limit) {
    return { revert: { name: 'GasLimitExceeded', args: { limit: `${limit}`, needed: `${least}` } } }
  }
  const ample = estimate + estimate / 4n + 1n
  return { gasLimit: ample > limit ? limit : ample }
}

function resultOf<T>(answer: RpcAnswer | undefined, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(answer && 'result' in answer ? answer.result : undefined)
  if (parsed.success) return parsed.data
  throw new Problem('chain-unavailable', { cause: new ChainAnswerError('no usable answer before gas') })
}
