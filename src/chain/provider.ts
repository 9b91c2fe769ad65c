import {
  JsonRpcApiProvider,
  type JsonRpcError,
  type JsonRpcPayload,
  type JsonRpcResult,
  Network,
} from 'ethers'
import { createRpcTransport, type RpcNodes, type RpcTransportOptions } from './rpcTransport.js'

interface RpcProviderOptions extends RpcTransportOptions {
  chainId: number
}

/**
 * An ethers provider on our transport: calls made in one turn of the event loop travel as one HTTP request, and
 * another node is asked when one is down or of another chain.
 */
export class RpcProvider extends JsonRpcApiProvider {
  readonly transport: RpcNodes

  constructor(options: RpcProviderOptions) {
    const network = Network.from(options.chainId)
    super(network, { staticNetwork: network, batchStallTime: 0, cacheTimeout: -1 })
    this.transport = createRpcTransport(options)
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
