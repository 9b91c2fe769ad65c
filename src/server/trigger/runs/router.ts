import { Router } from 'express'
import { z } from 'zod'
import { runResultReceivedSchema } from '../../../protocol/api.js'
import { runIdSchema, runResultSchema } from '../../../protocol/job.js'
import { methodNotAllowed } from '../../http/errors.js'
import { sendUntagged } from '../../http/preparedJson.js'
import { signedRun } from '../../http/signedRun.js'
import { parseBody, parseParam } from '../../http/validate.js'
import type { Secret } from '../../secret.js'
import type { PostedResults } from './httpRunner.js'
import { MAX_RESULT_BYTES } from './resultFile.js'

export interface RunsRouterDeps {
  /** Shared with the enclave's host. */
  readonly secret: Secret
  readonly results: PostedResults
}

/** Where the host of a remote enclave posts what its runs came to. */
export function createRunsRouter({ secret, results }: RunsRouterDeps): Router {
  const router = Router({ caseSensitive: true })
  router
    .route('/runs/:runId/result')
    .post(
      signedRun({ kind: 'result', secret, limitBytes: MAX_RESULT_BYTES, runIdOf: ({ runId }) => runId }),
      async (req, res) => {
        const runId = parseParam(runIdSchema, 'runId', req.params.runId)
        const result = await results.receive(runId, parseBody(runResultSchema, req.body))
        sendUntagged(res, z.encode(runResultReceivedSchema, { runId, result }))
      },
    )
    .all(methodNotAllowed('POST'))
  return router
}
