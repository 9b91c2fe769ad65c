import { expect, test } from 'vitest'
import { createPace } from '../../../src/server/trigger/pace.js'
import { createPolicyRuns } from '../../../src/server/trigger/policyRuns.js'
import { eventually } from '../../support/eventually.js'
import { sealOrder } from '../../support/intakeServer.js'

type PolicyRunsOptions = Parameters<typeof createPolicyRuns>[0]

/** Rulebooks whose runs never end. */
function setUp(pace: PolicyRunsOptions['pace']) {
  let started = 0
  const runs = createPolicyRuns({
    runs: {
      start() {
        started++
        return new Promise<never>(() => undefined)
      },
    },
    pace,
    timeoutMs: 60_000,
    stopping: new AbortController().signal,
  })
  return { runs, started: () => started }
}

test('one at a time stands in the line for a turn, so that orders get every second one', async () => {
  const turns: (() => void)[] = []
  const { runs, started } = setUp({
    take: () => new Promise((resolve) => turns.push(() => resolve(true))),
  })
  for (const content of ['1', '2']) void runs.run(await sealOrder(content))
  await eventually('one in the line', () => turns.length > 0)
  expect(turns).toHaveLength(1)
  turns[0]?.()
  await eventually('the other one in the line', () => turns.length > 1)
  expect(started()).toBe(1)
  turns[1]?.()
  await eventually('its run', () => started() === 2)
})

test('says so at once when two run and sixteen wait', async () => {
  const { runs, started } = setUp(createPace(0))
  const envelopes = await Promise.all(Array.from({ length: 19 }, (_, n) => sealOrder(`${n}`)))
  const ends = envelopes.map((envelope) => runs.run(envelope))
  expect(await Promise.race(ends)).toEqual({ how: 'too-many-waiting' })
  await eventually('two runs', () => started() === 2)
  expect(runs.waiting()).toBe(16)
})
