import type {
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  RequestListener,
  ServerResponse,
} from 'node:http'
import { type RequestHandler, Router } from 'express'
import type { ZodType } from 'zod'
import { hostFault } from '../../service/hostField.js'
import type { Logger } from '../../service/logger.js'
import {
  createSendProblem,
  headersOfEveryAnswer,
  JSON_TYPE,
  noteSent,
  type Prepared,
  preparing,
  sendPrepared,
  sendUntagged,
} from './answers.js'
import { jsonBody, readJson } from './body.js'
import { methodNotAllowed, reportedProblem } from './errors.js'
import { chooseRequestId, createRequestReport, type HttpObserver, readableBy } from './middleware.js'
import type { ProblemCode } from './problemCodes.js'
import { addressOf, clientOf } from './rateLimit.js'

/** A route that is answered before Express, whether it succeeds or fails. Express answers the same for requests that are not plain. */
export type FastRoute = Read | Post

interface Guarded {
  /** Called before the answer, and before a body is read. @throws Problem */
  readonly check?: (req: IncomingMessage) => void
}

/** A route that only reads: GET, and HEAD with it. */
export interface Read extends Guarded {
  readonly method: 'GET'
  /** As Express writes it, with at most one parameter, which ends it: `/wallet/:address`. */
  readonly path: string
  /** The answer for the parameter; an empty text where the path has none. @throws Problem */
  readonly answer: (param: string) => Prepared | Promise<Prepared>
}

/** A route that takes a JSON body. */
export interface Post extends Guarded {
  readonly method: 'POST'
  /** Without a parameter. */
  readonly path: string
  readonly bodyLimitBytes: number
  /** @param client who posts it, see `clientOf` @throws Problem */
  readonly answer: (body: unknown, client: string, headers: IncomingHttpHeaders) => Promise<Posted>
}

interface Posted {
  readonly status: number
  /** Path of what has been made. */
  readonly location: string
  /** Sent as JSON. */
  readonly body: object
}

/** Its answers are made once for the very same object: see `preparing`. */
export function read<T extends object>(
  path: string,
  schema: ZodType<T>,
  view: (param: string) => T | Promise<T>,
): Read {
  const prepared = preparing(schema)
  return {
    method: 'GET',
    path,
    answer(param) {
      const value = view(param)
      return value instanceof Promise ? value.then(prepared) : prepared(value)
    },
  }
}

/** The same routes in the app. */
export function createFastRouter(routes: readonly FastRoute[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const each of routes) {
    const route = router.route(each.path)
    if (each.check !== undefined) route.all(checkFirst(each.check))
    if (each.method === 'GET') route.get(answerRead(each))
    else route.post(jsonBody(each.bodyLimitBytes), answerPost(each))
    route.all(methodNotAllowed(each.method))
  }
  return router
}

/** Calls the check before it goes on. */
export function checkFirst(check: (req: IncomingMessage) => void): RequestHandler {
  return (req, _res, next) => {
    check(req)
    next()
  }
}

function answerRead({ answer }: Read): RequestHandler {
  return async (req, res) => {
    const [param = ''] = Object.values(req.params).flat()
    sendPrepared(res, await answer(param))
  }
}

function answerPost({ answer }: Post): RequestHandler {
  return async (req, res) => {
    const { status, location, body } = await answer(req.body, clientOf(req.ip), req.headers)
    res.status(status).location(location)
    sendUntagged(res, body)
  }
}

interface FastRoutesOptions {
  readonly routes: readonly FastRoute[]
  /** The one origin whose pages may read the answers. */
  readonly frontendOrigin: string
  /** Reverse proxies in front. */
  readonly trustProxy: number
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
  readonly logger: Logger
  readonly observe: HttpObserver
}

/** @param headers of this answer, besides those that every answer has */
export type Answer = (
  req: IncomingMessage,
  res: ServerResponse,
  headers?: Readonly<Record<string, string>>,
) => void

/**
 * Answers these routes before Express, whose layers cost more than they do. It answers exactly as the app would, and leaves to the app
 * whatever is not plain: other paths and methods, other origins, preconditions of several ETags, requests without a valid `Host`.
 */
export function answerFast(app: RequestListener, options: FastRoutesOptions): Answer {
  const { routes, frontendOrigin, trustProxy, stopping, logger } = options
  const report = createRequestReport(logger, options.observe)
  const sendProblem = createSendProblem(frontendOrigin)
  const byPrefix = new Map(routes.map((each) => [prefixOf(each.path), each]))
  const common = { ...headersOfEveryAnswer(), Vary: 'Origin' }
  const readable = readableBy(frontendOrigin)

  function isPlain({ headers }: IncomingMessage): boolean {
    return (
      (headers.origin === undefined || headers.origin === frontendOrigin) &&
      headers['access-control-request-method'] === undefined &&
      (headers['if-none-match'] === undefined || ONE_TAG.test(headers['if-none-match']))
    )
  }

  return (req, res, headers = {}) => {
    function pass(): void {
      for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
      app(req, res)
    }

    const { path, param } = splitPath(req.url ?? '')
    const found = byPrefix.get(path)
    const isOurs = found !== undefined && METHODS[found.method].includes(req.method) && isPlain(req)
    const lacksParam = path.endsWith('/') && param === ''
    if (!isOurs || lacksParam || hostFault(req) !== undefined || stopping.aborted) return pass()
    const requestId = chooseRequestId(req.headers['x-request-id'])
    let code: ProblemCode | undefined
    report(req, res, () => ({ requestId, route: found.path, code }))

    function send(status: number, own: OutgoingHttpHeaders, text?: string): void {
      res.writeHead(status, {
        'X-Request-Id': requestId,
        ...common,
        ...headers,
        ...(req.headers.origin !== undefined && readable),
        ...own,
      })
      res.end(text)
    }

    function sendRead(prepared: Prepared): void {
      const { text, length, etag } = prepared
      noteSent(res, prepared)
      const known = req.headers['if-none-match']
      // By the weak comparison (RFC 9110, 8.8.3.2).
      if (known === etag || `W/${known}` === etag) send(304, { ETag: etag })
      else send(200, { ETag: etag, ...JSON_TYPE, 'Content-Length': length }, text)
    }

    function sendPosted({ status, location, body }: Posted): void {
      const text = JSON.stringify(body)
      send(status, { Location: location, ...JSON_TYPE, 'Content-Length': Buffer.byteLength(text) }, text)
    }

    function fail(error: unknown): void {
      const problem = reportedProblem(logger, error, requestId)
      code = problem.code
      sendProblem(req, res, problem, headers, requestId)
    }

    function read({ answer }: Read): void {
      const prepared = answer(param)
      if (prepared instanceof Promise) prepared.then(sendRead).catch(fail)
      else sendRead(prepared)
    }

    function post({ answer, bodyLimitBytes }: Post): void {
      readJson(req, bodyLimitBytes, (json) => {
        try {
          answer(json(), clientOf(addressOf(req, trustProxy)), req.headers)
            .then(sendPosted)
            .catch(fail)
        } catch (error) {
          fail(error)
        }
      })
    }

    try {
      found.check?.(req)
      if (found.method === 'GET') read(found)
      else post(found)
    } catch (error) {
      fail(error)
    }
  }
}

const METHODS: Readonly<Record<FastRoute['method'], readonly (string | undefined)[]>> = {
  GET: ['GET', 'HEAD'],
  POST: ['POST'],
}

/** `/wallet/` of `/wallet/:address`, or a path without a parameter. */
function prefixOf(path: string): string {
  return path.slice(0, path.indexOf(':') === -1 ? path.length : path.indexOf(':'))
}

/** Without its query. A parameter with an escape is left to Express: no value of ours needs one. */
function splitPath(url: string): { path: string; param: string } {
  const query = url.indexOf('?')
  const whole = query === -1 ? url : url.slice(0, query)
  const at = whole.lastIndexOf('/') + 1
  const param = whole.slice(at)
  return PARAM.test(param) ? { path: whole.slice(0, at), param } : { path: whole, param: '' }
}

/** An `If-None-Match` with one ETag, as browsers send it. */
const ONE_TAG = /^(?:W\/)?"[!#-+\--~]*"$/
/** The parameters of reads: an address, 32 bytes. */
const PARAM = /^0x[0-9a-zA-Z]+$/
