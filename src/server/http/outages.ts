import { isError } from 'ethers'
import { BrokerError } from '../../broker/index.js'
import { ChainAnswerError, ChainUnavailableError } from '../../chain/errors.js'
import { StorageError } from '../store/storageError.js'
import { Problem } from './problems.js'

/** ethers' kinds of a node that fails, refuses or answers what can't be read. */
const NODE_FAILURES = ['NETWORK_ERROR', 'SERVER_ERROR', 'TIMEOUT', 'UNKNOWN_ERROR', 'BAD_DATA'] as const

/** The problem of a failure that the chain, the broker or the data directory is the cause of; else undefined. */
export function outageOf(error: unknown): Problem | undefined {
  if (isChainFailure(error)) return new Problem('chain-unavailable', { cause: error })
  if (error instanceof BrokerError) return new Problem('market-unavailable', { cause: error })
  if (error instanceof StorageError) return new Problem('storage-unavailable', { cause: error })
  return undefined
}

/** Whether a question to the chain came to nothing because of the nodes. */
export function isChainFailure(error: unknown): boolean {
  return (
    error instanceof ChainUnavailableError ||
    error instanceof ChainAnswerError ||
    NODE_FAILURES.some((code) => isError(error, code))
  )
}
