// Names and types follow https://prometheus.io/docs/practices/naming/.
import { Gauge, Registry } from '@prometheus-io/client'
import type { HttpObserver } from '../http/requestLog.js'
import type { LeaseObserver } from '../store/leaseHolder.js'
import type { RunObserver } from '../trigger/runner.js'
import { createHttpMetrics } from './httpMetrics.js'
import { createLeaseMetrics } from './leaseMetrics.js'
import { PREFIX } from './prefix.js'
import { createForeignCounter, createRelayMetrics, type RelayObserver } from './relayMetrics.js'
import { createRpcMetrics, type RpcObserver } from './rpcMetrics.js'
import { createRunMetrics } from './runMetrics.js'

/**
 * What the server counts while it works. A label's values are few and known beforehand: the platform's own accounts, but
 * never a caller's address, an id, a digest, or anything that a caller has written.
 */
export interface Metrics {
  /** Holds them, and the gauges that are read when somebody asks. */
  readonly registry: Registry
  readonly http: HttpObserver
  readonly rpc: RpcObserver
  readonly runs: RunObserver
  readonly relay: RelayObserver
  readonly lease: LeaseObserver
  /** Counts a transaction of the relayer's account that this server has not signed. */
  readonly foreignTransaction: () => void
}

export function createMetrics(version: string): Metrics {
  const registry = new Registry()
  new Gauge({
    name: `${PREFIX}build_info`,
    help: 'The version that runs; always 1.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1)
  return {
    registry,
    http: createHttpMetrics(registry),
    rpc: createRpcMetrics(registry),
    runs: createRunMetrics(registry),
    relay: createRelayMetrics(registry),
    lease: createLeaseMetrics(registry),
    foreignTransaction: createForeignCounter(registry),
  }
}
