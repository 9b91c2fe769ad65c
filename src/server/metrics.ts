// Names and types follow https://prometheus.io/docs/practices/naming/.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { RpcAnswer } from '../chain/rpc.js'
import { RELAYED_TYPES, type Receipt } from '../protocol/relayReceipt.js'
import type { HttpObserver } from './http/middleware.js'
import { PROBLEMS } from './http/problemCodes.js'
import type { LeaseObserver } from './store/leaseHolder.js'
import { ALARMING, type RunObserver } from './trigger/runner.js'

/** Every metric of ours begins so; the names of the process's own are common to the clients of Prometheus. */
const PREFIX = 'trading_'
/** A caller may write any other into its request. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])
/** The label is not called job: Prometheus gives every series a label of that name. */
const KINDS = ['order', 'policy', 'reconcile', 'resolve'] as const

/** Buckets in seconds. */
const BUCKETS = {
  /** The fastest is an answer out of memory, the slowest `POST /policy`, which waits for a whole run. */
  http: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  /** The longest are the default of RPC_TIMEOUT and twice that. */
  rpc: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  /** Unless configured, the longest run lasts 120 s. */
  run: [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300],
  /** The fastest needs one block of a fast chain, the slowest several resubmissions. */
  relay: [0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600],
}

/** A value, or one for each value of a label; undefined while there is none. */
type Reading = number | undefined | readonly (readonly [labelValue: string | number, value: number])[]

/** A gauge's help, its value, which never rejects, and its label, without which it has a single series. */
export type WatchedGauge = readonly [help: string, read: () => Reading | Promise<Reading>, label?: string]

/**
 * Counts the server's work. A label's values are few and known beforehand. None is an id, a digest, or the address or other text of
 * a caller.
 */
export class Metrics {
  readonly registry = new Registry()

  readonly #httpRequests = this.#counter(
    'http_requests_total',
    'Requests answered, by route template and status; "aborted" where the caller hung up before.',
    ['method', 'route', 'status'],
  )
  readonly #httpDurations = this.#histogram(
    'http_request_duration_seconds',
    'Time from the head of a request to the end of its answer.',
    BUCKETS.http,
    'route',
  )
  readonly #httpProblems = this.#counter(
    'http_problems_total',
    'Requests answered with a problem, by its code (docs/errors.md).',
    ['code'],
  )
  readonly #rpcRequests = this.#counter(
    'rpc_requests_total',
    'HTTP requests to a node (its place in RPC_URL, from 0), by outcome: ok, call-error, no-answer.',
    ['node', 'outcome'],
  )
  readonly #rpcDurations = this.#histogram(
    'rpc_request_duration_seconds',
    'Duration of HTTP requests that a node answered.',
    BUCKETS.rpc,
    'node',
  )
  readonly #runsUnderWay = this.#gauge(
    'enclave_runs_under_way',
    'Runs of the enclave under way, those that an earlier server started included.',
    'kind',
  )
  readonly #runsEnded = this.#counter(
    'enclave_runs_total',
    'Runs of the enclave that have ended, by outcome, or by how they ended where they had none.',
    ['kind', 'outcome'],
  )
  readonly #runDurations = this.#histogram(
    'enclave_run_duration_seconds',
    'Time from the start of a run of the enclave to its end.',
    BUCKETS.run,
    'kind',
  )
  readonly #alarms = this.#counter(
    'enclave_alarms_total',
    'Runs that ended with a code that the operator has to know of (docs/operations/on-fire.md).',
    ['code'],
  )
  readonly #relayed = this.#counter(
    'relay_authorizations_total',
    'Authorizations relayed to their end, by type and status; one that a reorganization put back counts again.',
    ['type', 'status'],
  )
  readonly #relayDurations = this.#histogram(
    'relay_authorization_duration_seconds',
    'Time from the acceptance of an authorization to its end.',
    BUCKETS.relay,
    'status',
  )
  /** Each server reports its own part in the leases: summed over all servers, it is 1 or 0 for each. */
  readonly #leases = this.#gauge(
    'lease_served',
    '1 while this server serves under a lease (narrator, trigger, relayer), 0 while it waits for it.',
    'lease',
  )
  readonly #terms = this.#counter('lease_terms_total', 'How often this server has taken a lease.', ['lease'])
  readonly #foreign = this.#counter(
    'relayer_foreign_transactions_total',
    "Transactions of the relayer's account that no server of ours has signed: its key is used elsewhere.",
    [],
  )

  constructor(version: string) {
    this.#gauge('build_info', 'The version that runs; always 1.', 'version').set({ version }, 1)
    // Prometheus sees no increase in a series that begins with its first event.
    for (const code of Object.keys(PROBLEMS)) this.#httpProblems.inc({ code }, 0)
    for (const kind of KINDS) this.#runsUnderWay.set({ kind }, 0)
    for (const code of ALARMING.keys()) this.#alarms.inc({ code }, 0)
    for (const type of RELAYED_TYPES) {
      for (const status of ['confirmed', 'failed']) this.#relayed.inc({ type, status }, 0)
    }
  }

  readonly http: HttpObserver = ({ method, route, status, code, durationMs, isAborted }) => {
    this.#httpRequests.inc({
      method: METHODS.has(method) ? method : 'other',
      route,
      status: isAborted ? 'aborted' : status,
    })
    this.#httpDurations.observe({ route }, durationMs / 1_000)
    if (code !== undefined) this.#httpProblems.inc({ code })
  }

  /** @param node its place in RPC_URL, from 0 @param answers null without any */
  readonly rpc = (node: number, answers: readonly RpcAnswer[] | null, durationMs: number): void => {
    this.#rpcRequests.inc({ node, outcome: outcomeOf(answers) })
    if (answers !== null) this.#rpcDurations.observe({ node }, durationMs / 1_000)
  }

  readonly runs: RunObserver = {
    started: (kind) => this.#runsUnderWay.inc({ kind }),
    handedOver: (kind) => this.#runsUnderWay.dec({ kind }),
    ended: (kind, { how, result }, durationMs) => {
      this.#runsUnderWay.dec({ kind })
      this.#runsEnded.inc({ kind, outcome: how === 'result' && result !== null ? result.outcome : how })
      this.#runDurations.observe({ kind }, durationMs / 1_000)
      const code = result?.code
      // The enclave has many other codes.
      if (code !== undefined && ALARMING.has(code)) this.#alarms.inc({ code })
    },
  }

  /** Counts an authorization whose relay job has ended. */
  relay({ primaryType: type, status, createdAt, updatedAt }: Receipt): void {
    // A job that a stop interrupts ends in a later term.
    if (status !== 'confirmed' && status !== 'failed') return
    this.#relayed.inc({ type, status })
    this.#relayDurations.observe({ status }, (Date.parse(updatedAt) - Date.parse(createdAt)) / 1_000)
  }

  readonly lease: LeaseObserver = (name, isServing) => {
    // The label omits the relayer's address.
    const [lease = name] = name.split(':')
    this.#leases.set({ lease }, isServing ? 1 : 0)
    this.#terms.inc({ lease }, isServing ? 1 : 0)
  }

  /** Counts a transaction of the relayer's account that no server of ours has signed. */
  readonly foreignTransaction = (): void => this.#foreign.inc()

  /** Adds the process's own metrics: CPU, memory, event loop, garbage collection, open files. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.registry })
  }

  /** Adds a gauge that is read only when the operator asks for the metrics. */
  watch(name: string, [help, read, label]: WatchedGauge): void {
    const gauge: Gauge<string> = this.#gauge(name, help, label, async () => {
      const reading = await read()
      gauge.reset()
      if (reading === undefined) gauge.remove()
      else if (typeof reading === 'number') gauge.set(reading)
      else for (const [labelValue, value] of reading) gauge.set({ [label ?? '']: labelValue }, value)
    })
  }

  #counter(name: string, help: string, labelNames: string[]): Counter<string> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] })
  }

  #gauge(name: string, help: string, label?: string, collect?: () => Promise<void>): Gauge<string> {
    const labelNames = label === undefined ? [] : [label]
    return new Gauge({
      ...{ name: PREFIX + name, help, labelNames, registers: [this.registry] },
      ...(collect && { collect }),
    })
  }

  #histogram(name: string, help: string, buckets: number[], label: string): Histogram<string> {
    return new Histogram({
      ...{ name: PREFIX + name, help, buckets, labelNames: [label], registers: [this.registry] },
    })
  }
}

/** A call's error may be a revert or a limit of the node. */
function outcomeOf(answers: readonly RpcAnswer[] | null): 'ok' | 'call-error' | 'no-answer' {
  if (answers === null) return 'no-answer'
  return answers.some((answer) => 'error' in answer) ? 'call-error' : 'ok'
}
