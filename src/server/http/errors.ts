import type { ErrorRequestHandler, RequestHandler } from 'express'
import { describeError, type Logger } from '../../service/logger.js'
import { outageOf } from './outages.js'
import type { ProblemCode } from './problemCodes.js'
import { Problem, problemBody } from './problems.js'

/** Failures that an operator has to act on. Of a server's other failures the caller's next try is the remedy. */
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

/**
 * The last handler of a path, for the methods that none of its handlers took.
 *
 * @param allow the path's methods; GET answers HEAD too
 */
export function methodNotAllowed(...allow: ('GET' | 'POST')[]): RequestHandler {
  const methods = allow.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  return () => {
    throw new Problem('method-not-allowed', { headers: { Allow: methods.join(', ') } })
  }
}

/**
 * Answers every failure with a problem body. A chain or broker that does not answer is 503; anything else that is
 * not a Problem is a fixed 500 body: nothing of the cause leaks to the caller, and the log has its kind and its stack
 * without the message.
 */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    const problem = toProblem(error)
    const requestId = res.locals.requestId
    res.locals.problemCode = problem.code
    if (problem.status >= 500) {
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
    res.status(problem.status).set(problem.headers).set('Cache-Control', 'no-store')
    res.type('application/problem+json')
    res.send(JSON.stringify(problemBody(problem, { instance: instanceOf(req.originalUrl), requestId })))
  }
}

/** The paths of the API with a well-formed id: an address, 32 bytes, or a run's. */
const API_PATH =
  /^\/(?:livez|readyz|metrics|health|enclave-key|openapi\.json|docs|market(?:\/clock)?|orders\/0x[0-9a-fA-F]{64}\/timeline|(?:orders|policy|wallet|org|compliance|relay)(?:\/0x(?:[0-9a-fA-F]{24})?[0-9a-fA-F]{40})?|runs\/[0-9a-f-]{36}\/result)$/

/** The path without its query; empty when it is not one of ours: what a caller wrote there is not repeated. */
export function instanceOf(url: string): string {
  const path = url.split('?', 1)[0] ?? url
  return API_PATH.test(path) ? path : ''
}

/** body-parser's failures by their documented `type`. */
const BODY_READER_PROBLEMS = new Map([
  ['entity.too.large', 'body-too-large'],
  ['encoding.unsupported', 'unsupported-media-type'],
  ['request.aborted', 'malformed-request'],
  ['request.size.invalid', 'malformed-request'],
] as const)

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const outage = outageOf(error)
  if (outage !== undefined) return outage
  // The router's answer to a path parameter that is not percent-encoded UTF-8.
  if (error instanceof URIError)
    return new Problem('invalid-parameter', { detail: 'Malformed percent-encoding.' })
  const code = error instanceof Error && 'type' in error ? bodyReaderProblem(error.type) : undefined
  return new Problem(code ?? 'internal-error', { cause: error })
}

function bodyReaderProblem(type: unknown) {
  for (const [known, code] of BODY_READER_PROBLEMS) if (known === type) return code
  return undefined
}
