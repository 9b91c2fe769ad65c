// `npm run bench [-- figure …]`: measures, prints a table for each figure and writes it as JSON.
import { mkdir } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { Argument, Command, InvalidArgumentError } from 'commander'
import { registerNativeKeccak } from '../src/service/nativeKeccak.js'
import { attestation } from './attestation.js'
import { floods } from './floods.js'
import { idle } from './idle.js'
import { orders } from './orders.js'
import { overload } from './overload.js'
import { page } from './page.js'
import { reads } from './reads.js'
import { relay } from './relay.js'
import { rulebook } from './rulebook.js'
import { servers } from './servers.js'
import {
  BENCH_DIRECTORY,
  type Figure,
  linesOf,
  measure,
  type Options,
  writeResult,
} from './support/figure.js'
import { startGenerator } from './support/load.js'
import { takeover } from './takeover.js'
import { opening, trading } from './trading.js'

const FIGURES = [
  ...[...reads, orders, relay, servers, takeover],
  ...[idle, overload, floods, rulebook, page, attestation, trading, opening],
]

/** Runnable processes over the last minute. */
const load = () => (loadavg()[0] ?? Number.NaN).toFixed(1)

async function run(figures: readonly Figure[], options: Options): Promise<void> {
  // Hashes here as fast as the server does.
  registerNativeKeccak()
  await mkdir(BENCH_DIRECTORY, { recursive: true })
  const machine = `${availableParallelism()} cores of ${cpus()[0]?.model.trim()}, Node ${process.version}`
  console.log(`${machine}\n`)
  for (const figure of figures) {
    const cleanUp = new AsyncDisposableStack()
    const before = load()
    const settings = new Set<string>()
    console.log(figure.title)
    try {
      const table = await figure.prepare({ options, cleanUp, settings, generator: startGenerator(cleanUp) })
      const rounds = await measure(table, options.rounds)
      const lines = [
        ...linesOf(table, rounds),
        '  settings that differ from the default [in brackets], by program:',
        ...[...settings].map((line) => `    ${line}`),
        `  load average ${before} before, ${load()} after`,
      ]
      console.log(`${lines.join('\n')}\n`)
      await writeResult(figure, { machine, lines, rounds })
    } finally {
      await cleanUp.disposeAsync()
    }
  }
}

function toNumber(text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (number >= 0) return number
  throw new InvalidArgumentError('It has to be a number, and not negative.')
}

await new Command('npm run bench --')
  .addArgument(new Argument('[figure...]', 'default: all').choices(FIGURES.map(({ name }) => name)))
  .option(
    '--rounds <number>',
    'rounds of each figure but idle, trading and opening; takeover: three deaths each',
    toNumber,
    7,
  )
  .option('--seconds <number>', 'length of a round of reads and servers', toNumber, 1.5)
  .option('--stored <number>', 'stored orders of the idle server', toNumber, 1_000_000)
  .option('--accounts <number>', 'accounts that trade, one order each in a burst', toNumber, 200)
  .option('--stream <number>', 'seconds of the steady stream of orders', toNumber, 60)
  .option('--cpu-prof', 'leave a CPU profile of each measured server in data/bench', false)
  .action((names: readonly string[], options: Options) =>
    run(
      FIGURES.filter(({ name }) => names.length === 0 || names.includes(name)),
      options,
    ),
  )
  .parseAsync()
