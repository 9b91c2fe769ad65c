import { PROBLEMS, type ProblemCode } from '../http/problemCodes.js'
import { DOCS_OPERATIONS } from './docsOperations.js'
import { INTAKE_OPERATIONS } from './intakeOperations.js'
import type { Operation } from './operation.js'
import { RELAY_OPERATIONS } from './relayOperations.js'
import { RUNS_OPERATIONS } from './runsOperations.js'
import { STATUS_OPERATIONS } from './statusOperations.js'

/** Every route of the API: what the document is made from, and what a test holds the routers against. */
export const OPERATIONS: readonly Operation[] = [
  ...INTAKE_OPERATIONS,
  ...STATUS_OPERATIONS,
  ...RELAY_OPERATIONS,
  ...RUNS_OPERATIONS,
  ...DOCS_OPERATIONS,
]

/** Whatever is asked for. */
const OF_EVERY_ROUTE = [
  'malformed-request',
  'origin-not-allowed',
  'request-timeout',
  'headers-too-large',
  'rate-limited',
  'internal-error',
  'shutting-down',
] as const
const OF_EVERY_BODY = ['malformed-json', 'invalid-body', 'body-too-large', 'unsupported-media-type'] as const

const UNAUTHORIZED = { relayToken: 'relay-unauthorized', runSignature: 'run-unauthorized' } as const

/** Every code that an operation answers, by status. */
export function problemsOf(operation: Operation): ReadonlyMap<number, readonly ProblemCode[]> {
  const { body, parameters, security, problems } = operation
  const codes: ProblemCode[] = [
    ...OF_EVERY_ROUTE,
    ...(body === undefined ? [] : OF_EVERY_BODY),
    ...(parameters === undefined ? [] : (['invalid-parameter'] as const)),
    ...(security === undefined ? [] : [UNAUTHORIZED[security]]),
    // Results of runs are taken however much there is to do.
    ...(security === 'runSignature' ? [] : (['too-many-at-once', 'overloaded'] as const)),
    ...problems,
  ]
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const { status } = PROBLEMS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b))
}
