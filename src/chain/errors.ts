import { isError } from 'ethers'

/** No node gave an answer: retryable. The message names no URL, as those may hold keys. */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError'

  constructor(nodes: number) {
    super(`none of the ${nodes} RPC nodes answered`)
  }
}

/** A node answered with something else than its interface promises. */
export class ChainAnswerError extends Error {
  override readonly name = 'ChainAnswerError'
}

/** ethers' kinds of a node that fails, refuses or answers what can't be read. */
const NODE_FAILURES = ['NETWORK_ERROR', 'SERVER_ERROR', 'TIMEOUT', 'UNKNOWN_ERROR', 'BAD_DATA'] as const

/** Whether a question to the chain came to nothing because of the nodes. */
export function isChainFailure(error: unknown): boolean {
  return (
    error instanceof ChainUnavailableError ||
    error instanceof ChainAnswerError ||
    NODE_FAILURES.some((code) => isError(error, code))
  )
}
