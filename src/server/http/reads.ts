import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type RequestHandler, Router } from 'express'
import type { ZodType } from 'zod'
import { hostFault } from '../../service/hostField.js'
import type { Logger } from '../../service/logger.js'
import { headersOfEveryAnswer, type Prepared, preparing, sendPrepared } from './answers.js'
import { methodNotAllowed } from './errors.js'
import { chooseRequestId, createRequestReport, type HttpObserver } from './middleware.js'
import { readableBy } from './origin.js'

/** A route that only reads: GET, and HEAD with it. */
export interface Read {
  /** As Express writes it, with at most one parameter, which ends it: `/wallet/:address`. */
  readonly path: string
  /** The answer for the parameter; an empty text where the path has none. @throws Problem */
  readonly answer: (param: string) => Prepared | Promise<Prepared>
}

/** Its answers are made once for the very same object: see `preparing`. */
export function read<T extends object>(
  path: string,
  schema: ZodType<T>,
  view: (param: string) => T | Promise<T>,
): Read {
  const prepared = preparing(schema)
  return {
    path,
    answer(param) {
      const value = view(param)
      return value instanceof Promise ? value.then(prepared) : prepared(value)
    },
  }
}

/** What a read has thrown before Express saw its request. */
const failures = new WeakMap<IncomingMessage, unknown>()

/** The reads as routes of the app. */
export function createReadsRouter(reads: readonly Read[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const { path, answer } of reads) {
    const handler: RequestHandler = async (req, res) => {
      if (failures.has(req)) throw failures.get(req)
      const [param = ''] = Object.values(req.params).flat()
      sendPrepared(res, await answer(param))
    }
    router.route(path).get(handler).all(methodNotAllowed('GET'))
  }
  return router
}

interface ReadsOptions {
  readonly reads: readonly Read[]
  /** The one origin whose pages may read the answers. */
  readonly frontendOrigin: string
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
 * Answers the reads before Express, whose layers cost more than they do. It answers exactly as the app would, and leaves to the app
 * whatever is no plain success: other methods, preconditions of several ETags, invalid requests, failures.
 */
export function answerReads(app: RequestListener, options: ReadsOptions): Answer {
  const { reads, frontendOrigin, stopping } = options
  const report = createRequestReport(options.logger, options.observe)
  const byPrefix = new Map(reads.map((each) => [prefixOf(each.path), each]))
  const common = { ...headersOfEveryAnswer(), Vary: 'Origin' }
  const readable = readableBy(frontendOrigin)

  function isPlain({ method, headers }: IncomingMessage): boolean {
    return (
      (method === 'GET' || method === 'HEAD') &&
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
    if (found === undefined || !isPlain(req) || hostFault(req) !== undefined || stopping.aborted)
      return pass()
    const requestId = chooseRequestId(req.headers['x-request-id'])
    const forget = report(req, res, () => ({ requestId, route: found.path, code: undefined }))

    function send({ text, length, etag }: Prepared): void {
      const known = req.headers['if-none-match']
      // By the weak comparison (RFC 9110, 8.8.3.2).
      const isKnown = known === etag || `W/${known}` === etag
      res.writeHead(isKnown ? 304 : 200, {
        'X-Request-Id': requestId,
        ...common,
        ...headers,
        ...(req.headers.origin !== undefined && readable),
        ETag: etag,
        ...(!isKnown && {
          'Content-Type': 'application/json; charset=utf-8',
          'Content-Length': length,
        }),
      })
      res.end(isKnown ? undefined : text)
    }

    function fail(error: unknown): void {
      failures.set(req, error)
      forget()
      pass()
    }

    try {
      const answer = found.answer(param)
      if (answer instanceof Promise) answer.then(send).catch(fail)
      else send(answer)
    } catch (error) {
      fail(error)
    }
  }
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
