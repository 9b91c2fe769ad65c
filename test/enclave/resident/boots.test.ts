// Which earlier runs a new process may call over: those of its own state directory, whose lock it holds. Real processes, which
// are killed, paused and doubled.
import { cp, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { RESTARTED } from '../../../src/protocol/job.js'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'
import { offer, orderJob, startResultServer } from '../../support/residentHarness.js'
import { type ResidentStep, startResidentProcess } from '../../support/residentProcess.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

async function setUp(step: ResidentStep) {
  const directory = await temporaryDirectory()
  const server = await startResultServer()
  const start = (changes: { plan?: Record<string, ResidentStep[]>; stateDirectory?: string } = {}) =>
    startResidentProcess({ directory, serverUrl: server.url, plan: { any: [step] }, ...changes })
  return { directory, server, start }
}

const takesNoJob = (url = '') =>
  eventually('no listener', () =>
    fetch(`${url}/health`).then(
      () => false,
      () => true,
    ),
  )

/** How many runs these are of: a post whose answer was late comes again. */
const countRuns = (posts: readonly { runId: string }[]) => new Set(posts.map(({ runId }) => runId)).size

/** Offers jobs of so many orders, and waits until they are under way. */
async function offerBurst(url: string | undefined, count: number) {
  const jobs = await Promise.all(
    Array.from({ length: count }, (_, index) => orderJob({ orderId: bytes32(`order ${index}`) })),
  )
  const answers = await Promise.all(jobs.map((job) => offer(url ?? '', job)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  return jobs
}

test('an enclave that is killed in the middle of a burst: the next boot says at once that every run is over, and takes their orders again', async () => {
  const notice = await sealOrder('why')
  const { server, start } = await setUp({ early: { outcome: 'failed', notice }, act: 'hang' })
  const first = await start()
  const jobs = await offerBurst(first.url, 50)
  await eventually('every notice', () => countRuns(server.posts) === 50)
  await first.kill()
  const second = await start({ plan: { any: [{ outcome: 'settled' }] } })
  await eventually('every result', () => countRuns(server.results()) === 50)
  expect(new Set(server.results().map(({ runId }) => runId))).toEqual(new Set(jobs.map(({ runId }) => runId)))
  for (const { body } of server.results()) {
    expect(body).toMatchObject({ outcome: 'failed', code: RESTARTED, enclave: { boot: 2 } })
  }
  // The same run is over; a new one is taken.
  const [job] = jobs
  if (job === undefined) throw new Error('no job')
  await eventually('its result, again', async () => {
    // An offer during the first delivery brings about no second one.
    const { answer } = await offer(second.url ?? '', job)
    expect(answer).toMatchObject({ result: 'already-accepted', boot: 2 })
    return server.results().filter(({ runId }) => runId === job.runId).length > 1
  })
  await offerBurst(second.url, 50)
  await eventually('their results', () => countRuns(server.results()) === 100)
})

test('an enclave that is paused: no other process gets its directory, and its runs go on where they were', async () => {
  const { directory, server, start } = await setUp({})
  const step = { outcome: 'settled', untilFile: `${directory}/go` }
  const first = await start({ plan: { any: [step] } })
  const [job] = await offerBurst(first.url, 1)
  first.signal('SIGSTOP')
  const second = await start()
  expect([second.url, second.lines]).toEqual([undefined, ['locked']])
  expect(server.posts).toEqual([])
  await writeFile(`${directory}/go`, '')
  first.signal('SIGCONT')
  await eventually('the result', () => server.results().length === 1)
  expect(server.results()[0]).toMatchObject({
    runId: job?.runId,
    body: { outcome: 'settled', enclave: { boot: 1 } },
  })
})

test('a copy of the directory is another enclave, which says nothing of the runs', async () => {
  const { directory, server, start } = await setUp({ act: 'hang' })
  const first = await start()
  const [job] = await offerBurst(first.url, 1)
  await cp(`${directory}/state`, `${directory}/copy`, { recursive: true })
  const copy = await start({ stateDirectory: `${directory}/copy` })
  await sleep(500)
  expect(server.posts).toEqual([])
  expect((await offer(copy.url ?? '', job ?? (await orderJob()))).answer).toMatchObject({ boot: 1 })
})

test.each(['reject', 'crash'] as const)(
  'a failure that nothing caught (%s): no further job is taken, the other runs end, their results are posted, and the process ends with 1',
  async (act) => {
    const { directory, server, start } = await setUp({})
    const enclave = await start({
      plan: {
        [bytes32('order 0')]: [{ act, outcome: 'done' }],
        [bytes32('order 1')]: [{ outcome: 'settled', untilFile: `${directory}/go` }],
      },
    })
    await offerBurst(enclave.url, 2)
    await takesNoJob(enclave.url)
    await writeFile(`${directory}/go`, '')
    expect(await enclave.exited).toBe(1)
    expect(new Set(server.results().map(({ body }) => body.outcome))).toEqual(new Set(['done', 'settled']))
    expect(enclave.lines.filter((line) => line.includes('uncaught failure'))).toHaveLength(1)
    expect(enclave.lines.join()).not.toContain('as the script says')
    // What supervises it starts the next one.
    const next = await start({ plan: { any: [{ outcome: 'settled' }] } })
    await offerBurst(next.url, 1)
  },
)

test('SIGTERM: no further job is taken, the runs end, their results are posted, and the process ends with 0', async () => {
  const { directory, server, start } = await setUp({})
  const enclave = await start({ plan: { any: [{ outcome: 'settled', untilFile: `${directory}/go` }] } })
  await offerBurst(enclave.url, 2)
  enclave.signal('SIGTERM')
  await takesNoJob(enclave.url)
  expect(server.posts).toEqual([])
  const ended = enclave.kill('SIGCONT')
  await writeFile(`${directory}/go`, '')
  await ended
  expect(server.results().map(({ body }) => body.outcome)).toEqual(['settled', 'settled'])
})
