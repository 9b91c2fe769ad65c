import { z } from 'zod'
import { healthSchema as enclaveHealthSchema } from '../../../src/enclave/resident/door.js'
import {
  complianceSchema,
  enclaveKeySchema,
  healthSchema,
  institutionSchema,
  jobAcceptedSchema,
  marketBarsSchema,
  marketClockSchema,
  marketSchema,
  orderReceivedSchema,
  orderStatusSchema,
  policyVersionSchema,
  receiptSchema,
  runResultReceivedSchema,
  timelineSchema,
  walletSchema,
} from '../../../src/protocol/api.js'
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

const BODY: readonly ProblemCode[] = [
  'malformed-json',
  'invalid-body',
  'body-too-large',
  'unsupported-media-type',
]
const PARAMETER: readonly ProblemCode[] = ['invalid-parameter']
const TOKEN: readonly ProblemCode[] = ['relay-unauthorized']

/** Pages for a browser and their files, which are no JSON: they have tests of their own. */
export const PAGE_ROUTES = ['GET /', 'GET /docs', 'GET /docs/:file', 'GET /errors']

/** Every route of the API. A test holds it against the routers. */
export const API_ROUTES: readonly ApiRoute[] = [
  reading('/health', healthSchema),
  reading('/enclave-key', enclaveKeySchema),
  reading('/openapi.json', z.looseObject({ openapi: z.string() })),
  reading('/market', marketSchema),
  reading('/market/bars', marketBarsSchema),
  reading('/market/clock', marketClockSchema),
  reading('/wallet/:address', walletSchema, PARAMETER),
  reading('/compliance/:address', complianceSchema, PARAMETER),
  reading('/org/:orgId', institutionSchema, [...PARAMETER, 'institution-not-found']),
  reading('/policy/:orgId', policyVersionSchema, [...PARAMETER, 'institution-not-found']),
  reading('/orders/:orderId', orderStatusSchema, [...PARAMETER, 'order-not-found']),
  reading('/orders/:orderId/timeline', timelineSchema, [...PARAMETER, 'order-not-found']),
  reading('/relay/:digest', receiptSchema, [...TOKEN, ...PARAMETER, 'receipt-not-found']),
  {
    method: 'POST',
    path: '/orders',
    successes: { 202: orderReceivedSchema },
    problems: [
      ...BODY,
      'invalid-envelope',
      'invalid-opening',
      'opening-under-way',
      'would-revert',
      'too-many-waiting',
      'intake-full',
      'relay-quota-exhausted',
      'relay-budget-exhausted',
      'relay-overloaded',
      'relayer-underfunded',
    ],
  },
  {
    method: 'POST',
    path: '/orders/:orderId/cancel',
    successes: { 202: orderReceivedSchema },
    problems: [
      ...BODY,
      ...PARAMETER,
      'invalid-envelope',
      'order-not-found',
      'not-order-account',
      'order-ended',
    ],
  },
  {
    method: 'POST',
    path: '/policy',
    successes: { 200: policyVersionSchema },
    problems: [
      ...BODY,
      'invalid-envelope',
      'policy-rejected',
      'enclave-failed',
      'enclave-busy',
      'enclave-timeout',
    ],
  },
  {
    method: 'POST',
    path: '/relay',
    successes: { 200: receiptSchema, 202: receiptSchema },
    problems: [...TOKEN, ...BODY, 'invalid-signature', 'would-revert', 'relay-overloaded'],
  },
  {
    method: 'POST',
    path: '/runs/:runId/result',
    successes: { 200: runResultReceivedSchema },
    problems: [...BODY, 'run-unauthorized'],
    signedAs: 'result',
  },
  {
    method: 'POST',
    path: '/runs/:runId/notice',
    successes: { 200: runResultReceivedSchema },
    problems: [...BODY, 'run-unauthorized'],
    signedAs: 'notice',
  },
]

/** Every route of an enclave that stays up. */
export const ENCLAVE_ROUTES: readonly ApiRoute[] = [
  reading('/health', enclaveHealthSchema),
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

function reading(path: string, schema: z.ZodType, problems: readonly ProblemCode[] = []): ApiRoute {
  return { method: 'GET', path, successes: { 200: schema }, problems }
}
