import express, { type Express } from 'express'
import { z } from 'zod'
import { jobAcceptedSchema } from '../protocol/api.js'
import { remoteJobSchema } from '../protocol/job.js'
import { errorHandler, methodNotAllowed, notFound } from '../server/http/errors.js'
import { sendUntagged } from '../server/http/preparedJson.js'
import { requestId } from '../server/http/requestId.js'
import { requestLog } from '../server/http/requestLog.js'
import { securityHeaders } from '../server/http/securityHeaders.js'
import { refuseWhenStopping } from '../server/http/shutdown.js'
import { signedRun, unauthorized } from '../server/http/signedRun.js'
import { parseBody } from '../server/http/validate.js'
import type { Secret } from '../server/secret.js'
import type { Logger } from '../service/logger.js'
import type { HostedRuns } from './runs.js'

export interface HostAppDeps {
  readonly secret: Secret
  readonly runs: Pick<HostedRuns, 'accept'>
  readonly logger: Logger
  /** Aborts when the host begins to stop. */
  readonly stopping: AbortSignal
}

/** A rulebook of 16,384 bytes is 32,770 characters of hex; as much as the enclave takes. */
const BODY_LIMIT_BYTES = 128 * 1_024

/** The host's two routes: `POST /` for jobs, `GET /health` for probes. Never listens. */
export function createHostApp({ secret, runs, logger, stopping }: HostAppDeps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.enable('case sensitive routing')
  app.set('query parser', false)
  app.use(requestId(), requestLog(logger), securityHeaders())
  app.use(refuseWhenStopping(stopping))
  app
    .route('/')
    .post(signedRun({ kind: 'job', secret, limitBytes: BODY_LIMIT_BYTES }), async (req, res) => {
      const job = parseBody(remoteJobSchema, req.body)
      if (req.get('webhook-id') !== `job_${job.runId}`) throw unauthorized()
      const result = await runs.accept(job)
      res.status(202)
      sendUntagged(res, z.encode(jobAcceptedSchema, { runId: job.runId, result }))
    })
    .all(methodNotAllowed('POST'))
  app
    .route('/health')
    .get((_req, res) => {
      res.json({ status: 'ok' })
    })
    .all(methodNotAllowed('GET'))
  app.use(notFound)
  app.use(errorHandler(logger))
  return app
}
