import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { CLUSTER_FAULTS, createClusterPlan } from './plan.js'
import { runClusterStorm } from './storm.js'

// The short form: every kind of fault of the cluster and of its nodes once, and some of the enclave and of the chain. `npm run test:soak -- cluster` is the long one.
const LEASE_TTL_MS = 2_000
const SIZE = {
  lengthMs: 12_000,
  leaseTtlMs: LEASE_TTL_MS,
  orders: 5,
  faults: CLUSTER_FAULTS.length,
  stops: 8,
  acts: 2,
  replacements: 0,
  world: 1,
  reorgs: 2,
  nodes: 1,
  calmness: 1,
}
const STATEMENT_STEP = /^server .*-at-(before|after)-(write-\w+|take|renew|release|first-read)$/
/** For a machine that others use. */
const TIMEOUT_MS = 400_000

test('three servers on one database trade on through kills, pauses, partitions and a failover', {
  timeout: TIMEOUT_MS,
}, async () => {
  const report = await runClusterStorm({
    plan: createClusterPlan({ seed: 7, ...SIZE }),
    leaseTtlMs: LEASE_TTL_MS,
    directory: await temporaryDirectory(),
  })
  expect(report.violations.join('\n')).toBe('')
  expect(report.orders).toMatchObject({ placed: SIZE.orders, accepted: SIZE.orders })
  expect(report.deaths).toBeGreaterThan(0)
  // Servers were stopped or killed at statements of the store: the hook that names these is at work.
  expect(Object.keys(report.struck)).toContainEqual(expect.stringMatching(STATEMENT_STEP))
})

test('the same seed makes the same plan, another one another', () => {
  expect(createClusterPlan({ seed: 7, ...SIZE })).toEqual(createClusterPlan({ seed: 7, ...SIZE }))
  expect(createClusterPlan({ seed: 8, ...SIZE })).not.toEqual(createClusterPlan({ seed: 7, ...SIZE }))
})
