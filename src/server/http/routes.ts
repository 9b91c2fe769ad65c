import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type RequestHandler, Router } from 'express'
import type { ZodType } from 'zod'
import { type Prepared, preparing, sendPrepared, sendUntagged } from './answers.js'
import { jsonBody } from './body.js'
import { methodNotAllowed } from './errors.js'
import { clientOf } from './rateLimit.js'

/** One line of a table of routes. */
export type Route = Read | Post

interface Guarded {
  /** Called before the answer, and before a body is read. @throws Problem */
  readonly check?: (req: IncomingMessage) => void
}

/** A route that only reads: GET, and HEAD with it. */
export interface Read extends Guarded {
  readonly method: 'GET'
  /** As Express writes it, with at most one parameter: `/wallet/:address`. */
  readonly path: string
  /** The answer for the parameter; an empty text where the path has none. @throws Problem */
  readonly answer: (param: string) => Promise<Prepared>
}

/** A route that takes a JSON body. */
interface Post extends Guarded {
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
  return { method: 'GET', path, answer: async (param) => prepared(await view(param)) }
}

export function routerOf(routes: readonly Route[]): Router {
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
