import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import { PROBLEMS } from '../http/problemCodes.js'
import type { HttpObserver } from '../http/requestLog.js'
import { PREFIX } from './prefix.js'

/** A caller may write any other into its request. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** In seconds: from an answer out of memory to `POST /policy`, which waits for a whole run. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function createHttpMetrics(registry: Registry): HttpObserver {
  const registers = [registry]
  const requests = new Counter({
    name: `${PREFIX}http_requests_total`,
    help: 'Requests answered, by route template and status; "aborted" where the caller hung up before.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: `${PREFIX}http_request_duration_seconds`,
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: BUCKETS,
    registers,
  })
  const problems = new Counter({
    name: `${PREFIX}http_problems_total`,
    help: 'Requests answered with a problem, by its code (docs/errors.md).',
    labelNames: ['code'],
    registers,
  })
  // An increase from nothing would not be seen.
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
