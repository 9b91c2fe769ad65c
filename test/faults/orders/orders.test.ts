import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createOrderPlan, KILLS } from './plan.js'
import { runOrderStorm } from './storm.js'

// The short form: every kind of kill once, and a few of everything else. `npm run test:soak -- orders` is the long one.
const SIZE = {
  orders: 14,
  kills: KILLS.length,
  faults: { store: 4, deaths: 6, stops: 1, world: 3, reorgs: 6 },
}
/** A run whose end the enclave never reports costs two minutes by design. */
const TIMEOUT_MS = 400_000

test('through faults and kills every order that was taken ends once, and the money adds up', {
  timeout: TIMEOUT_MS,
}, async () => {
  const plan = createOrderPlan({ seed: 7, ...SIZE })
  const report = await runOrderStorm({ plan, directory: await temporaryDirectory() })
  expect(report.violations.join('\n')).toBe('')
  expect(report.orders).toMatchObject({ placed: SIZE.orders, accepted: SIZE.orders })
  expect(report.orders.settled + report.orders.refunded).toBe(SIZE.orders)
  expect(report.orders.cancelled).toBeGreaterThan(0)
  expect(report.orders.sharesDeposited).toBeGreaterThan(0)
  expect(report.openings.sponsored).toBeGreaterThan(0)
  expect(report.enclave.restarted).toBeGreaterThan(0)
})

test('the same seed makes the same plan, another one another', () => {
  expect(createOrderPlan({ seed: 7, ...SIZE })).toEqual(createOrderPlan({ seed: 7, ...SIZE }))
  expect(createOrderPlan({ seed: 8, ...SIZE })).not.toEqual(createOrderPlan({ seed: 7, ...SIZE }))
})
