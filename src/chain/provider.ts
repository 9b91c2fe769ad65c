import {
  JsonRpcApiProvider,
  type JsonRpcError,
  type JsonRpcPayload,
  type JsonRpcResult,
  Network,
} from 'ethers'
import { REQUEST_LIMIT, sizeOfCall } from './requestSize.js'
import { createRpcTransport, type RpcNodes, type RpcTransportOptions } from './rpcTransport.js'
import { createTurnGroups } from './turnGroups.js'

interface RpcProviderOptions extends RpcTransportOptions {
  chainId: number
}

interface Waiting {
  readonly method: string
  readonly params: unknown[]
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * An ethers provider on our transport: calls made in one turn of the event loop travel as one HTTP request, and
 * another node is asked when one is down or of another chain.
 */
export class RpcProvider extends JsonRpcApiProvider {
  readonly transport: RpcNodes
  /** ethers' own batches cost it the square of the calls in them, as it writes all of a batch out for each. */
  readonly #gather = createTurnGroups<Waiting>(
    { limit: REQUEST_LIMIT, sizeOf: sizeOfCall },
    (group) => void this.#sendTogether(group),
  )

  constructor(options: RpcProviderOptions) {
    const network = Network.from(options.chainId)
    super(network, { staticNetwork: network, cacheTimeout: -1 })
    this.transport = createRpcTransport(options)
    this._start()
  }

  override send(method: string, params: unknown[] | Record<string, unknown>): Promise<unknown> {
    return new Promise((resolve, reject) =>
      this.#gather({ method, params: asArray(params), resolve, reject }),
    )
  }

  async #sendTogether(group: readonly Waiting[]): Promise<void> {
    const payloads = group.map(({ method, params }, id) => ({ id, jsonrpc: '2.0' as const, method, params }))
    try {
      const answers = await this._send(payloads)
      for (const [index, { resolve, reject }] of group.entries()) {
        const [answer, payload] = [answers[index], payloads[index]]
        if (answer !== undefined && 'result' in answer) resolve(answer.result)
        else if (answer !== undefined && payload !== undefined) reject(this.getRpcError(payload, answer))
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
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
