import { z } from 'zod'
import { problemsOf } from '../../../scripts/openapi/document.js'
import { OPERATIONS, type Operation } from '../../../scripts/openapi/operations.js'
import { healthSchema as enclaveHealthSchema } from '../../../src/enclave/resident/door.js'
import { jobAcceptedSchema } from '../../../src/protocol/api.js'
import type { RunMessageKind } from '../../../src/protocol/runMessage.js'
import type { ProblemCode } from '../../../src/server/http/problemCodes.js'

/** A route, and everything that it may answer while chain, broker and disk are well. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST'
  /** In the syntax of Express. */
  readonly path: string
  /** The body of each success, by its status. */
  readonly successes: Readonly<Record<number, z.ZodType>>
  /** Besides those of every route. */
  readonly problems: readonly ProblemCode[]
  /** The kind of its signature, where it needs one. */
  readonly signedAs?: RunMessageKind
}

/** Problems at any path: of a request before its route is looked for, or of its method. */
export const COMMON_PROBLEMS: readonly ProblemCode[] = [
  'malformed-request',
  'request-timeout',
  'headers-too-large',
  'origin-not-allowed',
  'method-not-allowed',
]
/** Problems of a path without a route. */
export const UNKNOWN_PATH_PROBLEMS: readonly ProblemCode[] = ['not-found']

/** Documented, and never answered while chain, broker and disk are well and the server has room. */
const OUTAGES: ReadonlySet<ProblemCode> = new Set([
  'internal-error',
  'chain-unavailable',
  'storage-unavailable',
  'market-unavailable',
  'platform-paused',
  'rate-limited',
  'too-many-at-once',
  'overloaded',
  'shutting-down',
])

const NO_BODY = z.undefined()

/** Every documented route that answers JSON, or nothing. The pages for a browser, and their files, have tests of their own. */
const API_ROUTES: readonly ApiRoute[] = OPERATIONS.flatMap((operation) => {
  const successes = operation.answers.flatMap(({ status, content }) => {
    if (content === undefined) return [[status, NO_BODY] as const]
    return content instanceof z.ZodType ? [[status, content] as const] : []
  })
  if (successes.length === 0) return []
  const { method, path } = operation
  const problems = [...problemsOf(operation).values()].flat().filter((code) => !OUTAGES.has(code))
  return [
    {
      method: method === 'get' ? 'GET' : 'POST',
      path,
      successes: Object.fromEntries(successes),
      problems,
      ...signatureOf(operation),
    },
  ]
})

function signatureOf({ tag, path }: Operation): Pick<ApiRoute, 'signedAs'> {
  if (tag !== 'Runs') return {}
  return { signedAs: path.endsWith('/notice') ? 'notice' : 'result' }
}

/** Every route of an enclave that stays up. */
const ENCLAVE_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: '/health', successes: { 200: enclaveHealthSchema }, problems: [] },
  {
    method: 'POST',
    path: '/',
    successes: { 202: jobAcceptedSchema },
    problems: [
      'invalid-body',
      'body-too-large',
      'run-unauthorized',
      'run-too-late',
      'order-under-way',
      'too-many-runs',
    ],
    signedAs: 'job',
  },
]

/** The addressee of a request. */
export type Service = 'server' | 'enclave'
export const ROUTES: Readonly<Record<Service, readonly ApiRoute[]>> = {
  server: API_ROUTES,
  enclave: ENCLAVE_ROUTES,
}
