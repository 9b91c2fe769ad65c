import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { type OrderBenchOptions, runOrderBench } from './bench.js'
import type { OrderPlan } from './plan.js'

/** A run of the bench as tests make it: quiet, in a directory of its own, and without the rights to mount one. */
export async function runShort(plan: OrderPlan, options: Partial<OrderBenchOptions> = {}) {
  return runOrderBench({
    plan,
    directory: await temporaryDirectory(),
    print: () => undefined,
    mayMount: false,
    ...options,
  })
}
