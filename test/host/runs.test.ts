import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createHostedRunRecords } from '../../src/host/records.js'
import { isRunning } from '../../src/server/processIdentity.js'
import { createAtomicFiles } from '../../src/server/store/atomicFiles.js'
import { eventually } from '../support/eventually.js'
import { offer, orderJob, startResultServer, startTestHost } from '../support/hostHarness.js'
import { bytes32 } from '../support/institution.js'
import { sealOrder } from '../support/intakeServer.js'
import { createLogLines } from '../support/logLines.js'
import { createScriptedEnclave, type Step } from '../support/scriptedEnclave.js'
import { RUN_SECRET } from '../support/serverEnvironment.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

async function setUp(step: Step, options: { status?: () => number; env?: Record<string, string> } = {}) {
  const directory = await temporaryDirectory()
  const enclave = createScriptedEnclave(directory)
  await enclave.plan({ any: [step] })
  const server = await startResultServer(options.status)
  const root = `${directory}/data`
  const start = () => startTestHost(enclave, { SERVER_URL: server.url, DATA_DIR: root, ...options.env })
  const records = createHostedRunRecords({
    files: createAtomicFiles({ root }),
    root,
    logger: createLogLines().logger,
  })
  return { directory, enclave, posts: server.posts, start, records, root, host: await start() }
}

async function posted(posts: { length: number }, count = 1) {
  await eventually('the result', () => posts.length >= count)
}

describe('a job', () => {
  test('is run as it was sent, and its result is posted, signed', async () => {
    const { host, enclave, posts, records } = await setUp({ outcome: 'settled' })
    const job = await orderJob()
    expect(await offer(host.url, job)).toEqual({
      status: 202,
      answer: { runId: job.runId, result: 'accepted' },
    })
    await posted(posts)
    expect(posts).toEqual([{ runId: job.runId, isSigned: true, result: { outcome: 'settled' } }])
    const [note] = await enclave.notes()
    expect(note?.job).toEqual({ ...job, resultFile: records.resultPath(job.runId) })
    expect(note?.env).toEqual({
      PATH: process.env.PATH,
      ENCLAVE_ENV_FILE: enclave.envFile,
      ENCLAVE_RESULT_DIR: records.resultDirectory,
    })
    const sealed = job.job === 'order' ? job.envelope?.ct : undefined
    for (const text of [RUN_SECRET, sealed ?? RUN_SECRET, bytes32('an order')]) {
      expect(host.logText()).not.toContain(text)
    }
  })

  test('is run once, however often it is offered: at once, during the run, after it, and after a restart', async () => {
    const { host, enclave, posts, directory, start } = await setUp({
      outcome: 'settled',
      untilFile: 'set below',
    })
    await enclave.plan({ any: [{ outcome: 'settled', untilFile: `${directory}/go` }] })
    const job = await orderJob()
    const answers = await Promise.all([1, 2, 3].map(() => offer(host.url, job)))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    await eventually('the run', async () => (await enclave.notes()).length > 0)
    expect((await offer(host.url, job)).answer).toEqual({ runId: job.runId, result: 'already-accepted' })
    await writeFile(`${directory}/go`, '')
    await posted(posts)
    expect((await offer(host.url, job)).status).toBe(202)
    await host.stop()
    const second = await start()
    expect((await offer(second.url, job)).answer).toEqual({ runId: job.runId, result: 'already-accepted' })
    await sleep(300)
    expect(await enclave.jobs()).toHaveLength(1)
  })

  test('is refused past its time, and not started', async () => {
    const { host, enclave } = await setUp({ outcome: 'settled' })
    const late = await offer(host.url, await orderJob({ seconds: 0 }))
    expect(late).toMatchObject({ status: 422, answer: { code: 'run-too-late' } })
    expect(await enclave.jobs()).toEqual([])
  })

  test('is refused while another run of its order is under way, and taken after', async () => {
    const { host, enclave, posts, directory } = await setUp({})
    await enclave.plan({ any: [{ outcome: 'placed', untilFile: `${directory}/go` }] })
    await offer(host.url, await orderJob())
    const refused = await offer(host.url, await orderJob())
    expect(refused).toMatchObject({ status: 409, answer: { code: 'order-under-way' } })
    expect((await offer(host.url, await orderJob({ orderId: bytes32('another') }))).status).toBe(202)
    await writeFile(`${directory}/go`, '')
    await posted(posts, 2)
    expect((await offer(host.url, await orderJob())).status).toBe(202)
  })

  test('is refused for now when as many run as may, and nothing is remembered of it', async () => {
    const { host, enclave, posts, directory } = await setUp({}, { env: { MAX_RUNS: '1' } })
    await enclave.plan({ any: [{ outcome: 'placed', untilFile: `${directory}/go` }] })
    await offer(host.url, await orderJob())
    const job = await orderJob({ orderId: bytes32('another') })
    expect(await offer(host.url, job)).toMatchObject({ status: 429, answer: { code: 'too-many-runs' } })
    await writeFile(`${directory}/go`, '')
    await posted(posts)
    expect((await offer(host.url, job)).answer).toEqual({ runId: job.runId, result: 'accepted' })
  })
})

describe('a run', () => {
  test.each<[string, Step, object]>([
    ['exits without a result', { exit: 3 }, { outcome: 'failed', code: 'no-result' }],
    ['leaves what is no result', { act: 'garbage' }, { outcome: 'failed', code: 'garbage' }],
    ['prints two megabytes', { act: 'babble', outcome: 'done' }, { outcome: 'done' }],
  ])('that %s', async (_what, step, result) => {
    const { host, posts } = await setUp(step)
    await offer(host.url, await orderJob())
    await posted(posts)
    expect(posts[0]?.result).toEqual(result)
  })

  test('that cannot be started', async () => {
    const { host, posts } = await setUp({}, { env: { ENCLAVE_COMMAND: '/no/such/program' } })
    await offer(host.url, await orderJob())
    await posted(posts)
    expect(posts[0]?.result).toEqual({ outcome: 'failed', code: 'not-started' })
  })

  test('that hangs is stopped at stopAt, and the notice that it left is posted', async () => {
    const notice = await sealOrder('why')
    const { host, posts, enclave } = await setUp({ act: 'hang', early: { outcome: 'failed', notice } })
    await offer(host.url, await orderJob({ seconds: 2 }))
    await posted(posts)
    expect(posts[0]?.result).toEqual({ outcome: 'failed', code: 'out-of-time', notice })
    expect((await enclave.notes()).map(({ event }) => event)).toEqual(['started', 'SIGTERM'])
  })

  test('outlives its host, and the next one posts its result', async () => {
    const { host, enclave, posts, directory, start, records } = await setUp({})
    await enclave.plan({ any: [{ outcome: 'settled', untilFile: `${directory}/go` }] })
    const job = await orderJob()
    await offer(host.url, job)
    await eventually('the run', async () => (await enclave.notes()).length > 0)
    await host.stop()
    const run = await records.get(job.runId)
    expect(run?.process && isRunning(run.process)).toBe(true)
    const second = await start()
    const again = await offer(second.url, await orderJob())
    expect(again).toMatchObject({ status: 409, answer: { code: 'order-under-way' } })
    await writeFile(`${directory}/go`, '')
    await posted(posts)
    expect(posts).toEqual([{ runId: job.runId, isSigned: true, result: { outcome: 'settled' } }])
    expect(await enclave.jobs()).toHaveLength(1)
  })
})

describe('a result', () => {
  test('is posted until the server has taken it', async () => {
    let failures = 0
    const { host, posts } = await setUp({ outcome: 'done' }, { status: () => (++failures <= 2 ? 503 : 200) })
    await offer(host.url, await orderJob())
    await posted(posts, 3)
    expect(new Set(posts.map((post) => JSON.stringify(post))).size).toBe(1)
  })

  test('that no server took is posted by the next host', async () => {
    let isDown = true
    const { host, posts, start } = await setUp({ outcome: 'done' }, { status: () => (isDown ? 503 : 200) })
    await offer(host.url, await orderJob())
    await posted(posts)
    await host.stop()
    isDown = false
    const before = posts.length
    await start()
    await posted(posts, before + 1)
  })

  test('is forgotten long after its time', async () => {
    const { host, start, records } = await setUp({})
    await host.stop()
    const job = await orderJob()
    const stopAt = Math.floor(Date.now() / 1_000) - 3_600
    const result = { outcome: 'done' } as const
    await records.put({ runId: job.runId, orderId: null, stopAt, process: null, result })
    await start()
    await eventually('it is gone', async () => (await records.all()).length === 0)
  })
})
