import { expect, test } from 'vitest'
import { createTriggerRateLimit } from '../../../src/server/trigger/rateLimit.js'
import { createSealedJobs, type JobSender } from '../../../src/server/trigger/sealedJobs.js'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'

type SealedJobsOptions = Parameters<typeof createSealedJobs>[0]

/** Rulebooks whose runs never end. */
function setUp(rateLimit: SealedJobsOptions['rateLimit']) {
  let started = 0
  const runs = createSealedJobs({
    runs: {
      start() {
        started++
        return new Promise<never>(() => undefined)
      },
    },
    rateLimit,
    timeoutMs: 60_000,
    stopping: new AbortController().signal,
  })
  const offer = async (content: string, sender: JobSender) => runs.run(await sealOrder(content), sender)
  return { runs, offer, started: () => started }
}

const institution = (name: string): JobSender => ({ institution: bytes32(name) })

test('one at a time stands in the line for a turn, so that orders get every second one', async () => {
  const turns: (() => void)[] = []
  const { offer, started } = setUp({
    acquire: () => new Promise((resolve) => turns.push(() => resolve(true))),
  })
  for (const name of ['1', '2']) void offer(name, institution(name))
  await eventually('one in the line', () => turns.length > 0)
  expect(turns).toHaveLength(1)
  turns[0]?.()
  await eventually('the other one in the line', () => turns.length > 1)
  expect(started()).toBe(1)
  turns[1]?.()
  await eventually('its run', () => started() === 2)
})

test('the same envelope joins its run only for the same sender', async () => {
  const { runs, started } = setUp(createTriggerRateLimit(0))
  const envelope = await sealOrder('a rulebook')
  for (const sender of [institution('one'), institution('one'), { client: 'a' }, { client: 'a' }]) {
    void runs.run(envelope, sender)
  }
  await eventually('one run of each', () => started() === 2)
  expect(runs.waiting()).toEqual({ signed: 0, unsigned: 0 })
})
