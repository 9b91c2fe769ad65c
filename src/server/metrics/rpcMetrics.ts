import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import type { RpcAnswer } from '../../chain/rpcTransport.js'
import { PREFIX } from './prefix.js'

/**
 * How one HTTP request to a node ended: every call with a result, some call with an error (a revert is one, and so is
 * a limit of the node), or no usable answer at all.
 */
export type RpcOutcome = 'ok' | 'call-error' | 'no-answer'

/** @param answers null without any */
export function outcomeOf(answers: readonly RpcAnswer[] | null): RpcOutcome {
  if (answers === null) return 'no-answer'
  return answers.some((answer) => 'error' in answer) ? 'call-error' : 'ok'
}

/** @param node its place in RPC_URL, from 0 */
export type RpcObserver = (node: number, outcome: RpcOutcome, durationMs: number) => void

/** In seconds, up to the default of RPC_TIMEOUT and twice that. */
const BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createRpcMetrics(registry: Registry): RpcObserver {
  const registers = [registry]
  const requests = new Counter({
    name: `${PREFIX}rpc_requests_total`,
    help: 'HTTP requests to a node (its place in RPC_URL, from 0), by outcome: ok, call-error, no-answer.',
    labelNames: ['node', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: `${PREFIX}rpc_request_duration_seconds`,
    help: 'Time that a node took for an HTTP request that it answered.',
    labelNames: ['node'],
    buckets: BUCKETS,
    registers,
  })
  return (node, outcome, durationMs) => {
    requests.inc({ node, outcome })
    if (outcome !== 'no-answer') durations.observe({ node }, durationMs / 1_000)
  }
}
