import { expect, test } from 'vitest'
import { CLUSTER_FAULTS, createClusterPlan } from './plan.js'

const SIZE = {
  lengthMs: 15_000,
  leaseTtlMs: 2_000,
  orders: 6,
  faults: CLUSTER_FAULTS.length,
  stops: 6,
  world: 1,
  reorgs: 2,
  nodes: 0,
}

test('the same seed makes the same plan, another one another', () => {
  expect(createClusterPlan({ seed: 7, ...SIZE })).toEqual(createClusterPlan({ seed: 7, ...SIZE }))
  expect(createClusterPlan({ seed: 8, ...SIZE })).not.toEqual(createClusterPlan({ seed: 7, ...SIZE }))
})
