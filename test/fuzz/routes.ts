import * as z from 'zod'
import { problemsOf } from '../../scripts/openapi/document.js'
import { OPERATIONS } from '../../scripts/openapi/operations.js'
import { healthSchema as enclaveHealthSchema } from '../../src/enclave/resident/door.js'
import { jobAcceptedSchema, jobSchema } from '../../src/protocol/job.js'
import type { RunMessageKind } from '../../src/protocol/runMessage.js'
import type { ProblemCode } from '../../src/server/http/problemCodes.js'

/** The addressee of a request. */
export type Service = 'server' | 'enclave'

/** A route, and everything that it may answer while chain, broker and disk are well. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** In the syntax of Express. */
  readonly path: string
  readonly body?: z.core.$ZodType | undefined
  /** The body of each success, by its status. */
  readonly successes: Readonly<Record<number, z.core.$ZodType>>
  /** Besides those of every route. */
  readonly problems: readonly ProblemCode[]
  /** The kind of its signature, where it needs one. */
  readonly signedAs?: RunMessageKind | undefined
}

/** Documented, and never answered while chain, broker and disk are well and the server has room. */
const OUTAGES: ReadonlySet<ProblemCode> = new Set([
  ...(['internal-error', 'chain-unavailable', 'storage-unavailable', 'market-unavailable'] as const),
  ...(['platform-paused', 'rate-limited', 'too-many-at-once', 'overloaded', 'shutting-down'] as const),
])

/** Every documented route that answers JSON, or nothing. The pages for a browser, and their files, have tests of their own. */
const SERVER_ROUTES: readonly Route[] = OPERATIONS.flatMap((operation): Route[] => {
  const { method, path, body, tag, answers } = operation
  const successes = answers.flatMap(({ status, content }) => {
    if (content === undefined) return [[status, z.undefined()] as const]
    return content instanceof z.core.$ZodType ? [[status, content] as const] : []
  })
  if (successes.length === 0) return []
  return [
    {
      method: method === 'get' ? 'GET' : 'POST',
      path,
      body,
      successes: Object.fromEntries(successes),
      problems: [...problemsOf(operation).values()].flat().filter((code) => !OUTAGES.has(code)),
      signedAs: tag !== 'Runs' ? undefined : path.endsWith('/notice') ? 'notice' : 'result',
    },
  ]
})

/** Every route of an enclave that stays up. */
const ENCLAVE_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/health', successes: { 200: enclaveHealthSchema }, problems: [] },
  {
    method: 'POST',
    path: '/',
    body: jobSchema,
    successes: { 202: jobAcceptedSchema },
    problems: [
      ...(['invalid-body', 'body-too-large', 'run-unauthorized'] as const),
      ...(['run-too-late', 'order-under-way', 'too-many-runs'] as const),
    ],
    signedAs: 'job',
  },
]

export const ROUTES: Readonly<Record<Service, readonly Route[]>> = {
  server: SERVER_ROUTES,
  enclave: ENCLAVE_ROUTES,
}
