import { type Finding, fault, ok } from '../protocol/finding.js'
import { ChainAnswerError, ChainUnavailableError, isChainFailure } from './errors.js'
import { quantitySchema } from './quantity.js'
import { createRpcTransport } from './rpcTransport.js'

interface NodeCheckupOptions {
  /** Which list of nodes it is. */
  readonly variable?: 'RPC_URL' | 'RPC_WITNESS_URL'
  readonly urls: readonly string[]
  readonly timeoutMs: number
  readonly chainId: number
}

/** Asks every node of a list by itself for its chain. Nodes are told apart by their place, as a URL may hold a key. */
export function checkNodes({
  variable = 'RPC_URL',
  urls,
  timeoutMs,
  chainId,
}: NodeCheckupOptions): Promise<Finding[]> {
  return Promise.all(
    urls.map(async (url, index) => {
      const node = `node ${index + 1} of ${urls.length} in ${variable}`
      const found = await chainOf(url, timeoutMs)
      if (found === null) {
        return fault('rpc', `${node} does not answer: check its address, its key, and the way there`)
      }
      if (found !== BigInt(chainId)) {
        return fault(
          'chain-id',
          `${node} is of chain ${found}, CHAIN_ID is ${chainId}: correct the one that is wrong`,
        )
      }
      return ok('rpc', `${node} answers, chain ${chainId}`)
    }),
  )
}

/** What a checkup says of nodes that failed it on the way. @throws any error that they are not the cause of */
export function stoppedAnswering(error: unknown): Finding {
  if (!isChainFailure(error)) throw error
  const isOurs = error instanceof ChainUnavailableError || error instanceof ChainAnswerError
  // What ethers says of a refusal quotes the whole call.
  const why = isOurs ? error.message : 'a call was refused, or had no usable answer'
  return fault('rpc', `the nodes stopped answering as they should: ${why}`)
}

/** Null when the node gives no usable answer. */
async function chainOf(url: string, timeoutMs: number): Promise<bigint | null> {
  const transport = createRpcTransport({ urls: [url], timeoutMs })
  try {
    const [answer] = await transport.send([{ method: 'eth_chainId', params: [] }])
    const result = answer && 'result' in answer ? answer.result : undefined
    return quantitySchema.safeParse(result).data ?? null
  } catch (error) {
    if (error instanceof ChainUnavailableError) return null
    throw error
  }
}
