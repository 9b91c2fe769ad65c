import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { type ClusterPlan, createClusterPlan, type PlannedStop } from './plan.js'
import { runClusterStorm } from './storm.js'

// A broken server: the storm has to notice. Weaker locks and takes are in test/server/store/fence.test.ts.
const LEASE_TTL_MS = 2_000
const NONE = { faults: 0, stops: 0, acts: 0, replacements: 0, world: 0, reorgs: 0, nodes: 0, calmness: 1 }

async function violationsOf(plan: Partial<ClusterPlan>, weak: string): Promise<string> {
  const calm = createClusterPlan({ seed: 7, lengthMs: 12_000, leaseTtlMs: LEASE_TTL_MS, orders: 4, ...NONE })
  const { violations } = await runClusterStorm({
    plan: { ...calm, ...plan },
    leaseTtlMs: LEASE_TTL_MS,
    directory: await temporaryDirectory(),
    variables: { FAULTS_WEAK: weak },
    patienceMs: 3_000,
  })
  return violations.join('\n')
}

test('a narrator that saves without a fence is found out', async () => {
  const stop: PlannedStop = { step: 'before-write-cursor', atMs: 2_000, stopMs: 3 * LEASE_TTL_MS }
  expect(await violationsOf({ stops: [stop] }, 'unfenced-narrator')).toMatch(
    /state narrator: .* had taken narrator/,
  )
})
