// `npm run bench [-- figure …]`: measures, prints a table for each figure and writes it as JSON.
import { mkdir } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { registerSecp256k1 } from '../src/protocol/secp256k1.js'
import { createCleanUp } from '../src/sandbox/cleanUp.js'
import { libSecp256k1 } from '../src/service/libSecp256k1.js'
import { registerNativeBytes } from '../src/service/nativeBytes.js'
import { opensslSecp256k1 } from '../src/service/opensslSecp256k1.js'
import { accounts } from './accounts.js'
import { floods } from './floods.js'
import { forgery } from './forgery.js'
import { idle } from './idle.js'
import { narration } from './narration.js'
import { orders } from './orders.js'
import { overload } from './overload.js'
import { reads } from './reads.js'
import { relay } from './relay.js'
import { servers } from './servers.js'
import { stores } from './stores.js'
import {
  BENCH_DIRECTORY,
  type BenchContext,
  linesOf,
  measure,
  OPTIONS,
  writeResult,
} from './support/figure.js'
import { startGenerator } from './support/load.js'
import { PATIENT, type Platform, startPlatform } from './support/platform.js'
import { takeover } from './takeover.js'
import { trading } from './trading.js'

const FIGURES = [
  ...[...reads, orders, relay, forgery, accounts, ...servers, takeover],
  ...[stores, idle, narration, overload, floods, trading],
]

const USAGE = `Usage: npm run bench -- [options] [figure …]

  figures: ${FIGURES.map(({ name }) => name).join(', ')} (default: all)

${Object.entries(OPTIONS)
  .map(([name, [value, meaning]]) => `${`  --${name} <number>`.padEnd(22)}${meaning} (${value})`)
  .join('\n')}
  --cpu-prof          leave a CPU profile of each measured server in data/bench
`

const numberSchema = z.coerce.number().min(0)
const optionsSchema = z.object({
  rounds: numberSchema.int().min(1),
  seconds: numberSchema,
  stored: numberSchema,
  events: numberSchema,
  accounts: numberSchema,
  stream: numberSchema,
  limited: numberSchema,
})

function readCommandLine() {
  const texts = Object.entries(OPTIONS).map(
    ([name, [value]]) => [name, { type: 'string', default: `${value}` }] as const,
  )
  const flags = { 'cpu-prof': { type: 'boolean' }, help: { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { ...Object.fromEntries(texts), ...flags },
  })
  const unknown = positionals.find((name) => FIGURES.every((figure) => figure.name !== name))
  if (unknown !== undefined) throw new Error(`there is no figure "${unknown}"`)
  return {
    help: values.help === true,
    figures: FIGURES.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
    options: optionsSchema.parse(values),
    nodeOptions: values['cpu-prof'] === true ? ['--cpu-prof', `--cpu-prof-dir=${BENCH_DIRECTORY}`] : [],
  }
}

/** Runnable processes over the last minute. */
const load = () => (loadavg()[0] ?? Number.NaN).toFixed(1)

async function run({ figures, options, nodeOptions }: ReturnType<typeof readCommandLine>): Promise<void> {
  // Signs, hashes and seals here as fast as the server does.
  registerNativeBytes()
  registerSecp256k1({ ...opensslSecp256k1, ...libSecp256k1 })
  await mkdir(BENCH_DIRECTORY, { recursive: true })
  const machine = `${availableParallelism()} cores of ${cpus()[0]?.model.trim()}, Node ${process.version}`
  console.log(`${machine}\n`)
  const shared = createCleanUp()
  let platform: Promise<Platform> | undefined
  const context: Omit<BenchContext, 'cleanUp'> = {
    options,
    nodeOptions,
    generator: startGenerator(shared),
    platform() {
      platform ??= startPlatform({ cleanUp: shared, nodeOptions }, PATIENT)
      return platform
    },
    print: (line) => console.log(`  ${line}`),
  }
  try {
    for (const figure of figures) {
      const cleanUp = createCleanUp()
      const before = load()
      console.log(figure.title)
      try {
        const table = await figure.prepare({ ...context, cleanUp })
        const rounds = await measure(table, table.rounds ?? options.rounds)
        const lines = [...linesOf(table, rounds), `  load average ${before} before, ${load()} after`]
        console.log(`${lines.join('\n')}\n`)
        await writeResult(figure, { machine, lines, rounds })
      } finally {
        await cleanUp.run()
      }
    }
  } finally {
    await shared.run()
  }
}

try {
  const commandLine = readCommandLine()
  if (commandLine.help) console.log(USAGE)
  else await run(commandLine)
} catch (error) {
  console.error(error instanceof z.ZodError ? z.prettifyError(error) : error)
  process.exitCode = 1
}
