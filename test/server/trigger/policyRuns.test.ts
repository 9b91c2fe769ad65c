import { expect, test } from 'vitest'
import { createPace } from '../../../src/server/trigger/pace.js'
import { createPolicyRuns } from '../../../src/server/trigger/policyRuns.js'
import { sealOrder } from '../../support/intakeServer.js'

test('says so at once when two run and sixteen wait', async () => {
  let started = 0
  const runs = createPolicyRuns({
    runs: {
      start() {
        started++
        return new Promise<never>(() => undefined)
      },
    },
    pace: createPace(0),
    timeoutMs: 60_000,
    stopping: new AbortController().signal,
  })
  const envelopes = await Promise.all(Array.from({ length: 19 }, (_, n) => sealOrder(`${n}`)))
  const ends = envelopes.map((envelope) => runs.run(envelope))
  expect(await Promise.race(ends)).toEqual({ how: 'too-many-waiting' })
  expect(started).toBe(2)
  expect(runs.waiting()).toBe(16)
})
