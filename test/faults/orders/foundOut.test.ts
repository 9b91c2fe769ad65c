import { expect, test } from 'vitest'
import { createOrderPlan } from './plan.js'
import { runShort } from './shortRun.js'

// What a server must not do, and that the census says so when it does.
const NONE = { files: 0, acts: 0, slowActs: 0, world: 0, reorgs: 0 }

test('a server that starts a run which nobody knows of after its death is found out', {
  retry: 0,
}, async () => {
  const plan = createOrderPlan({ seed: 7, orders: 4, kills: 1, faults: NONE })
  const lives = plan.lives.map((life) => ({
    ...life,
    kill: { kind: 'run-started', nth: 1, afterMs: 0 } as const,
    acts: [{ act: 'hang', afterMs: 0 } as const],
  }))
  const { violations } = await runShort(
    { ...plan, lives },
    { variables: { FAULTS_LOSE: '/runs/' }, patienceMs: 3_000 },
  )
  expect(violations.join('\n')).toContain(' ran beside 0x')
})

test('a server that answers before it has stored is found out', { retry: 0 }, async () => {
  const plan = createOrderPlan({ seed: 7, orders: 2, kills: 1, faults: NONE })
  const { violations } = await runShort(plan, {
    variables: { FAULTS_LOSE: '/envelopes/' },
    patienceMs: 3_000,
  })
  expect(violations.join('\n')).toContain('orders do not end')
})

test('a server that cannot start is found out', { retry: 0 }, async () => {
  const plan = createOrderPlan({ seed: 7, orders: 2, kills: 1, faults: NONE })
  const { violations } = await runShort(plan, {
    variables: { CHAIN_ID: 'none' },
    patienceMs: 3_000,
  })
  expect(violations.join('\n')).toContain('in 1 lives no server could start')
})
