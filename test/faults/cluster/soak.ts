import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { runClusterBench } from './bench.js'
import { createClusterPlan } from './plan.js'
import { printClusterReport } from './report.js'

const count = z.coerce.number().int().positive()
const argumentsSchema = z.object({
  seed: count.default(() => Math.floor(Math.random() * 1_000_000_000) + 1),
  minutes: count.default(10),
})
const MS_PER_MINUTE = 60_000
const LEASE_TTL_MS = 2_000
/** For each minute of the storm. */
const ORDERS = 15
const FAULTS = 10
const STOPS = 8

/** The long form of the cluster's bench. Resolves with whether nothing was found. */
export async function soakCluster(args: string[], print: (line: string) => void): Promise<boolean> {
  const { values } = parseArgs({
    args,
    options: { seed: { type: 'string' }, minutes: { type: 'string' } },
  })
  const { seed, minutes } = argumentsSchema.parse(values)
  const directory = join('data', 'soak', `cluster-${Date.now()}`)
  await mkdir(directory, { recursive: true })
  print(`seed ${seed}: repeat with npm run test:soak -- cluster --seed ${seed}; see ${directory}`)
  const plan = createClusterPlan({
    seed,
    lengthMs: minutes * MS_PER_MINUTE,
    leaseTtlMs: LEASE_TTL_MS,
    orders: minutes * ORDERS,
    faults: minutes * FAULTS,
    stops: minutes * STOPS,
    world: minutes * 2,
    reorgs: minutes * 2,
    nodes: Math.ceil(minutes / 4),
  })
  const report = await runClusterBench({
    plan,
    leaseTtlMs: LEASE_TTL_MS,
    directory: resolve(directory),
    print,
    mayMount: true,
  })
  printClusterReport(report, print)
  return report.violations.length === 0
}
