import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { runFaultBench } from './support/bench.js'
import { KILLS } from './support/kinds.js'
import { createPlan } from './support/plan.js'

// The short form: every kind of fault and of kill, each a few times. `npm run test:soak` is the long one.
const SIZE = {
  authorizations: 45,
  kills: KILLS.length,
  rounds: { reads: 1, sends: 1, spells: 1, chain: 1 },
  calmness: 1,
}
/** For a machine that others use. */
const TIMEOUT_MS = 400_000

test('through faults and kills every authorization has one effect, and a true receipt', {
  retry: 0,
  timeout: TIMEOUT_MS,
}, async () => {
  const plan = createPlan({ seed: 7, ...SIZE })
  const report = await runFaultBench({ plan, directory: await temporaryDirectory(), print: () => undefined })
  expect(report.violations).toEqual([])
  expect(Object.keys(report.kills).toSorted()).toEqual([...KILLS].toSorted())
  expect(Object.entries(report.struck).filter(([, times]) => times === 0)).toEqual([])
  expect(report.transactions.effects).toBeGreaterThan(SIZE.authorizations / 2)
  expect(report.filled.unknown).toBeGreaterThan(0)
  expect(report.filled.refused).toBeGreaterThan(0)
})

test('the same seed makes the same plan, another one another', () => {
  expect(createPlan({ seed: 7, ...SIZE })).toEqual(createPlan({ seed: 7, ...SIZE }))
  expect(createPlan({ seed: 8, ...SIZE })).not.toEqual(createPlan({ seed: 7, ...SIZE }))
})
