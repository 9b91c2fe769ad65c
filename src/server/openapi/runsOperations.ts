import type { Operation } from './operation.js'

const runId = { schema: 'RunId', description: 'The id that the run has in its job.' } as const

/** The routes of `createRunsRouter`. */
export const RUNS_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/runs/:runId/notice',
    operationId: 'postRunNotice',
    tag: 'Runs',
    summary: 'What a run says before its end',
    description:
      'On disk before it is answered: the enclave relays the refund that a notice explains only after that. It ends no run.',
    parameters: { runId },
    body: 'RunNotice',
    requestHeaders: ['webhook-id', 'webhook-timestamp'],
    answers: [
      { status: 200, description: 'Whether the server waits for the run.', content: 'RunResultReceived' },
    ],
    problems: ['storage-unavailable'],
    security: 'runSignature',
  },
  {
    method: 'post',
    path: '/runs/:runId/result',
    operationId: 'postRunResult',
    tag: 'Runs',
    summary: 'What a run came to',
    description: 'Idempotent per run: the first result counts.',
    parameters: { runId },
    body: 'RunResult',
    requestHeaders: ['webhook-id', 'webhook-timestamp'],
    answers: [{ status: 200, description: 'Whether the server waits for it.', content: 'RunResultReceived' }],
    problems: ['storage-unavailable'],
    security: 'runSignature',
  },
]
