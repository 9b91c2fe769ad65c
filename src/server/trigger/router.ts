import { Router } from 'express'
import { z } from 'zod'
import { runResultReceivedSchema } from '../../protocol/api.js'
import { postedResultSchema, provisionalResultSchema, runIdSchema } from '../../protocol/job.js'
import type { Secret } from '../../service/secret.js'
import { signedRun } from '../http/auth.js'
import { parseBody, parseParam } from '../http/body.js'
import { methodNotAllowed } from '../http/errors.js'
import { sendUntagged } from '../http/routes.js'
import type { Acknowledgement, PostedResults } from './httpRunner.js'
import { MAX_RESULT_BYTES } from './runner.js'

export interface RunsRouterDeps {
  /** Shared with the enclave. */
  readonly secret: Secret
  readonly results: PostedResults
}

/** Where an enclave that stays up posts the notices and results of its runs. */
export function createRunsRouter({ secret, results }: RunsRouterDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  function route<Posted>(
    kind: 'notice' | 'result',
    schema: z.ZodType<Posted>,
    receive: (runId: string, posted: Posted) => Promise<Acknowledgement>,
  ): void {
    router
      .route(`/runs/:runId/${kind}`)
      .post(signedRun(kind, secret, MAX_RESULT_BYTES), async (req, res) => {
        const runId = parseParam(runIdSchema, 'runId', req.params.runId)
        const result = await receive(runId, parseBody(schema, req.body))
        sendUntagged(res, z.encode(runResultReceivedSchema, { runId, result }))
      })
      .all(methodNotAllowed('POST'))
  }
  route('notice', provisionalResultSchema, results.receiveNotice)
  route('result', postedResultSchema, results.receiveResult)
  return router
}
