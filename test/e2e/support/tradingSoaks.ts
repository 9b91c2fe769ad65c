import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { MOST_OPEN } from '../../support/crowd.js'
import { runManyOrders } from './manyOrders.js'
import { runOpening } from './opening.js'

const count = z.coerce.number().int().positive()
const text = { type: 'string' } as const
const manySchema = z.object({ accounts: count.default(500), orders: count.default(10_000) }).refine(fits)
const openingSchema = z
  .object({ accounts: count.default(50), orders: count.default(1_000), 'closed-seconds': count.default(120) })
  .refine(fits)
const PER_MINUTE = 200

/** Orders of many accounts in one go. Resolves with true unless it found a violation. */
export async function soakManyOrders(args: string[], print: (line: string) => void): Promise<boolean> {
  const { values } = parseArgs({ args, options: { accounts: text, orders: text } })
  const directory = await directoryOf('many')
  const report = await runManyOrders({ ...manySchema.parse(values), directory, print })
  for (const { ended, server, enclave, node } of thinned(report.memory)) {
    const [share, ...mib] = [ended * 100, server, enclave, node].map((value) => value.toFixed(0))
    print(`  ${share} % ended: server, enclave, node ${mib.join(', ')} MiB`)
  }
  const rate = (report.orders / report.seconds).toFixed(1)
  print(`${report.settled} of ${report.orders} settled in ${report.seconds.toFixed(0)} s, ${rate} a second`)
  return tell(report.violations, print)
}

/** Orders that wait for the market. Resolves with true unless it found a violation. */
export async function soakOpening(args: string[], print: (line: string) => void): Promise<boolean> {
  const options = { accounts: text, orders: text, 'closed-seconds': text }
  const { 'closed-seconds': closedSeconds, ...size } = openingSchema.parse(
    parseArgs({ args, options }).values,
  )
  const directory = await directoryOf('opening')
  const report = await runOpening({ ...size, closedSeconds, perMinute: PER_MINUTE, directory, print })
  print(`placed by minute: ${report.placed.join(', ')}`)
  print(`requests by minute, of ${PER_MINUTE} allowed: ${report.requests.join(', ')}`)
  return tell([...report.outOfOrder, ...report.violations], print)
}

function fits({ accounts, orders }: { accounts: number; orders: number }): boolean {
  return orders % accounts === 0 && orders / accounts <= MOST_OPEN
}

async function directoryOf(form: string): Promise<string> {
  const directory = resolve(join('data', 'soak', `${form}-${Date.now()}`))
  await mkdir(directory, { recursive: true })
  return directory
}

/** A dozen of them. */
function thinned<T>(samples: readonly T[]): T[] {
  const step = Math.ceil(samples.length / 12)
  return samples.filter((_, index) => index % step === 0)
}

function tell(violations: readonly string[], print: (line: string) => void): boolean {
  print(`violations: ${violations.length}`)
  for (const violation of violations) print(`  ${violation}`)
  return violations.length === 0
}
