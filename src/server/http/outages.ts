import { isError } from 'ethers'
import { BrokerError } from '../../broker/errors.js'
import { ChainAnswerError, ChainUnavailableError } from '../../chain/errors.js'
import { Problem } from './problems.js'

/** ethers' kinds of a node that fails, refuses or answers what can't be read. */
const NODE_FAILURES = ['NETWORK_ERROR', 'SERVER_ERROR', 'TIMEOUT', 'UNKNOWN_ERROR', 'BAD_DATA'] as const

/** The problem of a failure that the chain or the broker is the cause of; else undefined. */
export function outageOf(error: unknown): Problem | undefined {
  if (isChainFailure(error)) return new Problem('chain-unavailable', { cause: error })
  if (error instanceof BrokerError) return new Problem('market-unavailable', { cause: error })
  return undefined
}

function isChainFailure(error: unknown): boolean {
  return (
    error instanceof ChainUnavailableError ||
    error instanceof ChainAnswerError ||
    NODE_FAILURES.some((code) => isError(error, code))
  )
}
