import type { RequestHandler } from 'express'
import { createReaders } from '../../src/server/http/clients.js'
import { errorHandler } from '../../src/server/http/errors.js'
import { type LimitOptions, limitClients } from '../../src/server/http/limits.js'
import {
  createBareApp,
  firstHandlers,
  type HttpObserver,
  originCheck,
} from '../../src/server/http/middleware.js'
import { createLogLines } from './logLines.js'
import { SERVER_ENVIRONMENT } from './serverEnvironment.js'

export const TOKEN = { authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` }

/** An app behind the limits of clients, which are wide unless told otherwise. */
export function limitedApp({
  trustProxy = 0,
  answer = (_req, res) => void res.end(),
  now,
  readers = createReaders(),
  ...http
}: Partial<LimitOptions['http']> &
  Partial<Pick<LimitOptions, 'now' | 'readers'>> & {
    readonly trustProxy?: number
    /** Default: 200. */
    readonly answer?: RequestHandler
  } = {}) {
  const log = createLogLines()
  const observed: Parameters<HttpObserver>[0][] = []
  const taken: string[] = []
  const note: RequestHandler = (req, _res, next) => {
    taken.push(`${req.method} ${req.url}`)
    next()
  }
  const limits = limitClients({
    http: { rateLimitPerMinute: 1_000_000, maxUnderWay: 1_000, maxUnderWayPerClient: 1_000, ...http },
    authToken: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    readers,
    now,
  })
  const app = createBareApp(trustProxy)
  app.use(
    ...firstHandlers(log.logger, (finished) => observed.push(finished)),
    originCheck(SERVER_ENVIRONMENT.FRONTEND_ORIGIN),
    limits,
    note,
    answer,
    errorHandler(log.logger),
  )
  return { app, log, observed, taken }
}
