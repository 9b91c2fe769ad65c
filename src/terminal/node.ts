import { FetchRequest, JsonRpcProvider } from 'ethers'
import { resultOf, smallQuantitySchema } from '../chain/jsonRpc.js'
import { createRpc, type Rpc } from '../chain/rpc.js'

export const TIMEOUT_MS = 15_000
const MINED_POLL_MS = 500

/** The node or nodes of a command, and ethers' connection to the first one. */
export interface NodeConnection {
  readonly rpc: Pick<Rpc, 'send' | 'faults'>
  readonly provider: JsonRpcProvider
  readonly chainId: number
}

/**
 * Queries the chain id first: ethers' provider would retry an unreachable node forever, and print each attempt.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function connectNode(urls: string[]): Promise<NodeConnection> {
  const rpc = createRpc({ urls, timeoutMs: TIMEOUT_MS })
  const [answer] = await rpc.send([{ method: 'eth_chainId', params: [] }])
  const chainId = resultOf(answer, smallQuantitySchema)
  const request = new FetchRequest(urls[0] ?? '')
  request.timeout = TIMEOUT_MS
  const settings = { staticNetwork: true, cacheTimeout: -1, pollingInterval: MINED_POLL_MS }
  return { rpc, chainId, provider: new JsonRpcProvider(request, chainId, settings) }
}
