import { randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'

declare global {
  namespace Express {
    interface Locals {
      /** Set by the request-id middleware, the first of all. */
      requestId: string
      /** Set by the error handler, for the request log. */
      problemCode?: string
    }
  }
}

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/

/** Takes a caller's `X-Request-Id` when it can't disturb a log line, else makes a new one. */
export function chooseRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && SANE_ID.test(given) ? given : randomUUID()
}

/** Gives every response its `X-Request-Id` and every later middleware `res.locals.requestId`. */
export function requestId(): RequestHandler {
  return (req, res, next) => {
    res.locals.requestId = chooseRequestId(req.headers['x-request-id'])
    res.setHeader('X-Request-Id', res.locals.requestId)
    next()
  }
}
