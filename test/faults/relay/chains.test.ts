import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createRelayPlan } from './plan.js'
import { runRelayStorm } from './storm.js'

test('a chain without a base fee that is reset gets transactions of type 0, and all effects again', async () => {
  const plan = createRelayPlan({
    seed: 7,
    authorizations: 20,
    kills: 1,
    rounds: { reads: 0, sends: 0, spells: 0, chain: 1 },
    calmness: 1,
    resets: ['down', 'up'],
  })
  const kill = { kind: 'ended', nth: 1, afterMs: 0 } as const
  const report = await runRelayStorm({
    plan: { ...plan, lives: plan.lives.map((life) => ({ ...life, kill })) },
    directory: await temporaryDirectory(),
    isLegacy: true,
    lifeLimitMs: 60_000,
  })
  expect(report.violations.join('\n')).toBe('')
  expect(report.transactions.effects).toBeGreaterThan(10)
  // Confirmed before the chain began anew, and posted again.
  expect(report.takenBack).toBeGreaterThan(0)
})
