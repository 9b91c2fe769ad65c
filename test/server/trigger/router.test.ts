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
  test('takes a signed result, and takes it again', async () => {
    const { app, runId } = await setUp()
    for (const _again of [1, 2]) {
      const response = await post(app, runId, signed(runId))
      expect(response.status).toBe(200)
      expect(response.body).toEqual({ runId, result: 'received' })
    }
  })

  test('tells a signer that no run awaits the result', async () => {
    const { app } = await setUp()
    const runId = randomUUID()
    expect((await post(app, runId, signed(runId))).body).toEqual({ runId, result: 'not-awaited' })
  })

  test('is logged under its whole template, also where it is refused', async () => {
    const { app, log, runId } = await setUp()
    await post(app, runId)
    expect(log.lines()).toContainEqual(
      expect.objectContaining({ msg: 'request', route: '/runs/:runId/result', code: 'run-unauthorized' }),
    )
  })

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

  test.each<[string, string, number, string]>([
    ['no result', '{"outcome":"won"}', 400, 'invalid-body'],
    ['an unknown member', '{"outcome":"settled","why":"x"}', 400, 'invalid-body'],
    ['no JSON', '{"outcome"', 400, 'malformed-json'],
    ['a member twice', '{"outcome":"settled","outcome":"failed"}', 400, 'malformed-json'],
    ['too long', JSON.stringify({ outcome: 'x'.repeat(70_000) }), 413, 'body-too-large'],
  ])('refuses what is signed but %s', async (_what, body, status, code) => {
    const { app, runId } = await setUp()
    const response = await post(app, runId, signed(runId, body), body)
    expect(response.status).toBe(status)
    expect(response.body.code).toBe(code)
    expect((await post(app, runId, signed(runId))).body.result).toBe('received')
  })

  test('refuses another media type, and a page elsewhere', async () => {
    const { app, runId } = await setUp()
    const text = await post(app, runId, { ...signed(runId), 'Content-Type': 'text/plain' })
    expect([text.status, text.body.code]).toEqual([415, 'unsupported-media-type'])
    const page = await post(app, runId, { ...signed(runId), Origin: 'https://evil.example' })
    expect([page.status, page.body.code]).toEqual([403, 'origin-not-allowed'])
  })

  test('takes no other method', async () => {
    const { app, runId } = await setUp()
    const response = await request(app).get(`/runs/${runId}/result`)
    expect([response.status, response.headers.allow]).toEqual([405, 'POST'])
  })

  test('counts by the per-client rate only when it fails, as the host must get through', async () => {
    const { app, runId } = await setUp({ RATE_LIMIT_PER_MINUTE: '10' })
    for (const _again of [1, 2, 3]) expect((await post(app, runId, signed(runId))).status).toBe(200)
    const statuses: number[] = []
    for (let n = 0; n < 3; n++) statuses.push((await post(app, runId)).status)
    expect(statuses).toEqual([401, 429, 429])
  })
})
