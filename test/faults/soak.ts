import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { runFaultBench } from './support/bench.js'
import { createPlan } from './support/plan.js'
import { printReport } from './support/report.js'

// npm run test:soak [-- --seed 7 --authorizations 1100 --kills 56]

const count = z.coerce.number().int().positive()
const argumentsSchema = z.object({
  seed: count.default(() => Math.floor(Math.random() * 1_000_000_000) + 1),
  authorizations: count.default(1_100),
  kills: count.default(56),
})

const { values } = parseArgs({
  options: { seed: { type: 'string' }, authorizations: { type: 'string' }, kills: { type: 'string' } },
})
const size = argumentsSchema.parse(values)
const directory = join('data', 'soak', `${Date.now()}`)
const print = (line: string) => process.stdout.write(`${line}\n`)

await mkdir(directory, { recursive: true })
print(
  `seed ${size.seed}: repeat with npm run test:soak -- --seed ${size.seed}; the server's log is in ${directory}`,
)
const rounds = {
  reads: Math.ceil(size.kills / 3),
  sends: Math.ceil(size.kills / 2),
  chain: Math.ceil(size.kills / 3),
}
const report = await runFaultBench({ plan: createPlan({ ...size, rounds, calmness: 3 }), directory, print })
printReport(report, print)
process.exitCode = report.violations.length === 0 ? 0 : 1
