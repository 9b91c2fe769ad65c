import { isChainFailure } from '../../../chain/errors.js'
import { quantitySchema } from '../../../chain/quantity.js'
import { resultOf } from '../../../chain/rpcResult.js'
import type { RpcNodes } from '../../../chain/rpcTransport.js'
import type { Look } from '../check.js'

/** Whether a node answers for our chain, and none is set aside. */
export function chainLook(options: {
  readonly transport: Pick<RpcNodes, 'send' | 'faults'>
  readonly chainId: number
}): Look {
  const { transport, chainId } = options
  return async () => {
    try {
      const [answer] = await transport.send([{ method: 'eth_chainId', params: [] }])
      if (resultOf(answer, quantitySchema) !== BigInt(chainId)) return 'other-chain'
      return transport.faults().every((fault) => fault === null) ? null : 'node-set-aside'
    } catch (error) {
      if (!isChainFailure(error)) throw error
      return transport.faults().includes('other-chain') ? 'other-chain' : 'no-node-answers'
    }
  }
}
