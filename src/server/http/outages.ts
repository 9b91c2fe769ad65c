import { BrokerError } from '../../broker/index.js'
import { isChainFailure } from '../../chain/errors.js'
import { StorageError } from '../store/storageError.js'
import { Problem } from './problems.js'

/** The problem of a failure that the chain, the broker or the data directory is the cause of; else undefined. */
export function outageOf(error: unknown): Problem | undefined {
  if (isChainFailure(error)) return new Problem('chain-unavailable', { cause: error })
  if (error instanceof BrokerError) return new Problem('market-unavailable', { cause: error })
  if (error instanceof StorageError) return new Problem('storage-unavailable', { cause: error })
  return undefined
}
