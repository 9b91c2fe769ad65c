import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import express, { type Request, type Response } from 'express'
import type { AlpacaCall } from './alpacaRoutes.js'
import type { SeenRequest } from './control.js'
import type { Fault } from './controlSchemas.js'
import type { AccountRateLimit } from './rateLimit.js'
import type { Rules } from './rules.js'
import { type Reply, refusal, type StandInAccount } from './types.js'

const MAX_BODY_BYTES = 64 * 1024
const FROM_A_PAGE: Reply = { status: 403, body: { message: 'browser pages may not control the stand-in' } }
/** The gateway's answer to missing or wrong keys: a message without a code. */
const UNAUTHORIZED: Reply = { status: 401, body: { message: 'unauthorized.' } }

interface StandInServerDeps {
  readonly accounts: readonly StandInAccount[]
  readonly alpaca: (call: AlpacaCall) => Reply
  readonly control: (method: string, name: string, body: unknown) => Reply
  readonly faults: Rules<Fault>
  readonly rateLimit: AccountRateLimit
  readonly onRequest: (request: SeenRequest) => void
  readonly now: () => Date
}

/** The stand-in's HTTP side: bodies, keys, the rate limit, faults and the request log. */
export function createStandInServer(deps: StandInServerDeps): Server {
  const app = express().disable('x-powered-by').disable('etag')
  const readBody = express.json({ type: () => true, limit: MAX_BODY_BYTES, strict: false })
  app.use((req, res, next) => {
    readBody(req, res, (error?: unknown) => {
      res.locals.isMalformed = error !== undefined
      next()
    })
  })
  app.use('/sandbox', (req, res) => {
    // Browsers send `Origin`. The control routes need no keys, so they refuse requests from pages.
    const isPage = req.headers.origin !== undefined
    write(res, isPage ? FROM_A_PAGE : deps.control(req.method, req.path.slice(1), req.body))
  })
  app.use(async (req, res) => {
    const { method, path, originalUrl: url, body } = req
    const account = deps.accounts.find(
      ({ keyId, secretKey }) =>
        req.headers['apca-api-key-id'] === keyId && req.headers['apca-api-secret-key'] === secretKey,
    )
    const fault = deps.faults.take(
      (one) =>
        (one.method ?? method) === method &&
        path.startsWith(one.path ?? '') &&
        (one.account ?? account?.name) === account?.name,
    )
    if (fault?.delayMs) await sleep(fault.delayMs)
    // A fault after the request loses only its answer.
    const answered =
      fault?.drop === 'before' ? undefined : (fault?.respond ?? answer(deps, req, res, account))
    const reply = fault?.drop === 'after' ? undefined : answered
    const outcome = reply?.status ?? 'dropped'
    deps.onRequest({
      ...{ at: deps.now().toISOString(), account: account?.name ?? null },
      ...{ method, url, body, outcome },
    })
    // Uses the stand-in's own clock, which tests set: clients compute the limit's reset from `Date`.
    if (reply) write(res, { ...reply, headers: { date: deps.now().toUTCString(), ...reply.headers } })
    else req.socket.resetAndDestroy()
  })
  return createServer(app)
}

function answer(deps: StandInServerDeps, req: Request, res: Response, account?: StandInAccount): Reply {
  if (!account) return UNAUTHORIZED
  const { method, path, body } = req
  const api = /^\/(?:v2\/stocks|v1beta1)\//.test(path) ? 'data' : 'trading'
  const { headers, refused } = deps.rateLimit.count(account.name, api)
  if (refused) return { ...refused, headers }
  if (res.locals.isMalformed) return { ...refusal(400, 40010000, 'request body format is invalid'), headers }
  const query = new URL(req.originalUrl, 'http://stand-in').searchParams
  return { ...deps.alpaca({ method, path, query, body, account }), headers }
}

function write(res: Response, { status, headers = {}, body }: Reply): void {
  res.status(status).set(headers)
  if (body === undefined) res.end()
  else res.json(body)
}
