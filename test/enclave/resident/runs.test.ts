import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Enclave } from '../../../src/enclave/enclave.js'
import { codeOf } from '../../../src/enclave/failures.js'
import { createDelivery } from '../../../src/enclave/resident/delivery.js'
import { createResidentRuns } from '../../../src/enclave/resident/runs.js'
import { openRunTable } from '../../../src/enclave/resident/runTable.js'
import type { ResidentSettings } from '../../../src/enclave/resident/settings.js'
import type { RunResult } from '../../../src/protocol/job.js'
import { createPost } from '../../../src/service/post.js'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import {
  offer,
  orderJob,
  type Posted,
  startResultServer,
  startTestResident,
} from '../../support/residentHarness.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

interface Changes {
  answer?: (post: Posted) => number | 'not-awaited'
  settings?: Partial<ResidentSettings>
}

async function setUp(run: Enclave['run'], { answer, settings }: Changes = {}) {
  const server = await startResultServer(answer)
  const stateDirectory = `${await temporaryDirectory()}/state`
  const start = (work = run) =>
    startTestResident(work, { serverUrl: server.url, stateDirectory, ...settings })
  return { server, stateDirectory, start, enclave: await start() }
}

/** Runs without a door, which post to a server of the test's own. */
async function setUpRuns(run: Enclave['run'], limits: { maxRuns: number; abandonAfterMs?: number }) {
  const server = await startResultServer()
  const { logger } = createLogLines()
  const table = openRunTable(await temporaryDirectory(), { onUnsynced })
  const delivery = createDelivery({
    post: createPost({ timeoutMs: 30_000, maxConnections: 16 }),
    serverUrl: server.url,
    relayToken: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    secret: RUN_SECRET,
    boot: table.boot,
    stopping: new AbortController().signal,
    logger,
  })
  return {
    server,
    table,
    runs: createResidentRuns({ enclave: () => ({ run }), table, delivery, logger, ...limits }),
  }
}

function onUnsynced(error: unknown): never {
  throw error
}

const DONE: RunResult = { outcome: 'done' }

/** A run that ends once `go` says so. */
function waiting() {
  const { promise, resolve: go } = Promise.withResolvers<RunResult>()
  return { run: vi.fn(() => promise), go: () => go(DONE) }
}

const ENCLAVE = { instance: expect.stringMatching(/^[0-9a-f-]{36}$/), boot: 1 }

test('a job is run as it was sent, and its result is posted, signed, with the boot that ran it', async () => {
  const jobs: unknown[] = []
  const { enclave, server } = await setUp(async (job) => {
    jobs.push(job)
    return { outcome: 'settled' }
  })
  const job = await orderJob()
  expect(await offer(enclave.url, job)).toMatchObject({
    status: 202,
    answer: { runId: job.runId, result: 'accepted', ...ENCLAVE },
  })
  await eventually('the result', () => server.posts.length > 0)
  const body = { outcome: 'settled', enclave: ENCLAVE }
  expect(server.posts).toEqual([{ kind: 'result', runId: job.runId, isSigned: true, body }])
  expect(jobs).toEqual([job])
  const sealed = job.job === 'order' ? job.envelope?.ct : undefined
  for (const secret of [RUN_SECRET, sealed ?? RUN_SECRET, bytes32('an order')]) {
    expect(enclave.logText()).not.toContain(secret)
  }
})

test('a job is run once, however often it is offered: at once, during the run, after it, and after a restart', async () => {
  const { run, go } = waiting()
  const { enclave, server, start } = await setUp(run)
  const job = await orderJob()
  const answers = await Promise.all([1, 2, 3].map(() => offer(enclave.url, job)))
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
  expect((await offer(enclave.url, job)).answer).toMatchObject({ result: 'already-accepted' })
  go()
  await eventually('the result', () => server.posts.length > 0)
  expect((await offer(enclave.url, job)).status).toBe(202)
  await enclave.stop()
  const second = await start()
  expect((await offer(second.url, job)).answer).toMatchObject({ result: 'already-accepted', boot: 2 })
  await sleep(200)
  expect(run).toHaveBeenCalledOnce()
  expect(new Set(server.posts.map(({ body }) => body.outcome))).toEqual(new Set(['done']))
})

test('a job is refused past its time, and not started', async () => {
  const { enclave } = await setUp(() => Promise.reject(new Error('started')))
  const late = await offer(enclave.url, await orderJob({ seconds: 0 }))
  expect(late).toMatchObject({ status: 422, answer: { code: 'run-too-late' } })
  expect(enclave.logText()).not.toContain('run crashed')
})

test('a job is refused while another run of its order is under way, and taken after', async () => {
  const { run, go } = waiting()
  const { enclave, server } = await setUp(run)
  await offer(enclave.url, await orderJob())
  const refused = await offer(enclave.url, await orderJob())
  expect(refused).toMatchObject({ status: 409, answer: { code: 'order-under-way' } })
  expect((await offer(enclave.url, await orderJob({ orderId: bytes32('another') }))).status).toBe(202)
  go()
  await eventually('both results', () => server.posts.length === 2)
  expect((await offer(enclave.url, await orderJob())).status).toBe(202)
})

test('a job is refused for now when as many run as may, and nothing is remembered of it', async () => {
  const { run, go } = waiting()
  const { enclave, server } = await setUp(run, { settings: { maxRuns: 1 } })
  await offer(enclave.url, await orderJob())
  const job = await orderJob({ orderId: bytes32('another') })
  const refused = await offer(enclave.url, job)
  expect(refused).toMatchObject({ status: 429, answer: { code: 'too-many-runs' } })
  expect(refused.headers.get('retry-after')).toBe('1')
  go()
  await eventually('the result', () => server.posts.length > 0)
  expect((await offer(enclave.url, job)).answer).toMatchObject({ result: 'accepted' })
})

test('a notice is with the server before the run goes on', async () => {
  let answers = 0
  const order: string[] = []
  const notice = await sealOrder('why')
  const { enclave } = await setUp(
    async (_job, report) => {
      await report({ outcome: 'failed', notice })
      order.push('refund')
      return { outcome: 'refunded', notice }
    },
    {
      answer({ kind }) {
        order.push(kind)
        return kind === 'notice' && ++answers <= 2 ? 503 : 200
      },
    },
  )
  await offer(enclave.url, await orderJob())
  await eventually('the result', () => order.includes('result'))
  expect(order).toEqual(['notice', 'notice', 'notice', 'refund', 'result'])
})

test.each([
  ['that the server does not wait for', 'not-awaited', 'relay-refused', 60],
  ['that no server takes until stopAt', 503, 'out-of-time', 30],
] as const)('a notice %s ends the run, and nothing is refunded', async (_what, given, code, seconds) => {
  let passed = 0
  const { now } = Date
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + passed)
  onTestFinished(() => clock.mockRestore())
  const notice = await sealOrder('why')
  let isRefunded = false
  const { enclave, server } = await setUp(
    async (_job, report) => {
      try {
        await report({ outcome: 'failed', notice })
        isRefunded = true
        return { outcome: 'refunded' }
      } catch (error) {
        return { outcome: 'failed', code: codeOf(error) }
      }
    },
    {
      answer({ kind }) {
        if (kind !== 'notice') return 200
        if (given === 503) passed = seconds * 1_000
        return given
      },
    },
  )
  await offer(enclave.url, await orderJob({ seconds }))
  const [result] = await eventually('the result', () => server.results().length > 0 && server.results())
  expect(result?.body).toMatchObject({ outcome: 'failed', code })
  expect(isRefunded).toBe(false)
})

test('a run that never settles is abandoned after its stopAt and counted, and takes no other with it', async () => {
  const hanging = bytes32('hanging')
  const { runs, server } = await setUpRuns(
    (job) =>
      job.job === 'order' && job.orderId === hanging ? new Promise(() => undefined) : Promise.resolve(DONE),
    { maxRuns: 2, abandonAfterMs: 100 },
  )
  const other = await orderJob()
  const job = await orderJob({ orderId: hanging, seconds: 3 })
  expect(await Promise.all([job, other].map(runs.accept))).toEqual(['accepted', 'accepted'])
  await eventually('both results', () => server.posts.length === 2)
  const resultOf = (id: string) => server.posts.find(({ runId }) => runId === id)?.body
  expect(resultOf(other.runId)).toMatchObject({ outcome: 'done' })
  expect(resultOf(job.runId)).toMatchObject({ outcome: 'failed', code: 'out-of-time' })
  expect(runs.counts()).toEqual({ runs: 0, abandoned: 1 })
  expect(await runs.accept(await orderJob({ orderId: hanging }))).toBe('accepted')
})

test('a result that no server took is posted by the next boot, and not by the one after', async () => {
  let isDown = true
  const { enclave, server, start } = await setUp(async () => DONE, {
    answer: () => (isDown ? 503 : 200),
  })
  await offer(enclave.url, await orderJob())
  await eventually('a post', () => server.posts.length > 0)
  await enclave.stop()
  isDown = false
  const before = server.posts.length
  const second = await start()
  await eventually('a post', () => server.posts.length === before + 1)
  expect(server.posts.at(-1)?.body).toMatchObject({ outcome: 'done', enclave: { boot: 2 } })
  await second.stop()
  await start()
  await sleep(200)
  expect(server.posts).toHaveLength(before + 1)
})

test('a change that the disk fails to sync ends the process, as the change is in the file all the same', async () => {
  const directory = await temporaryDirectory()
  const unsynced: unknown[] = []
  const full = new Error('EIO')
  const table = openRunTable(directory, {
    onUnsynced: (error) => unsynced.push(error),
    sync: () => Promise.reject(full),
  })
  const { runId, stopAt } = await orderJob()
  await expect(table.note({ runId, stopAt })).rejects.toBe(full)
  expect(unsynced).toEqual([full])
  table.close()
  const next = openRunTable(directory, { onUnsynced })
  expect(next.left.map((run) => run.runId)).toEqual([runId])
  next.close()
})
