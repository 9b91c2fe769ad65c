import { resultOf, smallQuantitySchema } from '../chain/jsonRpc.js'
import { createRpc, type Rpc } from '../chain/rpc.js'

export const TIMEOUT_MS = 15_000

/** The node or nodes of a command. */
export interface NodeConnection {
  readonly rpc: Pick<Rpc, 'send' | 'faults'>
  readonly chainId: number
}

/**
 * Queries the chain id first: ethers' provider would retry an unreachable node forever, and print each attempt.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function connectNode(urls: string[]): Promise<NodeConnection> {
  const rpc = createRpc({ urls, timeoutMs: TIMEOUT_MS })
  const [answer] = await rpc.send([{ method: 'eth_chainId', params: [] }])
  return { rpc, chainId: resultOf(answer, smallQuantitySchema) }
}
