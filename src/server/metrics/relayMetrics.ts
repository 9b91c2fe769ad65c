import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import type { Receipt } from '../../protocol/api.js'
import { PRIMARY_TYPES } from '../../protocol/authorizationTypes.js'
import { PREFIX } from './prefix.js'

/** Is told of each authorization whose job has ended. */
export type RelayObserver = (receipt: Receipt) => void

const ENDS = ['confirmed', 'failed'] as const
/** In seconds, from one block of a fast chain to a transaction that was sent again several times. */
const BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600]

export function createRelayMetrics(registry: Registry): RelayObserver {
  const registers = [registry]
  const ended = new Counter({
    name: `${PREFIX}relay_authorizations_total`,
    help: 'Authorizations relayed to their end, by type and status; one that a reorganization put back counts again.',
    labelNames: ['type', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: `${PREFIX}relay_authorization_duration_seconds`,
    help: 'Time from the acceptance of an authorization to its end.',
    labelNames: ['status'],
    buckets: BUCKETS,
    registers,
  })
  // An increase from nothing would not be seen.
  for (const type of PRIMARY_TYPES) for (const status of ENDS) ended.inc({ type, status }, 0)

  return ({ primaryType, status, createdAt, updatedAt }) => {
    // What the stop of the server leaves under way ends in the next process.
    if (status !== 'confirmed' && status !== 'failed') return
    ended.inc({ type: primaryType, status })
    durations.observe({ status }, (Date.parse(updatedAt) - Date.parse(createdAt)) / 1_000)
  }
}

/** @returns counts one */
export function createForeignCounter(registry: Registry): () => void {
  const foreign = new Counter({
    name: `${PREFIX}relayer_foreign_transactions_total`,
    help: "Transactions of the relayer's account that this server has not signed: its key is used elsewhere.",
    registers: [registry],
  })
  return () => foreign.inc()
}
