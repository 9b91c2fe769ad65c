// Names and types follow https://prometheus.io/docs/practices/naming/.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { RpcAnswer } from '../chain/rpc.js'
import { RELAYED_TYPES, type Receipt } from '../protocol/api.js'
import { createHook, type Service } from '../service/lifetime.js'
import type { HttpObserver } from './http/middleware.js'
import { PROBLEMS } from './http/problemCodes.js'
import type { LeaseObserver } from './store/leaseHolder.js'
import { ALARMING, type RunObserver } from './trigger/runner.js'

/** The counters of the server's work. */
export type Metrics = ReturnType<typeof createMetrics>

/** Every metric of ours begins so; the names of the process's own are common to the clients of Prometheus. */
const PREFIX = 'trading_'

type Registered = ReturnType<typeof metricsIn>

function metricsIn(registry: Registry) {
  const registers = [registry]
  return {
    counter: (name: string, help: string, ...labelNames: string[]) =>
      new Counter({ name: PREFIX + name, help, labelNames, registers }),
    gauge: (name: string, help: string, ...labelNames: string[]) =>
      new Gauge({ name: PREFIX + name, help, labelNames, registers }),
    histogram: (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
      new Histogram({ name: PREFIX + name, help, buckets, labelNames, registers }),
  }
}

/**
 * Counts the server's work. A label's values are few and known beforehand. None is an id, a digest, or the address or other text of
 * a caller.
 */
export function createMetrics(version: string) {
  const registry = new Registry()
  const metrics = metricsIn(registry)
  metrics.gauge('build_info', 'The version that runs; always 1.', 'version').set({ version }, 1)
  const foreign = metrics.counter(
    'relayer_foreign_transactions_total',
    "Transactions of the relayer's account that no server of ours has signed: its key is used elsewhere.",
  )
  return {
    registry,
    http: httpObserver(metrics),
    rpc: rpcObserver(metrics),
    runs: runObserver(metrics),
    /** Counts authorizations whose relay job has ended. */
    relay: relayObserver(metrics),
    lease: leaseObserver(metrics),
    /** Counts a transaction of the relayer's account that no server of ours has signed. */
    foreignTransaction: () => foreign.inc(),
  }
}

/** A caller may write any other into its request. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** In seconds: from an answer out of memory to `POST /policy`, which waits for a whole run. */
const HTTP_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

function httpObserver({ counter, histogram }: Registered): HttpObserver {
  const requests = counter(
    'http_requests_total',
    'Requests answered, by route template and status; "aborted" where the caller hung up before.',
    'method',
    'route',
    'status',
  )
  const durations = histogram(
    'http_request_duration_seconds',
    'Time from the head of a request to the end of its answer.',
    HTTP_BUCKETS,
    'route',
  )
  const problems = counter(
    'http_problems_total',
    'Requests answered with a problem, by its code (docs/errors.md).',
    'code',
  )
  // Prometheus sees no increase in a series that begins with its first event.
  for (const code of Object.keys(PROBLEMS)) problems.inc({ code }, 0)

  return ({ method, route, status, code, durationMs, isAborted }) => {
    requests.inc({
      method: METHODS.has(method) ? method : 'other',
      route,
      status: isAborted ? 'aborted' : status,
    })
    durations.observe({ route }, durationMs / 1_000)
    if (code !== undefined) problems.inc({ code })
  }
}

/** @param node its place in RPC_URL, from 0 @param answers null without any */
type RpcObserver = (node: number, answers: readonly RpcAnswer[] | null, durationMs: number) => void

/** In seconds, up to the default of RPC_TIMEOUT and twice that. */
const RPC_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function rpcObserver({ counter, histogram }: Registered): RpcObserver {
  const requests = counter(
    'rpc_requests_total',
    'HTTP requests to a node (its place in RPC_URL, from 0), by outcome: ok, call-error, no-answer.',
    'node',
    'outcome',
  )
  const durations = histogram(
    'rpc_request_duration_seconds',
    'Time that a node took for an HTTP request that it answered.',
    RPC_BUCKETS,
    'node',
  )
  return (node, answers, durationMs) => {
    requests.inc({ node, outcome: outcomeOf(answers) })
    if (answers !== null) durations.observe({ node }, durationMs / 1_000)
  }
}

/** A call's error may be a revert or a limit of the node. */
function outcomeOf(answers: readonly RpcAnswer[] | null): 'ok' | 'call-error' | 'no-answer' {
  if (answers === null) return 'no-answer'
  return answers.some((answer) => 'error' in answer) ? 'call-error' : 'ok'
}

/** The label is not called job: Prometheus gives every series a label of that name. */
const KINDS = ['order', 'policy', 'reconcile', 'resolve'] as const
/** In seconds; unless configured, the longest run takes 120 s. */
const RUN_BUCKETS = [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300]

function runObserver({ counter, gauge, histogram }: Registered): RunObserver {
  const underWay = gauge(
    'enclave_runs_under_way',
    'Runs of the enclave under way, those that an earlier server started included.',
    'kind',
  )
  const ended = counter(
    'enclave_runs_total',
    'Runs of the enclave that have ended, by outcome, or by how they ended where they left none.',
    'kind',
    'outcome',
  )
  const durations = histogram(
    'enclave_run_duration_seconds',
    'Time from the start of a run of the enclave to its end.',
    RUN_BUCKETS,
    'kind',
  )
  const alarms = counter(
    'enclave_alarms_total',
    'Runs that ended with a code that the operator has to know of (docs/operations/on-fire.md).',
    'code',
  )
  for (const kind of KINDS) underWay.set({ kind }, 0)
  for (const code of ALARMING.keys()) alarms.inc({ code }, 0)

  return {
    started(kind) {
      underWay.inc({ kind })
    },
    left(kind) {
      underWay.dec({ kind })
    },
    ended(kind, { how, result }, durationMs) {
      underWay.dec({ kind })
      ended.inc({ kind, outcome: how === 'result' && result !== null ? result.outcome : how })
      durations.observe({ kind }, durationMs / 1_000)
      const code = result?.code
      // The enclave has many other codes.
      if (code !== undefined && ALARMING.has(code)) alarms.inc({ code })
    },
  }
}

/** In seconds, from one block of a fast chain to a transaction that was resubmitted several times. */
const RELAY_BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600]

function relayObserver({ counter, histogram }: Registered): (receipt: Receipt) => void {
  const ended = counter(
    'relay_authorizations_total',
    'Authorizations relayed to their end, by type and status; one that a reorganization put back counts again.',
    'type',
    'status',
  )
  const durations = histogram(
    'relay_authorization_duration_seconds',
    'Time from the acceptance of an authorization to its end.',
    RELAY_BUCKETS,
    'status',
  )
  // Prometheus sees no increase in a series that begins with its first event.
  for (const type of RELAYED_TYPES) {
    for (const status of ['confirmed', 'failed']) ended.inc({ type, status }, 0)
  }
  return ({ primaryType, status, createdAt, updatedAt }) => {
    // A job that a stop interrupts ends in a later term.
    if (status !== 'confirmed' && status !== 'failed') return
    ended.inc({ type: primaryType, status })
    durations.observe({ status }, (Date.parse(updatedAt) - Date.parse(createdAt)) / 1_000)
  }
}

/** Each server reports its own part in the leases: summed over all servers, `lease_held` is 1 or 0 for each. */
function leaseObserver({ counter, gauge }: Registered): LeaseObserver {
  const held = gauge(
    'lease_held',
    '1 while this server holds a lease (narrator, trigger, relayer:<address of the account>), 0 while it waits for it.',
    'lease',
  )
  const terms = counter('lease_terms_total', 'How often this server has taken a lease.', 'lease')
  return (lease, isHeld) => {
    held.set({ lease }, isHeld ? 1 : 0)
    terms.inc({ lease }, isHeld ? 1 : 0)
  }
}

/** Adds the process's own metrics: CPU, memory, event loop, garbage collection, open files. */
export function processMetrics({ registry }: Pick<Metrics, 'registry'>): Service {
  return createHook('process metrics', { start: () => collectDefaultMetrics({ register: registry }) })
}

type LabelledValues = readonly (readonly [labelValue: string | number, value: number])[]

/** Adds gauges that are read only when the operator asks for the metrics. Their functions never reject. */
export function createGauges({ registry }: Pick<Metrics, 'registry'>) {
  const registers = [registry]
  return {
    /** @param read undefined while there is no value: the gauge is left out then */
    add(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void {
      const gauge: Gauge = new Gauge({
        name: PREFIX + name,
        help,
        registers,
        async collect() {
          const value = await read()
          if (value === undefined) gauge.remove()
          else gauge.set(value)
        },
      })
    },
    /** Adds one series for each value of a label. */
    addEach(
      name: string,
      help: string,
      label: string,
      read: () => LabelledValues | Promise<LabelledValues>,
    ): void {
      const gauge: Gauge<string> = new Gauge({
        name: PREFIX + name,
        help,
        labelNames: [label],
        registers,
        async collect() {
          const values = await read()
          gauge.reset()
          for (const [labelValue, value] of values) gauge.set({ [label]: labelValue }, value)
        },
      })
    },
  }
}
