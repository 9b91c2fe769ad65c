import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { MOST_OPEN } from '../../support/crowd.js'
import { runManyOrders } from './manyOrders.js'

const count = z.coerce.number().int().positive()
const text = { type: 'string' } as const
const manySchema = z.object({ accounts: count.default(500), orders: count.default(10_000) }).refine(fits)

/** Orders of many accounts in one go. Resolves with true unless it found a violation. */
export async function soakManyOrders(args: string[], print: (line: string) => void): Promise<boolean> {
  const { values } = parseArgs({ args, options: { accounts: text, orders: text } })
  const directory = resolve(join('data', 'soak', `many-${Date.now()}`))
  await mkdir(directory, { recursive: true })
  const report = await runManyOrders({ ...manySchema.parse(values), directory, print })
  for (const { ended, server, enclave, node } of thinned(report.memory)) {
    const [share, ...mib] = [ended * 100, server, enclave, node].map((value) => value.toFixed(0))
    print(`  ${share} % ended: server, enclave, node ${mib.join(', ')} MiB`)
  }
  const rate = (report.orders / report.seconds).toFixed(1)
  print(`${report.settled} of ${report.orders} settled in ${report.seconds.toFixed(0)} s, ${rate} a second`)
  print(`violations: ${report.violations.length}`)
  for (const violation of report.violations) print(`  ${violation}`)
  return report.violations.length === 0
}

function fits({ accounts, orders }: { accounts: number; orders: number }): boolean {
  return orders % accounts === 0 && orders / accounts <= MOST_OPEN
}

/** A dozen of them. */
function thinned<T>(samples: readonly T[]): T[] {
  const step = Math.ceil(samples.length / 12)
  return samples.filter((_, index) => index % step === 0)
}
