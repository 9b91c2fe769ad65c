import type { Operation } from './operation.js'

/** The route of `createRunsRouter`. */
export const RUNS_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/runs/:runId/result',
    operationId: 'postRunResult',
    tag: 'Runs',
    summary: 'What a run came to',
    description: 'Idempotent per run: the first result counts.',
    parameters: { runId: { schema: 'RunId', description: 'The id that the run has in its job.' } },
    body: 'RunResult',
    requestHeaders: ['webhook-id', 'webhook-timestamp'],
    answers: [{ status: 200, description: 'Whether anybody waits for it.', content: 'RunResultReceived' }],
    problems: ['storage-unavailable'],
    security: 'runSignature',
  },
]
