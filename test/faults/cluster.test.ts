import { expect, test } from 'vitest'
import { REPEAT, SEED } from '../support/seed.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { createPlan, FAULTS, SERVERS } from './plan.js'
import { runStorm } from './storm.js'

const ORDERS = 8
const STATEMENT_STEP = /^server .*-at-(before|after)-(write-\w+|take|renew|release|first-read)$/
/** For a machine that others use. */
const TIMEOUT_MS = 400_000

test('three servers on one database trade on through kills, pauses, partitions and a failover', {
  timeout: TIMEOUT_MS,
}, async () => {
  const faults = {
    ...{ server: FAULTS.server.length, database: FAULTS.database.length, link: FAULTS.link.length },
    ...{ step: 10, enclave: 4, clock: 1, blocks: 2, chain: 2, read: 8, send: 4, spell: 2 },
  }
  const plan = createPlan({ seed: SEED, lengthMs: 30_000, orders: ORDERS, faults })
  const report = await runStorm({ plan, servers: SERVERS, directory: await temporaryDirectory() })
  expect(report.violations.join('\n'), REPEAT).toBe('')
  expect(report.orders).toMatchObject({ placed: ORDERS, accepted: ORDERS })
  // Servers were stopped or killed at statements of the store: the hook that names these is at work.
  expect([...report.struck], REPEAT).toContainEqual(expect.stringMatching(STATEMENT_STEP))
})
