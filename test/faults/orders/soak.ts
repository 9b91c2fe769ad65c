import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { runOrderBench } from './bench.js'
import { createOrderPlan } from './plan.js'
import { printOrderReport } from './report.js'
import { LONG_STALL_BOUND_MS } from './settings.js'

const count = z.coerce.number().int().positive()
const argumentsSchema = z.object({
  seed: count.default(() => Math.floor(Math.random() * 1_000_000_000) + 1),
  orders: count.default(500),
  kills: count.default(30),
})
/** For each life of the server. */
const FAULTS_PER_LIFE = { store: 2, deaths: 2, world: 3, reorgs: 2 }
const STOPS = 10

/** The long form of the orders' bench. Resolves with whether nothing was found. */
export async function soakOrders(args: string[], print: (line: string) => void): Promise<boolean> {
  const { values } = parseArgs({
    args,
    options: { seed: { type: 'string' }, orders: { type: 'string' }, kills: { type: 'string' } },
  })
  const size = argumentsSchema.parse(values)
  const directory = join('data', 'soak', `orders-${Date.now()}`)
  await mkdir(directory, { recursive: true })
  print(`seed ${size.seed}: repeat with npm run test:soak -- orders --seed ${size.seed}; see ${directory}`)
  const faults = {
    store: size.kills * FAULTS_PER_LIFE.store,
    deaths: size.kills * FAULTS_PER_LIFE.deaths,
    stops: STOPS,
    world: size.kills * FAULTS_PER_LIFE.world,
    reorgs: size.kills * FAULTS_PER_LIFE.reorgs,
  }
  const plan = createOrderPlan({ ...size, faults })
  const report = await runOrderBench({
    plan,
    directory: resolve(directory),
    print,
    mayMount: true,
    patienceMs: LONG_STALL_BOUND_MS,
  })
  printOrderReport(report, print)
  return report.violations.length === 0
}
