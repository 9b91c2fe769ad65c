import { Router } from 'express'
import { z } from 'zod'
import { runResultReceivedSchema } from '../../../protocol/api.js'
import { postedResultSchema, provisionalResultSchema, runIdSchema } from '../../../protocol/job.js'
import { methodNotAllowed } from '../../http/errors.js'
import { sendUntagged } from '../../http/preparedJson.js'
import { signedRun } from '../../http/signedRun.js'
import { parseBody, parseParam } from '../../http/validate.js'
import type { Secret } from '../../secret.js'
import type { PostedResults } from './httpRunner.js'
import { MAX_RESULT_BYTES } from './resultFile.js'

export interface RunsRouterDeps {
  /** Shared with the enclave. */
  readonly secret: Secret
  readonly results: PostedResults
}

/** Where an enclave that stays up posts what its runs tell before their end, and what they came to. */
export function createRunsRouter({ secret, results }: RunsRouterDeps): Router {
  const router = Router({ caseSensitive: true })
  const signed = (kind: 'notice' | 'result') =>
    signedRun({ kind, secret, limitBytes: MAX_RESULT_BYTES, runIdOf: ({ runId }) => runId })
  router
    .route('/runs/:runId/notice')
    .post(signed('notice'), async (req, res) => {
      const runId = parseParam(runIdSchema, 'runId', req.params.runId)
      const result = await results.hear(runId, parseBody(provisionalResultSchema, req.body))
      sendUntagged(res, z.encode(runResultReceivedSchema, { runId, result }))
    })
    .all(methodNotAllowed('POST'))
  router
    .route('/runs/:runId/result')
    .post(signed('result'), async (req, res) => {
      const runId = parseParam(runIdSchema, 'runId', req.params.runId)
      const result = await results.receive(runId, parseBody(postedResultSchema, req.body))
      sendUntagged(res, z.encode(runResultReceivedSchema, { runId, result }))
    })
    .all(methodNotAllowed('POST'))
  return router
}
