import { hash } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { type Request, type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { jsonBody } from './body.js'
import { methodNotAllowed } from './errors.js'

const JSON_TYPE = 'application/json; charset=utf-8'

export type Route = (Read | Post) & {
  /** Called before the answer, and before a body is read. @throws Problem */
  readonly check?: (req: Request) => void
}

/** A route that only reads: GET, and HEAD with it. */
export interface Read {
  readonly method: 'GET'
  /** Express's form, with at most one parameter: `/wallet/:address`. */
  readonly path: string
  /** The answer for the parameter; an empty text where the path has none. @throws Problem */
  readonly answer: (param: string) => Promise<Representation>
}

interface Representation {
  readonly json: string
  /** The length of `json` in bytes. */
  readonly length: number
  readonly etag: string
}

interface Post {
  readonly method: 'POST'
  /** Has at most one parameter. */
  readonly path: string
  /** Default: 64 KiB. */
  readonly bodyLimitBytes?: number
  /**
   * The bytes of a longer body that the request's headers give it a right to, until its answer closes. Called before a body is read.
   * @throws Problem
   */
  readonly longerBody?: (headers: IncomingHttpHeaders, answer: EventEmitter) => Promise<number | undefined>
  /** Called before a body is read; what it returns is called with the bytes before they are parsed. Both throw Problem. */
  readonly admit?: (req: Request) => (raw: Buffer) => void
  /**
   * @param client the poster, see `clientOf`
   * @param param an empty text where the path has none
   * @returns `location` is the path of what has been made; `body` is sent as JSON
   * @throws Problem
   */
  readonly answer: (
    body: unknown,
    client: string,
    headers: IncomingHttpHeaders,
    param: string,
  ) => Promise<{ readonly status: number; readonly location?: string; readonly body: object }>
}

/** A route that reads. An object is encoded once, however often `view` returns it: encoding an address hashes it. */
export function read<T extends object>(
  path: string,
  schema: z.core.$ZodType<T>,
  view: (param: string) => T | Promise<T>,
): Read {
  const known = new WeakMap<T, Representation>()
  async function answer(param: string): Promise<Representation> {
    const value = await view(param)
    const before = known.get(value)
    if (before !== undefined) return before
    const json = JSON.stringify(z.encode(schema, value))
    const made = { json, etag: `W/"${hash('sha1', json, 'base64url')}"`, length: Buffer.byteLength(json) }
    known.set(value, made)
    return made
  }
  return { method: 'GET', path, answer }
}

export function routerOf(routes: readonly Route[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const each of routes) {
    const route = router.route(each.path)
    if (each.check !== undefined) route.all(checkFirst(each.check))
    if (each.method === 'GET') route.get(answerRead(each))
    else route.post(bodyOf(each), answerPost(each))
    route.all(methodNotAllowed(each.method))
  }
  return router
}

export function checkFirst(check: (req: Request) => void): RequestHandler {
  return (req, _res, next) => {
    check(req)
    next()
  }
}

function answerRead({ answer }: Read): RequestHandler {
  return async (req, res) => {
    const { json, length, etag } = await answer(paramOf(req))
    res.setHeader('ETag', etag)
    if (req.fresh) res.status(304).end()
    // `res.send` would hash the text once more, and write it apart from the headers.
    else res.setHeader('Content-Type', JSON_TYPE).setHeader('Content-Length', length).end(json)
  }
}

const BODY_LIMIT_BYTES = 65_536

function bodyOf({ bodyLimitBytes = BODY_LIMIT_BYTES, longerBody, admit }: Post): RequestHandler {
  return async (req, res, next) => {
    const limitBytes = (await longerBody?.(req.headers, res)) ?? bodyLimitBytes
    return jsonBody(limitBytes, admit?.(req))(req, res, next)
  }
}

function answerPost({ answer }: Post): RequestHandler {
  return async (req, res) => {
    const { client } = res.locals
    const { status, location, body } = await answer(req.body, client, req.headers, paramOf(req))
    res.status(status)
    if (location !== undefined) res.location(location)
    // `res.json` would add an ETag, for which no later request can ask.
    res.setHeader('Content-Type', JSON_TYPE).end(JSON.stringify(body))
  }
}

/** A path has one parameter at most, and none of several parts. */
function paramOf({ params }: Request): string {
  for (const name in params) return String(params[name])
  return ''
}
