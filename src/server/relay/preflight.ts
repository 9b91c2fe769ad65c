import { z } from 'zod'
import { ChainAnswerError } from '../../chain/errors.js'
import type { RpcProvider } from '../../chain/provider.js'
import { quantitySchema } from '../../chain/quantity.js'
import { decodeRevert } from '../../chain/reverts.js'
import type { RpcAnswer } from '../../chain/rpcTransport.js'
import type { Revert } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { Problem } from '../http/problems.js'

/** What the chain says of a call before any gas is spent on it. */
export type Forecast = { readonly gasLimit: bigint } | { readonly revert: Revert }

export interface PreflightOptions {
  readonly provider: RpcProvider
  /** The relayer's address. */
  readonly from: Hex
  /** Wei that the account must hold beyond what transactions under way may cost. */
  readonly minBalance: bigint
}

/** No transaction may use more. https://eips.ethereum.org/EIPS/eip-7825 */
const MAX_GAS = 16_777_216n

/** JSON-RPC's code of a reverted execution, as the execution API specification has it. */
const EXECUTION_REVERTED = 3
const dataSchema = z.string().regex(/^0x(?:[0-9a-fA-F]{2})*$/)

export interface Preflight {
  /**
   * Runs the call on the latest state.
   * @param committed wei that transactions under way may still cost
   * @throws Problem `relayer-underfunded`, `chain-unavailable`; ChainUnavailableError
   */
  check(call: { to: Hex; data: Hex }, committed: bigint): Promise<Forecast>
}

export function createPreflight({ provider, from, minBalance }: PreflightOptions): Preflight {
  return {
    async check({ to, data }, committed) {
      const [estimate, balance] = await provider.transport.send([
        { method: 'eth_estimateGas', params: [{ from, to, data }, 'latest'] },
        { method: 'eth_getBalance', params: [from, 'latest'] },
      ])
      const forecast = forecastOf(estimate)
      if ('gasLimit' in forecast && quantityOf(balance) < minBalance + committed) {
        throw new Problem('relayer-underfunded')
      }
      return forecast
    },
  }
}

function forecastOf(answer: RpcAnswer | undefined): Forecast {
  if (answer && 'error' in answer) {
    const data = dataSchema.safeParse(answer.error.data)
    if (data.success) return { revert: decodeRevert(data.data) }
    if (answer.error.code === EXECUTION_REVERTED) return { revert: decodeRevert('0x') }
    throw new Problem('chain-unavailable', { cause: new ChainAnswerError('eth_estimateGas was refused') })
  }
  const estimate = quantityOf(answer)
  if (estimate > MAX_GAS) {
    return { revert: { name: 'GasLimitExceeded', args: { limit: `${MAX_GAS}`, needed: `${estimate}` } } }
  }
  return { gasLimit: withSlack(estimate) }
}

/** The state may differ a little by the time that the call is mined. */
function withSlack(estimate: bigint): bigint {
  const limit = estimate + estimate / 4n
  return limit > MAX_GAS ? MAX_GAS : limit
}

function quantityOf(answer: RpcAnswer | undefined): bigint {
  const parsed = quantitySchema.safeParse(answer && 'result' in answer ? answer.result : undefined)
  if (parsed.success) return parsed.data
  throw new Problem('chain-unavailable', { cause: new ChainAnswerError('expected a quantity') })
}
