import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { createPlan } from './plan.js'
import { runStorm } from './storm.js'

// The short form, with one plan for every push. `npm run test:soak -- storm` is the long one.
const ORDERS = 14
const PLAN = createPlan({
  seed: 8,
  lengthMs: 40_000,
  orders: ORDERS,
  faults: {
    ...{ server: 2, step: 3, enclave: 4, store: 3, opening: 1 },
    ...{ market: 1, clock: 1, broker: 2, blocks: 4 },
  },
})
/** Some steps are reached no more once most orders have ended. */
const LINGER_MS = 10_000
/** A run whose end the enclave never reports costs two minutes by design. */
const TIMEOUT_MS = 400_000

test('through faults and kills every order that was taken ends once, and the money adds up', {
  timeout: TIMEOUT_MS,
}, async () => {
  const report = await runStorm({
    ...{ plan: PLAN, servers: 1, lingerMs: LINGER_MS },
    directory: await temporaryDirectory(),
  })
  expect(report.violations.join('\n')).toBe('')
  expect(report.orders).toMatchObject({ placed: ORDERS, accepted: ORDERS })
  expect(report.orders.settled + report.orders.refunded).toBe(ORDERS)
  expect(report.orders.cancelled).toBeGreaterThan(0)
  expect(report.orders.sharesDeposited).toBeGreaterThan(0)
  expect(report.deaths).toBeGreaterThan(2)
})
