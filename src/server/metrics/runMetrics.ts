import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'
import { ALARMING, type RunObserver } from '../trigger/runner.js'
import { PREFIX } from './prefix.js'

/** The label is not called job: Prometheus gives every series a label of that name. */
const KINDS = ['order', 'policy', 'reconcile'] as const
/** In seconds; the longest run that is let be takes 120 s unless configured. */
const BUCKETS = [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300]

export function createRunMetrics(registry: Registry): RunObserver {
  const registers = [registry]
  const underWay = new Gauge({
    name: `${PREFIX}enclave_runs_under_way`,
    help: 'Runs of the enclave under way, those that an earlier server started included.',
    labelNames: ['kind'],
    registers,
  })
  const ended = new Counter({
    name: `${PREFIX}enclave_runs_total`,
    help: 'Runs of the enclave that have ended, by outcome, or by how they ended where they left none.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: `${PREFIX}enclave_run_duration_seconds`,
    help: 'Time from the start of a run of the enclave to its end.',
    labelNames: ['kind'],
    buckets: BUCKETS,
    registers,
  })
  const alarms = new Counter({
    name: `${PREFIX}enclave_alarms_total`,
    help: 'Runs that ended with a code that the operator has to know of (docs/operations.md).',
    labelNames: ['code'],
    registers,
  })
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
      // Any other is the enclave's own, and there may be many.
      if (code !== undefined && ALARMING.has(code)) alarms.inc({ code })
    },
  }
}
