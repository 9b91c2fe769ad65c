import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { runFaultBench } from './support/bench.js'
import { createPlan } from './support/plan.js'

const rounds = { reads: 0, sends: 0, spells: 0, chain: 0 }

test('a relay that sends before it saves is found out', { retry: 0 }, async () => {
  const plan = createPlan({ seed: 7, authorizations: 12, kills: 1, rounds, calmness: 1 })
  const lives = plan.lives.map((life) => ({ ...life, kill: { kind: 'sent', nth: 1, afterMs: 0 } as const }))
  const { violations } = await runFaultBench({
    plan: { ...plan, lives },
    directory: await temporaryDirectory(),
    print: () => undefined,
    sendsFirst: true,
    patienceMs: 2_000,
  })
  expect(violations.join('\n')).toContain('sent before it was saved')
  // Whoever forgets what it sent can't say by what the effect came about.
  expect(violations.join('\n')).toContain('the receipt says by somebody else, the chain by 0x')
})

test('a relay that does not save its no-op transactions is found out', { retry: 0 }, async () => {
  const plan = createPlan({ seed: 7, authorizations: 20, kills: 1, rounds, calmness: 1 })
  const sends = [{ kind: 'unwanted', after: 2, times: 1, amount: 0 } as const]
  const { violations } = await runFaultBench({
    plan: { ...plan, sends },
    directory: await temporaryDirectory(),
    print: () => undefined,
    losesNoOps: true,
    patienceMs: 2_000,
  })
  expect(violations.join('\n')).toContain('a no-op, sent before it was saved')
})
