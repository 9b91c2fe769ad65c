import type { RpcAnswer, RpcCall } from './rpcRequest.js'

/** A reverted execution: https://github.com/ethereum/execution-apis. Older nodes say so by the data beside another code. */
const EXECUTION_REVERTED = 3
/**
 * What is there to be read as a rule, whatever the question. A count at an old block may be pruned: then another node is
 * asked, as for any failure.
 */
const PLAIN_READS = [
  'eth_blockNumber',
  'eth_chainId',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
]

/**
 * Whether a node's well-formed answers seem to be a failure of its own, such as a lost database behind it or a gateway
 * without a node: nothing but errors, none of which is a revert, or one where there can't be any.
 */
export function mayBeNodeFailure(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): boolean {
  const failed = calls.filter((_, index) => isBareError(answers[index]))
  return failed.length === calls.length || failed.some(({ method }) => PLAIN_READS.includes(method))
}

function isBareError(answer: RpcAnswer | undefined): boolean {
  if (answer === undefined || !('error' in answer)) return false
  const { code, data } = answer.error
  return code !== EXECUTION_REVERTED && (data === undefined || data === null)
}
