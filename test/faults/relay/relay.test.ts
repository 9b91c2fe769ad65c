import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createRelayPlan, KILLS } from './plan.js'
import { runRelayStorm } from './storm.js'

// The short form: every kind of fault and of kill, each a few times. `npm run test:soak` is the long one.
const SIZE = {
  authorizations: 45,
  kills: KILLS.length,
  rounds: { reads: 1, sends: 1, spells: 1, chain: 1 },
  calmness: 1,
}
/** Long enough for a machine that others use. */
const TIMEOUT_MS = 400_000

test('through faults and kills every authorization has one effect, and a true receipt', {
  timeout: TIMEOUT_MS,
}, async () => {
  const plan = createRelayPlan({ seed: 7, ...SIZE })
  const report = await runRelayStorm({ plan, directory: await temporaryDirectory() })
  expect(report.violations.join('\n')).toBe('')
  expect(Object.keys(report.kills).toSorted()).toEqual([...KILLS].toSorted())
  expect(Object.entries(report.struck).filter(([, times]) => times === 0)).toEqual([])
  expect(report.transactions.effects).toBeGreaterThan(SIZE.authorizations / 2)
  expect(report.filled.unknown).toBeGreaterThan(0)
  expect(report.filled.refused).toBeGreaterThan(0)
})

test('the same seed makes the same plan, another one another', () => {
  expect(createRelayPlan({ seed: 7, ...SIZE })).toEqual(createRelayPlan({ seed: 7, ...SIZE }))
  expect(createRelayPlan({ seed: 8, ...SIZE })).not.toEqual(createRelayPlan({ seed: 7, ...SIZE }))
})
