import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { type BenchOptions, runFaultBench } from './support/bench.js'
import { KILLS } from './support/kinds.js'
import { createPlan, type Plan } from './support/plan.js'

// The short form: every kind of fault and of kill, each a few times. `npm run test:soak` is the long one.
const SIZE = {
  authorizations: 60,
  kills: KILLS.length,
  rounds: { reads: 1, sends: 1, chain: 1 },
  calmness: 1,
}
const QUIET = { reads: 0, sends: 0, chain: 0 }

const run = async (plan: Plan, options: Pick<BenchOptions, 'sendsFirst' | 'patienceMs'> = {}) =>
  runFaultBench({ plan, directory: await temporaryDirectory(), print: () => undefined, ...options })

test('through faults and kills every authorization has one effect, and a true receipt', async () => {
  const report = await run(createPlan({ seed: 7, ...SIZE }))
  expect(report.violations).toEqual([])
  expect(Object.keys(report.kills).toSorted()).toEqual([...KILLS].toSorted())
  expect(Object.entries(report.struck).filter(([, times]) => times === 0)).toEqual([])
  expect(report.transactions.effects).toBeGreaterThan(SIZE.authorizations / 2)
})

test('a relay that sends before it saves is found out', async () => {
  const plan = createPlan({ ...SIZE, seed: 7, authorizations: 12, kills: 1, rounds: QUIET })
  const lives = plan.lives.map((life) => ({ ...life, kill: { kind: 'sent', nth: 1, afterMs: 0 } as const }))
  const { violations } = await run({ ...plan, lives }, { sendsFirst: true, patienceMs: 2_000 })
  expect(violations.join('\n')).toContain('sent before it was saved')
  // Whoever forgets what it sent can't say by what the effect came about.
  expect(violations.join('\n')).toContain('the receipt says by somebody else, the chain by 0x')
})

test('the same seed makes the same plan, another one another', () => {
  expect(createPlan({ seed: 7, ...SIZE })).toEqual(createPlan({ seed: 7, ...SIZE }))
  expect(createPlan({ seed: 8, ...SIZE })).not.toEqual(createPlan({ seed: 7, ...SIZE }))
})
