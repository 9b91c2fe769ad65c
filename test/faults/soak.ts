import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createPlan, type Part } from './plan.js'
import { type Print, runStorm } from './storm.js'

/** In each minute, so many orders and faults. */
const ORDERS = 15
const A_MINUTE = {
  ...{ server: 2, step: 6, enclave: 4, opening: 1, market: 1, clock: 1, broker: 4, blocks: 2, chain: 2 },
  ...{ read: 8, send: 4, spell: 2 },
}
const OF_ONE: Partial<Record<Part, number>> = { ...A_MINUTE, store: 3 }
const OF_SEVERAL: Partial<Record<Part, number>> = { ...A_MINUTE, opening: 0, database: 3, link: 4 }
/**
 * The enclave repeats an action after half of the time since its first try, at most after a quarter of an hour. A clock that is set ahead by
 * an hour makes that time long.
 */
const AFTER_CLOCKS_MS = 16 * 60_000

/** The storm at length: one server with SQLite, or several on PostgreSQL. Resolves with whether nothing was found. */
export async function soakStorm(
  { seed, minutes, servers }: Record<'seed' | 'minutes' | 'servers', number>,
  print: Print,
): Promise<boolean> {
  const directory = resolve('data', 'soak', `storm-${Date.now()}`)
  await mkdir(directory, { recursive: true })
  print(
    `seed ${seed}: repeat with npm run test:soak -- storm --seed ${seed} --servers ${servers}; see ${directory}`,
  )
  const aMinute = Object.entries(servers === 1 ? OF_ONE : OF_SEVERAL)
  const faults = Object.fromEntries(aMinute.map(([part, times]) => [part, times * minutes]))
  const plan = createPlan({ seed, lengthMs: minutes * 60_000, orders: minutes * ORDERS, faults })
  const patienceMs = AFTER_CLOCKS_MS
  const { violations, orders, deaths } = await runStorm({ plan, servers, directory, print, patienceMs })
  print(`orders: ${JSON.stringify(orders)}; servers killed: ${deaths}; violations: ${violations.length}`)
  for (const violation of violations) print(`  ${violation}`)
  return violations.length === 0
}
