import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Job, type PostedResult, RESTARTED, type RunResult } from '../../../src/protocol/job.js'
import { createRunRecords } from '../../../src/server/store/runRecords.js'
import { createTriggerRateLimit, type TriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'
import type { EnclaveRunner } from '../../../src/server/trigger/runner.js'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { CLOSED_URL } from '../../support/rawServer.js'
import { type DoorStep, startScriptedDoor } from '../../support/scriptedDoor.js'
import { RUN_SECRET } from '../../support/serverEnvironment.js'
import { storedRows } from '../../support/storedRows.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { OFFER_TIMES, startHttpRunner } from '../../support/triggerHarness.js'

const SETTLED: RunResult = { outcome: 'settled' }
/** Seconds for a run whose last call may be a moment old. */
const HALF_A_MINUTE = 30

async function setUp(
  steps: DoorStep[],
  options: { url?: string | null; rateLimit?: TriggerRateLimit; seconds?: number } = {},
) {
  const root = await temporaryDirectory()
  const door = await startScriptedDoor(steps)
  const { logger, text } = createLogLines()
  const runRecords = createRunRecords({ ...(await openStores(root)), logger })
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const server = (rateLimit: TriggerRateLimit = createTriggerRateLimit(0)) =>
    startHttpRunner({
      async url() {
        if (options.url === null) throw new Error('neither is in force')
        return options.url ?? door.url
      },
      ...{ runRecords, rateLimit, stopping: stopping.signal, logger },
    })
  const runId = randomUUID()
  const stopAt = Math.floor(Date.now() / 1_000) + (options.seconds ?? 60)
  await runRecords.create({ job: 'policy', runId, startedAt: new Date().toISOString(), stopAt })
  const envelope = await sealOrder('secret')
  const job: Job = { job: 'order', runId, stopAt, orderId: bytes32('an order'), envelope }
  return { door, runRecords, job, root, logText: text, server, runner: server(options.rateLimit) }
}

/** Starts a run that is noted already. */
const begin = (runner: EnclaveRunner, job: Job, over?: AbortSignal) =>
  runner.run(job, { startedAt: new Date().toISOString(), stopAt: job.stopAt }, over)

/** A run as a row of an earlier server has it. */
const earlier = ({ runId, stopAt }: Job) => ({ runId, startedAt: new Date(0).toISOString(), stopAt })

/** Whether it has come to an end by now. */
async function hasEnded(end: Promise<unknown>): Promise<boolean> {
  return Promise.race([end.then(() => true), new Promise<false>((resolve) => setTimeout(resolve, 0, false))])
}

describe('a run', () => {
  test.each<[string, DoorStep[]]>([
    ['lost', ['lose', 'lose', 202]],
    ['one of a gateway', [502, 504, 202]],
    ['no more than that it took too long', [408, 202]],
  ])(
    'is offered again as the same run when the answer is %s, and goes on during that',
    async (_what, steps) => {
      const { door, runner, job } = await setUp(steps)
      const end = begin(runner, job)
      await eventually('all offers', () => door.offers.length === steps.length)
      expect(new Set(door.offers.map(({ body }) => body.runId))).toEqual(new Set([job.runId]))
      expect(door.offers.every(({ isSigned }) => isSigned)).toBe(true)
      expect(await hasEnded(end)).toBe(false)
      await runner.receiveResult(job.runId, SETTLED)
      expect((await end).result).toEqual(SETTLED)
    },
  )

  test.each<DoorStep>([400, 401, 404, 409, 422, 429, 'redirect'])(
    'has not started when its offer is refused (%s)',
    async (step) => {
      const { door, runner, job } = await setUp([step])
      expect(await begin(runner, job)).toEqual({
        how: 'not-started',
        result: null,
      })
      expect(door.offers).toHaveLength(1)
    },
  )

  test('has not started where none of two enclaves is in force', async () => {
    const { runner, job, door } = await setUp([202], { url: null })
    expect((await begin(runner, job)).how).toBe('not-started')
    expect(door.offers).toEqual([])
  })

  test('has not started where no enclave listens, for as long as one may take to start again', async () => {
    const { runner, job } = await setUp([], { url: CLOSED_URL })
    const from = performance.now()
    expect((await begin(runner, job)).how).toBe('not-started')
    expect(performance.now() - from).toBeGreaterThanOrEqual(OFFER_TIMES.absentMs)
  })

  test('goes on after a refusal when an earlier offer may have been taken, and nothing secret is logged', async () => {
    const { door, runner, job, logText } = await setUp(['lose', 401])
    const end = begin(runner, job)
    await eventually('the refusals', () => door.offers.length > 2)
    expect(await hasEnded(end)).toBe(false)
    await runner.receiveResult(job.runId, SETTLED)
    expect((await end).result).toEqual(SETTLED)
    expect(logText()).toContain('job not accepted')
    for (const secret of [door.url, RUN_SECRET, JSON.stringify(door.offers[0]?.body.envelope)])
      expect(logText()).not.toContain(secret)
  })

  test('holds every other run back for as long as its refusal says', async () => {
    const held: number[] = []
    const rateLimit = { ...createTriggerRateLimit(0), pauseFor: (ms: number) => held.push(ms) }
    const { runner, job } = await setUp([429], { rateLimit })
    expect((await begin(runner, job)).how).toBe('not-started')
    expect(held).toEqual([1_000])
  })
})

describe('a result', () => {
  test('is on disk when it is answered, and the next server has it', async () => {
    const { runRecords, job, runner, server } = await setUp([202])
    expect(await runner.receiveResult(job.runId, SETTLED)).toBe('received')
    expect((await runRecords.get(job.runId))?.result).toEqual(SETTLED)
    expect((await server().attach(earlier(job))).result).toEqual(SETTLED)
  })

  test('is not awaited for longer when the clock was set back since its run began', async () => {
    const { job, runner } = await setUp([202])
    const startedAt = Date.now() + 3_600_000
    const stopAt = Math.floor(startedAt / 1_000) - HALF_A_MINUTE
    const run = { runId: job.runId, startedAt: new Date(startedAt).toISOString(), stopAt }
    expect((await runner.attach(run)).how).toBe('timeout')
  })

  test('changes nothing when it is posted again, or another one after it', async () => {
    const { runner, job, runRecords, root } = await setUp([202])
    const end = begin(runner, job)
    const posts = [SETTLED, SETTLED, { outcome: 'failed' } as const].map((result) =>
      runner.receiveResult(job.runId, result),
    )
    expect(await Promise.all(posts)).toEqual(['received', 'received', 'received'])
    expect((await end).result).toEqual(SETTLED)
    await runRecords.remove(job.runId)
    expect(await runner.receiveResult(job.runId, { outcome: 'failed' })).toBe('not-awaited')
    expect(storedRows(root, 'runs')).toEqual([])
  })
})

describe('a run of an earlier server, offered again', () => {
  const taker = { instance: randomUUID(), boot: 3 }

  async function adopted(steps: DoorStep[], change: object = {}) {
    const setting = await setUp(steps)
    const { runner, job, runRecords } = setting
    await runRecords.change(job.runId, (run) => ({ ...run, ...change }))
    const over = new AbortController()
    const end = runner.attach(earlier(job), over.signal)
    return { ...setting, over, end }
  }

  test.each<[string, object | 'removed']>([
    ['an enclave is known to have it', { enclave: taker }],
    ['its result is there', { result: SETTLED }],
    ['its row is gone, as it has ended', 'removed'],
  ])('is not offered where %s', async (_what, change) => {
    const { runner, job, door, runRecords } = await adopted([202], change === 'removed' ? {} : change)
    if (change === 'removed') await runRecords.remove(job.runId)
    runner.offerAgain(job)
    await sleep(100)
    expect(door.offers).toEqual([])
  })

  test.each<DoorStep>([401, 409, 429, 'lose'])(
    'may have been taken, so that %s is no end, and is offered on',
    async (step) => {
      const { runner, job, door, end } = await adopted([step, step, 202])
      runner.offerAgain(job)
      await eventually('all offers', () => door.offers.length === 3)
      expect(await hasEnded(end)).toBe(false)
      await runner.receiveResult(job.runId, SETTLED)
      expect((await end).result).toEqual(SETTLED)
    },
  )

  test('is offered no more once another server follows it', async () => {
    const { runner, job, door, over } = await adopted(['lose'])
    runner.offerAgain(job)
    await eventually('an offer', () => door.offers.length > 0)
    over.abort()
    await sleep(100)
    const { length } = door.offers
    await sleep(100)
    expect(door.offers).toHaveLength(length)
  })
})

describe('a run that an enclave has taken', () => {
  const taker = { instance: randomUUID(), boot: 3 }
  const restarted = (enclave: PostedResult['enclave']): PostedResult => ({
    outcome: 'failed',
    code: RESTARTED,
    ...(enclave && { enclave }),
  })

  async function taken() {
    const setting = await setUp([{ ...taker, result: 'accepted' }])
    const end = begin(setting.runner, setting.job)
    await eventually('the note of it', async () => (await setting.runRecords.get(setting.job.runId))?.enclave)
    return { ...setting, end }
  }

  test.each<[string, PostedResult]>([
    ['another instance says so', restarted({ instance: randomUUID(), boot: 9 })],
    ['the boot that runs it says so', restarted(taker)],
    [
      'another instance, which got a lost offer of it, has ended its own',
      { outcome: 'settled', enclave: { instance: randomUUID(), boot: 1 } },
    ],
  ])('is not over when %s', async (_what, posted) => {
    const { runner, job, end } = await taken()
    expect(await runner.receiveResult(job.runId, posted)).toBe('not-awaited')
    expect(await hasEnded(end)).toBe(false)
    expect(await runner.receiveResult(job.runId, { ...SETTLED, enclave: taker })).toBe('received')
    expect((await end).result).toEqual(SETTLED)
  })

  test('and whose answer was lost is over when the next boot says so, also after that boot has answered', async () => {
    const next = { ...taker, boot: taker.boot + 1 }
    const { runner, job, runRecords } = await setUp(['lose', { ...next, result: 'already-accepted' }])
    const end = begin(runner, job)
    await eventually('the note of it', async () => (await runRecords.get(job.runId))?.enclave)
    expect(await runner.receiveResult(job.runId, restarted(next))).toBe('received')
    expect((await end).result).toEqual({ outcome: 'failed', code: RESTARTED })
  })
})

describe('a notice', () => {
  test('is in the row when it is answered, ends nothing, and belongs to the failure that follows', async () => {
    const { runner, job, runRecords } = await setUp([202])
    const end = begin(runner, job)
    const notice = await sealOrder('why')
    expect(await runner.receiveNotice(job.runId, { notice })).toBe('received')
    expect((await runRecords.get(job.runId))?.provisional).toEqual({ notice })
    expect(await hasEnded(end)).toBe(false)
    await runner.receiveResult(job.runId, { outcome: 'failed', code: RESTARTED })
    expect((await end).result).toEqual({ outcome: 'failed', code: RESTARTED, notice })
    expect(await runner.receiveNotice(job.runId, { notice })).toBe('not-awaited')
  })

  test('a notice is the outcome of a run that posts nothing more, and is ignored of one that settled', async () => {
    const late = await setUp(['lose'], { seconds: -HALF_A_MINUTE + 2 })
    const notice = await sealOrder('why')
    const end = begin(late.runner, late.job)
    expect(await late.runner.receiveNotice(late.job.runId, { notice })).toBe('received')
    expect(await end).toEqual({ how: 'timeout', result: { outcome: 'failed', notice } })

    const settled = await setUp([202])
    const ending = begin(settled.runner, settled.job)
    await settled.runner.receiveNotice(settled.job.runId, { notice })
    await settled.runner.receiveResult(settled.job.runId, SETTLED)
    expect((await ending).result).toEqual(SETTLED)
  })
})
