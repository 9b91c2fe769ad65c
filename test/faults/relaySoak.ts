import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { type BenchOptions, runFaultBench } from './support/bench.js'
import { createPlan, type PlanSize } from './support/plan.js'
import { printReport } from './support/report.js'

const count = z.coerce.number().int().positive()
const argumentsSchema = z.object({
  seed: count.default(() => Math.floor(Math.random() * 1_000_000_000) + 1),
  authorizations: count.default(1_100),
  kills: count.default(56),
})

/** The long form of the relay's bench. Resolves with whether nothing was found. */
export async function soakRelay(args: string[], print: (line: string) => void): Promise<boolean> {
  const { values } = parseArgs({
    args,
    options: { seed: { type: 'string' }, authorizations: { type: 'string' }, kills: { type: 'string' } },
  })
  const { seed, authorizations, kills } = argumentsSchema.parse(values)
  const root = join('data', 'soak', `${Date.now()}`)

  function sizeOf(share: number): PlanSize {
    const own = Math.ceil(kills * share)
    const rounds = {
      reads: Math.ceil(own / 3),
      sends: Math.ceil(own / 2),
      spells: Math.ceil(own / 3),
      chain: Math.ceil(own / 3),
    }
    return { seed, authorizations: Math.ceil(authorizations * share), kills: own, rounds, calmness: 3 }
  }

  /** @returns how much was wrong */
  async function soak(name: string, options: Pick<BenchOptions, 'plan' | 'isLegacy'>): Promise<number> {
    const directory = join(root, name)
    await mkdir(directory, { recursive: true })
    print(`${name}: the server's log is in ${directory}`)
    const report = await runFaultBench({ ...options, directory, print })
    printReport(report, print)
    return report.violations.length
  }

  print(`seed ${seed}: repeat with npm run test:soak -- --seed ${seed}`)
  const wrong = [
    await soak('storm', { plan: createPlan(sizeOf(1)) }),
    await soak('reset', { plan: createPlan({ ...sizeOf(0.1), resets: ['down', 'up'] }), isLegacy: true }),
  ]
  return wrong.every((violations) => violations === 0)
}
