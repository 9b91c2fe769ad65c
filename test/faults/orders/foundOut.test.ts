import { expect, test } from 'vitest'
import { createOrderPlan } from './plan.js'
import { runShort } from './shortRun.js'

// What a server must not do, and that the census says so when it does.
const NONE = { store: 0, deaths: 0, stops: 0, world: 0, reorgs: 0 }

// The kill has to fall between two steps. On a busy machine it may miss them, which says nothing of the census.
test('a server that starts a run which nobody knows of after its death is found out', {
  retry: 2,
}, async () => {
  const plan = createOrderPlan({ seed: 7, orders: 4, kills: 1, faults: NONE })
  const lives = plan.lives.map((life) => ({
    ...life,
    kill: { kind: 'run-started', nth: 1, afterMs: 0 } as const,
  }))
  const { violations } = await runShort(
    { ...plan, lives },
    { variables: { FAULTS_LOSE: 'runs' }, patienceMs: 10_000 },
  )
  expect(violations.join('\n')).toContain(' was offered beside 0x')
})

test('an enclave that forgets which runs it took is found out', { retry: 2 }, async () => {
  const plan = createOrderPlan({ seed: 7, orders: 2, kills: 1, faults: NONE })
  const lives = plan.lives.map((life) => ({
    ...life,
    kill: { kind: 'random', nth: 1, afterMs: 5_000 } as const,
    acts: [{ step: 'before-write-ahead', afterMs: 0, stopMs: 0 } as const],
  }))
  const { violations } = await runShort(
    { ...plan, lives },
    { variables: { FAULTS_FORGET: 'yes' }, patienceMs: 10_000 },
  )
  expect(violations.join('\n')).toContain('1 runs of a killed enclave are not over')
})

test('a server that answers before it has stored is found out', { retry: 0 }, async () => {
  const plan = createOrderPlan({ seed: 7, orders: 2, kills: 1, faults: NONE })
  const { violations } = await runShort(plan, {
    variables: { FAULTS_LOSE: 'orders' },
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
