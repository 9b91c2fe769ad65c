import { randomUUID } from 'node:crypto'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { RunResult } from '../../../src/protocol/job.js'
import { signRunMessage } from '../../../src/protocol/runMessage.js'
import { createRunRecords } from '../../../src/server/store/runRecords.js'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
import { createLogLines } from '../../support/logLines.js'
import { RUN_SECRET } from '../../support/serverEnvironment.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain()
const SETTLED = JSON.stringify({ outcome: 'settled' } satisfies RunResult)
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

/** The whole server, with one run under way. */
async function setUp(env: Record<string, string> = {}) {
  const root = await temporaryDirectory()
  const { app, log } = await buildApp({ chain: chain(), env, root })
  const runRecords = createRunRecords({ ...(await openStores(root)), logger: createLogLines().logger })
  const runId = randomUUID()
  const stopAt = Math.floor(Date.now() / 1_000) + 60
  await runRecords.create({
    job: 'reconcile',
    runId,
    startedAt: new Date().toISOString(),
    stopAt,
    process: null,
  })
  return { app, log, runId }
}

type App = Parameters<typeof request>[0]

function post(app: App, runId: string, headers: Record<string, string> = {}, body = SETTLED) {
  return request(app)
    .post(`/runs/${runId}/result`)
    .set('Content-Type', 'application/json')
    .set(headers)
    .send(body)
}

function signed(runId: string, body = SETTLED, secret = RUN_SECRET, now = new Date()) {
  return signRunMessage(secret, { kind: 'result', runId, body }, now)
}

describe('POST /runs/:runId/result', () => {
  test('is the same to everybody else, whether or not there is such a run', async () => {
    const { app, runId } = await setUp()
    const old = new Date(Date.now() - 302_000)
    const answers = await Promise.all(
      [runId, randomUUID(), 'no-uuid', runId.toUpperCase()].flatMap((id) => [
        post(app, id),
        post(app, id, signed(randomUUID())),
        post(app, id, signed(id, SETTLED, OTHER_SECRET)),
        post(app, id, signed(id, SETTLED, RUN_SECRET, old)),
        post(app, id, signRunMessage(RUN_SECRET, { kind: 'job', runId: id, body: SETTLED })),
        post(app, id, signed(id), '{"outcome":"refunded"}'),
        post(app, id, signed(id), ''),
        post(app, id, { ...signed(id), 'webhook-signature': '' }, '{'),
        post(app, id, {}, 'x'.repeat(100_000)),
      ]),
    )
    const seen = answers.map(({ status, body, headers }) =>
      JSON.stringify([status, body.code, body.detail, body.title, headers['www-authenticate']]),
    )
    expect(new Set(seen).size).toBe(1)
    expect(answers[0]).toMatchObject({ status: 401, body: { code: 'run-unauthorized' } })
    expect((await post(app, runId, signed(runId))).body.result).toBe('received')
  })
})
