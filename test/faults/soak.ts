import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createPlan, FAULTS, type Part } from './plan.js'
import { type Print, runStorm } from './storm.js'

/** In each minute, so many orders and faults. */
const ORDERS = 15
const A_MINUTE = {
  ...{ server: 2, step: 6, enclave: 4, opening: 1, market: 1, clock: 1, broker: 4, blocks: 2, chain: 2 },
  ...{ read: 8, send: 4, spell: 2 },
}
const OF_ONE: Partial<Record<Part, number>> = { ...A_MINUTE, store: 3 }
const OF_SEVERAL: Partial<Record<Part, number>> = { ...A_MINUTE, opening: 0, database: 3, link: 4 }
/** A run whose end is lost counts as under way until a minute after its time, and is looked for every half minute. */
const AFTER_LOSS_MS = 240_000
/**
 * The enclave repeats an action after half of the time since its first try, at most after a quarter of an hour. A clock that is set ahead by
 * an hour makes that time long.
 */
const AFTER_CLOCKS_MS = 16 * 60_000

/**
 * The storm at length: one server with SQLite, or several on PostgreSQL, whose database then fails over to a standby that has not heard
 * the last commits. Resolves with whether nothing was found.
 */
export async function soakStorm(
  { seed, minutes, servers }: Record<'seed' | 'minutes' | 'servers', number>,
  print: Print,
): Promise<boolean> {
  const root = join('data', 'soak', `storm-${Date.now()}`)
  print(
    `seed ${seed}: repeat with npm run test:soak -- storm --seed ${seed} --servers ${servers}; see ${root}`,
  )

  async function run(
    name: string,
    length: number,
    faults: Partial<Record<Part, number>>,
    patienceMs: number,
  ) {
    const directory = resolve(root, name)
    await mkdir(directory, { recursive: true })
    const plan = createPlan({ seed, lengthMs: length * 60_000, orders: length * ORDERS, faults })
    const { violations, ...figures } = await runStorm({ plan, servers, directory, print, patienceMs })
    for (const [figure, value] of Object.entries(figures)) print(`${figure}: ${JSON.stringify(value)}`)
    print(`violations: ${violations.length}`)
    for (const violation of violations) print(`  ${violation}`)
    return violations.length === 0
  }

  const each = (faults: Partial<Record<Part, number>>, length: number) =>
    Object.fromEntries(Object.entries(faults).map(([part, times]) => [part, times * length]))
  if (servers === 1) return run('storm', minutes, each(OF_ONE, minutes), AFTER_CLOCKS_MS)
  const isClean = await run('storm', minutes, each(OF_SEVERAL, minutes), AFTER_CLOCKS_MS)
  const losing = {
    ...each(OF_SEVERAL, 3),
    database: 0,
    clock: 0,
    asynchronous: 2 * FAULTS.asynchronous.length,
  }
  return (await run('asynchronous', 3, losing, AFTER_LOSS_MS)) && isClean
}
