import type { RequestListener } from 'node:http'
import type { RequestHandler } from 'express'
import { type ContractAddresses, type Health, healthSchema } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { preparedJson, preparing } from '../http/preparedJson.js'
import { headersOfEveryAnswer } from '../http/rawProblem.js'
import { chooseRequestId } from '../http/requestId.js'
import type { HttpObserver } from '../http/requestLog.js'
import { createRequestReport } from '../http/requestLog.js'

export interface HealthDeps {
  readonly version: string
  readonly chainId: number
  readonly contracts: ContractAddresses
  /** The relayer's address. */
  readonly relayer: Hex
  /** The listed symbols as last read; asks nobody. */
  readonly symbols: () => readonly string[]
}

/** `GET /health`: what this server is set up for. Answers from memory, so that nothing it depends on can hang it. */
export function healthHandler(deps: HealthDeps): RequestHandler {
  const send = preparedJson(healthSchema)
  const health = healthView(deps)
  return (_req, res) => send(res, health())
}

/** Answers a probe (`isProbe`) exactly as the route above does, without Express. */
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

/** The same object until the listed symbols are others. */
function healthView({ symbols, ...fixed }: HealthDeps): () => Health {
  let listed: readonly string[] | undefined
  let health: Health | undefined
  return () => {
    const current = symbols()
    if (health === undefined || current !== listed) {
      listed = current
      health = { status: 'ok', ...fixed, symbols: [...current] }
    }
    return health
  }
}
