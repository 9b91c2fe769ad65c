import {
  JsonRpcApiProvider,
  type JsonRpcError,
  type JsonRpcPayload,
  type JsonRpcResult,
  Network,
} from 'ethers'
import { createRpcTransport, type RpcTransport, type RpcTransportOptions } from './rpcTransport.js'

export interface RpcProviderOptions extends RpcTransportOptions {
  chainId: number
}

/**
 * An ethers provider on our transport: calls made in one turn of the event loop travel as one HTTP request, and
 * another node is asked when one is down. The chain id is configuration and is never asked for.
 */
export class RpcProvider extends JsonRpcApiProvider {
  readonly transport: RpcTransport

  constructor({ chainId, ...transport }: RpcProviderOptions) {
    const network = Network.from(chainId)
    super(network, { staticNetwork: network, batchStallTime: 0, cacheTimeout: -1 })
    this.transport = createRpcTransport(transport)
    this._start()
  }

  override async _send(
    payload: JsonRpcPayload | JsonRpcPayload[],
  ): Promise<(JsonRpcResult | JsonRpcError)[]> {
    const payloads = Array.isArray(payload) ? payload : [payload]
    const calls = payloads.map(({ method, params }) => ({ method, params: asArray(params) }))
    const answers = await this.transport.send(calls)
    return answers.map((answer, index) => ({ id: payloads[index]?.id ?? index, ...answer }))
  }
}

function asArray(params: JsonRpcPayload['params']): unknown[] {
  return Array.isArray(params) ? params : [params]
}
