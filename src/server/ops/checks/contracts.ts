import { z } from 'zod'
import { isChainFailure } from '../../../chain/errors.js'
import { resultOf } from '../../../chain/rpcResult.js'
import type { RpcTransport } from '../../../chain/rpcTransport.js'
import type { ContractAddresses } from '../../../protocol/api.js'
import type { Look } from '../check.js'

const NO_CODE = '0x'
const codeSchema = z.string().startsWith(NO_CODE)

/** Whether there is code at each of the five addresses. */
export function contractsLook(options: {
  readonly transport: RpcTransport
  readonly contracts: ContractAddresses
}): Look {
  const questions = Object.values(options.contracts).map((address) => ({
    method: 'eth_getCode',
    params: [address, 'latest'],
  }))
  return async () => {
    try {
      const answers = await options.transport.send(questions)
      return answers.some((answer) => resultOf(answer, codeSchema) === NO_CODE) ? 'contract-missing' : null
    } catch (error) {
      if (isChainFailure(error)) return 'chain-unavailable'
      throw error
    }
  }
}
