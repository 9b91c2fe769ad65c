import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { runFuzzer } from './support/bench.js'

const count = z.coerce.number().int().positive()
const argumentsSchema = z.object({
  seed: count.default(() => Math.floor(Math.random() * 1_000_000_000) + 1),
  requests: count.default(1_000_000),
})
const ROUNDS = 10

/** @param args of the command line @returns whether nothing was violated */
export async function soakByFuzzing(args: string[], print: (line: string) => void): Promise<boolean> {
  const { values } = parseArgs({ args, options: { seed: { type: 'string' }, requests: { type: 'string' } } })
  const { seed, requests } = argumentsSchema.parse(values)
  const directory = join('data', 'soak', `${Date.now()}`)
  await mkdir(directory, { recursive: true })
  print(
    `seed ${seed}: repeat with npm run test:soak -- fuzz --seed ${seed}; the server's log is in ${directory}`,
  )
  const { answers, held, violations, ...figures } = await runFuzzer({
    seed,
    requests,
    rounds: ROUNDS,
    directory,
    print,
  })
  for (const [name, value] of Object.entries(figures)) print(`${name}: ${Math.round(value)}`)
  for (const [name, times] of Object.entries(answers)) print(`${name}: ${times}`)
  print(`held: ${JSON.stringify({ server: held.server.at(-1), enclave: held.enclave.at(-1) })}`)
  print(`violations: ${violations.length}`)
  for (const violation of violations) print(`  ${violation}`)
  return violations.length === 0
}
