import type { RequestListener } from 'node:http'
import { type Request, Router } from 'express'
import type { ZodType } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import {
  type ContractAddresses,
  complianceSchema,
  type Health,
  healthSchema,
  institutionSchema,
  marketBarsSchema,
  marketClockSchema,
  marketSchema,
  walletSchema,
} from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { headersOfEveryAnswer, preparedJson, preparing } from '../http/answers.js'
import { parseParam } from '../http/body.js'
import { methodNotAllowed, Problem } from '../http/errors.js'
import { chooseRequestId, createRequestReport, type HttpObserver } from '../http/middleware.js'
import { MarketUnavailableError } from './market.js'
import type { StatusViews } from './views.js'

type Params = Request['params']

/** The read-only routes: wallet screen, institution, compliance flags, market, its bars and its clock, and the server's own set-up. */
export function createStatusRouter(views: StatusViews, health: HealthDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  function get<T extends object>(path: string, schema: ZodType<T>, view: (params: Params) => Promise<T> | T) {
    const send = preparedJson(schema)
    router
      .route(path)
      .get(async ({ params }, res) => send(res, await view(params)))
      .all(methodNotAllowed('GET'))
  }
  const walletIn = ({ address }: Params) => parseParam(addressSchema, 'address', address)

  get('/wallet/:address', walletSchema, (params) => views.wallet(walletIn(params)))
  get('/org/:orgId', institutionSchema, async ({ orgId }) => {
    const institution = await views.institution(parseParam(bytes32Schema, 'orgId', orgId))
    if (institution === null) throw new Problem('institution-not-found')
    return institution
  })
  get('/compliance/:address', complianceSchema, (params) => views.compliance(walletIn(params)))
  get('/market', marketSchema, () => views.market().catch(throwProblem))
  get('/market/bars', marketBarsSchema, () => views.marketBars().catch(throwProblem))
  get('/market/clock', marketClockSchema, () => views.marketClock().catch(throwProblem))
  get('/health', healthSchema, healthView(health))
  return router
}

function throwProblem(error: unknown): never {
  if (!(error instanceof MarketUnavailableError)) throw error
  const headers = { 'Retry-After': String(error.retryAfterSeconds) }
  throw new Problem('market-unavailable', { cause: error.cause, headers })
}

export interface HealthDeps {
  readonly version: string
  readonly chainId: number
  readonly contracts: ContractAddresses
  /** The relayer's accounts; at least one. */
  readonly relayers: readonly Hex[]
  /** The listed symbols as last read, from memory. */
  readonly symbols: () => readonly string[]
}

/** Answers a probe (`isProbe`) exactly as `GET /health` does, without Express. */
export function createProbeAnswer(deps: HealthDeps, logger: Logger, observe: HttpObserver): RequestListener {
  const prepared = preparing(healthSchema)
  const health = healthView(deps)
  const report = createRequestReport(logger, observe)
  const common = headersOfEveryAnswer()
  return (req, res) => {
    const requestId = chooseRequestId(req.headers['x-request-id'])
    report(req, res, () => ({ requestId, route: '/health', code: undefined }))
    const { text, length, etag } = prepared(health())
    res.writeHead(200, {
      'X-Request-Id': requestId,
      ...common,
      Vary: 'Origin',
      ETag: etag,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': length,
    })
    res.end(text)
  }
}

/** From memory, so no outage of a dependency delays it. The same object until the listed symbols change. */
function healthView({ symbols, relayers, ...fixed }: HealthDeps): () => Health {
  const [relayer] = relayers
  if (relayer === undefined) throw new TypeError('the relay has no account')
  let listed: readonly string[] | undefined
  let health: Health | undefined
  return () => {
    const current = symbols()
    if (health === undefined || current !== listed) {
      listed = current
      health = { status: 'ok', ...fixed, symbols: [...current], relayer, relayers: [...relayers] }
    }
    return health
  }
}
