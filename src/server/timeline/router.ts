import { Router } from 'express'
import { z } from 'zod'
import { timelineSchema } from '../../protocol/api.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { methodNotAllowed } from '../http/errors.js'
import { parseParam } from '../http/validate.js'
import type { ReadTimeline } from './timeline.js'

/** What happened to an order, for pages and operators that poll it: the answer has an `ETag`. */
export function createTimelineRouter(readTimeline: ReadTimeline): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router
    .route('/orders/:orderId/timeline')
    .get(async (req, res) => {
      const orderId = parseParam(bytes32Schema, 'orderId', req.params.orderId)
      res.json(z.encode(timelineSchema, await readTimeline(orderId)))
    })
    .all(methodNotAllowed('GET'))
  return router
}
