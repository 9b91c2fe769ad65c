import type { ErrorRequestHandler, RequestHandler } from 'express'
import * as z from 'zod'
import { isChainFailure } from '../../chain/errors.js'
import { API_PATHS, problemSchema, quotaSchema, revertSchema } from '../../protocol/api.js'
import { describeError, type Logger } from '../../service/logger.js'
import { StorageError } from '../store/engine.js'
import { PROBLEM_CODES, PROBLEMS, type ProblemCode, type ProblemDefinition } from './problemCodes.js'

/** A body of RFC 9457 (problem details for HTTP APIs). `type` is a path on this server: the code's section of its page of errors. */
export const problemBodySchema = z.object({
  ...problemSchema.shape,
  code: z.enum(PROBLEM_CODES),
  /** The faults of a body or parameter, each with its place: a dotted path, empty for the whole. */
  errors: z.array(z.object({ path: z.string(), message: z.string() })).exactOptional(),
  /** `policy-rejected`: the enclave's own code. */
  reason: z.string().exactOptional(),
  /** `would-revert`: the contract's typed error. */
  revert: z.exactOptional(revertSchema),
  /** `relay-quota-exhausted`: whose quota is used up. */
  quota: z.exactOptional(quotaSchema),
})
type ProblemBody = z.output<typeof problemBodySchema>
export type FieldError = NonNullable<ProblemBody['errors']>[number]

/** Our own members besides the standard ones. Nothing confidential: they are sent as they are. */
type ProblemExtensions = Pick<ProblemBody, 'errors' | 'reason' | 'revert' | 'quota'>

/** A failure with a code of the registry. Its thrower, a router or a middleware, decides the answer of the request. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  readonly detail: string
  readonly extensions: ProblemExtensions
  readonly headers: Readonly<Record<string, string>>

  constructor(
    readonly code: ProblemCode,
    options: {
      /** The particular fault; the code's remedy by default. */
      readonly detail?: string
      readonly extensions?: ProblemExtensions
      readonly headers?: Readonly<Record<string, string>>
      /** Only for the log. */
      readonly cause?: unknown
    } = {},
  ) {
    const definition: ProblemDefinition = PROBLEMS[code]
    super(`${code}: ${options.detail ?? definition.title}`, { cause: options.cause })
    this.status = definition.status
    this.detail = options.detail ?? definition.remedy
    this.extensions = options.extensions ?? {}
    const retryAfter = definition.retryAfterSeconds
    this.headers = {
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...options.headers,
    }
  }
}

/** Renders a problem. */
export function problemBody(problem: Problem, where: { instance: string; requestId: string }): ProblemBody {
  return {
    ...problem.extensions,
    type: `/errors#${problem.code}`,
    title: PROBLEMS[problem.code].title,
    status: problem.status,
    detail: problem.detail,
    instance: where.instance,
    code: problem.code,
    requestId: where.requestId,
  }
}

/** Failures that an operator has to act on. The caller's next try is the remedy for the server's other failures. */
const ALARMING: ReadonlySet<ProblemCode> = new Set([
  'internal-error',
  'enclave-failed',
  'storage-unavailable',
  'relayer-underfunded',
])

/** The last route, reached when no other matched. */
export const notFound: RequestHandler = () => {
  throw new Problem('not-found')
}

/** The last handler of a path, for any method but its own. GET answers HEAD too. */
export function methodNotAllowed(own: 'GET' | 'POST'): RequestHandler {
  const Allow = own === 'GET' ? 'GET, HEAD' : own
  return () => {
    throw new Problem('method-not-allowed', { headers: { Allow } })
  }
}

/**
 * Answers every failure that Express catches with a problem body. A chain or store that does not answer is 503. Any other error that is
 * not a Problem is a fixed 500 body, which leaks nothing of the cause. The log gets the kind and stack of every 5xx, without the message.
 */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    const requestId = res.locals.requestId
    const problem = toProblem(error)
    res.locals.problemCode = problem.code
    if (problem.status >= 500 && problem.code !== 'overloaded') {
      logger[ALARMING.has(problem.code) ? 'error' : 'warn']('request failed', {
        requestId,
        code: problem.code,
        ...describeError(problem.cause ?? problem),
      })
    }
    if (res.headersSent) {
      next(error)
      return
    }
    const text = JSON.stringify(problemBody(problem, { instance: instanceOf(req.originalUrl), requestId }))
    res.status(problem.status).set(problem.headers)
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('Content-Type', 'application/problem+json; charset=utf-8')
    res.setHeader('Content-Length', Buffer.byteLength(text))
    // `res.send` would hash the text for an ETag that no request can use, and write it apart from the headers.
    res.end(text)
  }
}

const OPERATOR_PATHS = ['/livez', '/readyz', '/metrics']
/** An address, 32 bytes, or a run's id; the name of a page's file is not repeated. */
const PARAMETER = '(?:0x(?:[0-9a-fA-F]{24})?[0-9a-fA-F]{40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
const KNOWN_PATH = new RegExp(`^(?:${[...API_PATHS, ...OPERATOR_PATHS].map(patternOf).join('|')})$`)

function patternOf(path: string): string {
  return path.replaceAll('.', '\\.').replace(/:\w+/g, PARAMETER)
}

/** The path without its query; empty when it is not one of ours, because a caller's own text is not repeated. */
function instanceOf(url: string): string {
  const path = url.split('?', 1)[0] ?? url
  return KNOWN_PATH.test(path) ? path : ''
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isChainFailure(error)) {
    // A view wraps what refuses its call.
    if (error.cause instanceof Problem) return error.cause
    return new Problem('chain-unavailable', { cause: error })
  }
  if (error instanceof StorageError) return new Problem('storage-unavailable', { cause: error })
  // The router's answer to a path parameter that is not percent-encoded UTF-8.
  if (error instanceof URIError)
    return new Problem('invalid-parameter', { detail: 'Malformed percent-encoding.' })
  return new Problem('internal-error', { cause: error })
}
