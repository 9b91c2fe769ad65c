import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type RequestHandler, type Response, Router } from 'express'
import { type ZodType, z } from 'zod'
import { jsonBody } from './body.js'
import { methodNotAllowed } from './errors.js'
import { clientOf } from './rateLimit.js'

/** One line of a table of routes. */
export type Route = (Read | Post) & {
  /** Called before the answer, and before a body is read. @throws Problem */
  readonly check?: (req: IncomingMessage) => void
}

/** A route that only reads: GET, and HEAD with it. */
export interface Read {
  readonly method: 'GET'
  /** As Express writes it, with at most one parameter: `/wallet/:address`. */
  readonly path: string
  /** The answer's JSON for the parameter; an empty text where the path has none. @throws Problem */
  readonly answer: (param: string) => Promise<string>
}

/** A route that takes a JSON body. */
interface Post {
  readonly method: 'POST'
  /** Without a parameter. */
  readonly path: string
  readonly bodyLimitBytes: number
  /**
   * @param client who posts it, see `clientOf`
   * @returns `location` is the path of what has been made; `body` is sent as JSON
   * @throws Problem
   */
  readonly answer: (
    body: unknown,
    client: string,
    headers: IncomingHttpHeaders,
  ) => Promise<{ readonly status: number; readonly location: string; readonly body: object }>
}

/**
 * Its answer is made once for the very same object, and kept as long as that is: a schema that checks addresses hashes each of them.
 */
export function read<T extends object>(
  path: string,
  schema: ZodType<T>,
  view: (param: string) => T | Promise<T>,
): Read {
  const known = new WeakMap<T, string>()
  async function answer(param: string): Promise<string> {
    const value = await view(param)
    const json = known.get(value) ?? JSON.stringify(z.encode(schema, value))
    known.set(value, json)
    return json
  }
  return { method: 'GET', path, answer }
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
    res.type('json').send(await answer(param))
  }
}

function answerPost({ answer }: Post): RequestHandler {
  return async (req, res) => {
    const { status, location, body } = await answer(req.body, clientOf(req.ip), req.headers)
    res.status(status).location(location)
    sendUntagged(res, body)
  }
}

/** Answers a POST. `res.json` would add an ETag, for which no later request can ask. */
export function sendUntagged(res: Response, body: object): void {
  res.type('json').end(JSON.stringify(body))
}
