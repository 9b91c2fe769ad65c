import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { link, readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { BODY_TIMEOUT_MS, createDoor } from '../../../src/enclave/resident/door.js'
import { problemSchema } from '../../../src/protocol/api.js'
import type { Job } from '../../../src/protocol/job.js'
import { signRunMessage } from '../../../src/protocol/runMessage.js'
import { createPost } from '../../../src/service/post.js'
import { createLogLines } from '../../support/logLines.js'
import {
  HARNESS_SIGNER,
  offer,
  orderJob,
  startResultServer,
  startTestResident,
} from '../../support/residentHarness.js'
import { RUN_SECRET } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

async function setUp() {
  const directory = await temporaryDirectory()
  const { url: serverUrl } = await startResultServer()
  const jobs: Job[] = []
  const run = async (job: Job) => {
    jobs.push(job)
    return { outcome: 'done' } as const
  }
  const settings = { serverUrl, stateDirectory: `${directory}/state` }
  return { jobs, directory, run, settings, enclave: await startTestResident(run, settings) }
}

const signed = (body: string, runId: string, at?: Date) =>
  signRunMessage(RUN_SECRET, { kind: 'job', runId, body }, at)
const secondsAgo = (seconds: number) => String(Math.floor(Date.now() / 1_000) - seconds)
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

test.each<[string, (body: string, runId: string) => Record<string, string>]>([
  ['by another key', (body, runId) => signRunMessage(OTHER_SECRET, { kind: 'job', runId, body })],
  ['of another body', (body, runId) => signed(`${body} `, runId)],
  ['of another run', (body) => signed(body, randomUUID())],
  ['of a result', (body, runId) => signRunMessage(RUN_SECRET, { kind: 'result', runId, body })],
  ['that is stale', (body, runId) => signed(body, runId, new Date(Date.now() - 302_000))],
  ['from ahead of its clock', (body, runId) => signed(body, runId, new Date(Date.now() + 30_000))],
  ['under an id in other letters', (body, runId) => signed(body, runId.toUpperCase())],
  ['at another time', (body, runId) => ({ ...signed(body, runId), 'webhook-timestamp': secondsAgo(9) })],
  ['without a value', (body, runId) => ({ ...signed(body, runId), 'webhook-signature': 'v1' })],
])('POST / starts nothing for a signature %s', async (_what, sign) => {
  const { enclave, jobs } = await setUp()
  const job = await orderJob()
  const { status, answer } = await offer(enclave.url, job, sign(JSON.stringify(job), job.runId))
  expect([status, problemSchema.parse(answer).code]).toEqual([401, 'run-unauthorized'])
  expect(jobs).toEqual([])
  expect((await offer(enclave.url, job)).answer).toMatchObject({ runId: job.runId, result: 'accepted' })
})

// An earlier enclave wrote its result to any path in the job, its own configuration included.
test('POST / takes no job that names a file, nor one whose id is a path', async () => {
  const { directory, enclave, jobs } = await setUp()
  const job = await orderJob()
  for (const attempt of [
    { ...job, ...{ resultFile: `${directory}/enclave.env` } },
    { ...job, runId: '../../enclave.env' },
    { ...job, runId: `${job.runId}/../../../enclave` },
  ]) {
    expect([400, 401], JSON.stringify(attempt)).toContain((await offer(enclave.url, attempt)).status)
  }
  expect(jobs).toEqual([])
  expect(await readdir(directory)).toEqual(['state'])
})

test('POST / takes no body that is longer than a job', async () => {
  const { enclave } = await setUp()
  const { runId } = await orderJob()
  const body = ' '.repeat(2 ** 20 + 2 ** 15)
  const headers = { ...signed(body, runId) }
  expect((await fetch(enclave.url, { method: 'POST', body, headers })).status).toBe(413)
})

test('POST / ends a request whose body does not arrive in time, and its connection', async () => {
  const { enclave } = await setUp()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { runId } = await orderJob()
  const half = request(enclave.url, {
    method: 'POST',
    headers: { ...signed('whole', runId), 'content-length': 5 },
  })
  half.write('who')
  const answered = once(half, 'response')
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
  vi.advanceTimersByTime(BODY_TIMEOUT_MS)
  const [response] = await answered
  expect(response.headers.connection).toBe('close')
  expect(problemSchema.parse(await json(response))).toMatchObject({ status: 408, code: 'request-timeout' })
})

test('the door answers probes, and has nothing else', async () => {
  const { enclave } = await setUp()
  const health = await fetch(`${enclave.url}/health`)
  expect(await health.json()).toEqual({
    ...{ status: 'ok', instance: expect.any(String), boot: 1, pid: process.pid, program: '0'.repeat(64) },
    ...{ configuredAt: 0, mode: 'file-keys', keys: 'present', signer: HARNESS_SIGNER, runs: 0, abandoned: 0 },
  })
  const answers = ['/runs', '/'].map((path) => fetch(`${enclave.url}${path}`))
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 405])
})

test('jobs also come over a socket; one that a killed process left is in no way, and a living one keeps its own', async () => {
  const { directory, run, settings } = await setUp()
  const path = `${directory}/door.sock`
  await leaveSocket(path)
  const start = (name: string) =>
    startTestResident(run, { ...settings, stateDirectory: `${directory}/${name}`, listen: { path } })
  await start('one')
  await expect(start('two')).rejects.toMatchObject({ code: 'EADDRINUSE' })
  const job = await orderJob()
  const body = JSON.stringify(job)
  const headers = { ...signed(body, job.runId) }
  const post = createPost({ timeoutMs: 5_000, maxConnections: 1 })
  expect((await post(`unix:${path}`, headers, body)).status).toBe(202)
})

test('a job that the disk refuses, and another request that fails, are answered with 503', async () => {
  const { logger, text } = createLogLines()
  const fail = async () => {
    throw new TypeError('canary')
  }
  const door = createDoor({
    secret: RUN_SECRET,
    runs: { accept: fail, counts: () => ({ runs: 0, abandoned: 0 }), awaitsKeys: () => false },
    boot: { instance: randomUUID(), boot: 1 },
    program: { program: '', configuredAt: 0, mode: 'file-keys', signer: () => HARNESS_SIGNER },
    routes: { '/attestation': { GET: fail } },
    logger,
  })
  await once(door.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void door.close().closeAllConnections())
  const { port } = z.object({ port: z.int() }).parse(door.address())
  const url = `http://127.0.0.1:${port}`
  const job = await orderJob()
  const refused = { status: 503, code: 'storage-unavailable' }
  expect((await offer(url, job)).answer).toMatchObject(refused)
  expect(await (await fetch(`${url}/attestation`)).json()).toMatchObject(refused)
  expect(text()).not.toContain('canary')
})

/** Leaves a socket like a killed process: no process listens there. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.first`)
  await once(server, 'listening')
  await link(`${path}.first`, path)
  server.close()
  await once(server, 'close')
}
