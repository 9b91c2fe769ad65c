import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { type OrderBenchOptions, runOrderBench } from './bench.js'
import { KILLS } from './kinds.js'
import { createOrderPlan, type OrderPlan } from './plan.js'

// The short form: every kind of kill once, and a few of everything else. `npm run test:soak -- orders` is the long one.
const SIZE = { orders: 7, kills: KILLS.length, faults: { files: 2, acts: 2, slowActs: 0, world: 3 } }
/** A kill at the wrong moment costs two minutes by design: see the decision record. */
const TIMEOUT_MS = 400_000
const NONE = { files: 0, acts: 0, slowActs: 0, world: 0 }

const run = async (plan: OrderPlan, options: Partial<OrderBenchOptions> = {}) =>
  runOrderBench({
    plan,
    directory: await temporaryDirectory(),
    print: () => undefined,
    mayMount: false,
    ...options,
  })

test(
  'through faults and kills every order that was taken ends once, and the money adds up',
  async () => {
    const report = await run(createOrderPlan({ seed: 7, ...SIZE }))
    expect(report.violations).toEqual([])
    expect(report.orders).toMatchObject({ placed: SIZE.orders, accepted: SIZE.orders })
    expect(report.orders.settled + report.orders.refunded).toBe(SIZE.orders)
  },
  TIMEOUT_MS,
)

test('a server that starts a run which nobody knows of after its death is found out', async () => {
  const plan = createOrderPlan({ seed: 7, orders: 4, kills: 1, faults: NONE })
  const lives = plan.lives.map((life) => ({
    ...life,
    kill: { kind: 'run-started', nth: 1, afterMs: 0 } as const,
    acts: [{ act: 'hang', afterMs: 0 } as const],
  }))
  const { violations } = await run(
    { ...plan, lives },
    { variables: { FAULTS_LOSE: '/runs/' }, patienceMs: 3_000 },
  )
  expect(violations.join('\n')).toContain(' ran beside 0x')
})

test('a server that answers before it has stored is found out', async () => {
  const plan = createOrderPlan({ seed: 7, orders: 2, kills: 1, faults: NONE })
  const { violations } = await run(plan, { variables: { FAULTS_LOSE: '/envelopes/' }, patienceMs: 3_000 })
  expect(violations.join('\n')).toContain('orders do not end')
})

test('the same seed makes the same plan, another one another', () => {
  expect(createOrderPlan({ seed: 7, ...SIZE })).toEqual(createOrderPlan({ seed: 7, ...SIZE }))
  expect(createOrderPlan({ seed: 8, ...SIZE })).not.toEqual(createOrderPlan({ seed: 7, ...SIZE }))
})
