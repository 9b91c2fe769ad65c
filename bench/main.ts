// `npm run bench [-- figure …]`: measures, prints a table for each figure and writes it as JSON.
import { mkdir } from 'node:fs/promises'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { accounts } from './accounts.js'
import { floods } from './floods.js'
import { forgery } from './forgery.js'
import { idle } from './idle.js'
import { narration } from './narration.js'
import { orders, postgresOrders } from './orders.js'
import { overload } from './overload.js'
import { reads } from './reads.js'
import { relay } from './relay.js'
import { servers } from './servers.js'
import { stores } from './stores.js'
import type { BenchContext, Figure } from './support/figure.js'
import { registerFast } from './support/openOrders.js'
import { BENCH_DIRECTORY, type Platform, startPlatform } from './support/platform.js'
import { currentLoad, describeMachine, linesOf, writeResult } from './support/report.js'
import { takeover } from './takeover.js'
import { trading } from './trading.js'

const FIGURES: readonly Figure[] = [
  ...reads,
  orders,
  postgresOrders,
  relay,
  forgery,
  accounts,
  servers,
  takeover,
  stores,
  idle,
  narration,
  overload,
  floods,
  trading,
]

/** By their names: default and meaning. */
const OPTIONS = {
  rounds: ['7', 'rounds of each figure'],
  seconds: ['1.5', 'length of a round of reads'],
  connections: ['64', 'connections at once'],
  followed: ['20000', "authorizations over which the relay's memory is followed; 0: not at all"],
  stored: ['100000,1000000', 'stored orders of the idle server, separated by commas'],
  events: ['100000', 'events that the narrator catches up with'],
  accounts: ['200', 'accounts that trade, one order each in the burst'],
  'in-flight': ['64', 'transactions that the relay has under way at once while they trade'],
  'stream-seconds': ['60', 'length of the steady stream of orders'],
  'limited-minutes': ['0', "time to trade under the broker's documented limit; 0: not at all"],
} as const
type Option = keyof typeof OPTIONS

const WIDTH = 28
const USAGE = `Usage: npm run bench -- [options] [figure …]

  figures: ${FIGURES.map(({ name }) => name).join(', ')} (default: all)

${Object.entries(OPTIONS)
  .map(([name, [value, meaning]]) => `  ${`--${name} <number>`.padEnd(WIDTH)}${meaning} (${value})`)
  .join('\n')}
  ${'--cpu-prof'.padEnd(WIDTH)}leave a CPU profile of the measured server in data/bench
`

/** Callers who each wait for their answer are not turned away, however busy they keep the server. */
const PATIENT = { MAX_WAIT: '1m' }

class UsageError extends Error {
  override readonly name = 'UsageError'
}

function parseCommandLine() {
  const options: NonNullable<ParseArgsConfig['options']> = Object.fromEntries([
    ...Object.keys(OPTIONS).map((name) => [name, { type: 'string' as const }] as const),
    ...['cpu-prof', 'help'].map((name) => [name, { type: 'boolean' as const }] as const),
  ])
  const { values, positionals } = parsed(options)
  const textOf = (name: Option) => `${values[name] ?? OPTIONS[name][0]}`
  const numberOf = (name: Option, least = Number.MIN_VALUE) => atLeast(textOf(name), name, least)
  return {
    help: values.help === true,
    figures: positionals.length === 0 ? FIGURES : positionals.map(figureNamed),
    rounds: numberOf('rounds'),
    roundMs: numberOf('seconds') * 1_000,
    connections: numberOf('connections'),
    followed: numberOf('followed', 0),
    stored: textOf('stored')
      .split(',')
      .map((text) => atLeast(text, 'stored')),
    events: numberOf('events'),
    trading: {
      accounts: numberOf('accounts'),
      inFlight: numberOf('in-flight'),
      streamSeconds: numberOf('stream-seconds'),
      limitedMinutes: numberOf('limited-minutes', 0),
    },
    nodeOptions: values['cpu-prof'] === true ? ['--cpu-prof', `--cpu-prof-dir=${BENCH_DIRECTORY}`] : [],
  }
}

function parsed(options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function figureNamed(name: string): Figure {
  const figure = FIGURES.find((candidate) => candidate.name === name)
  if (!figure) throw new UsageError(`there is no figure "${name}"`)
  return figure
}

function atLeast(text: string, option: Option, least = Number.MIN_VALUE): number {
  const value = Number(text)
  const range = least === 0 ? 'a number' : 'a number above zero'
  if (!(value >= least)) throw new UsageError(`--${option} expects ${range}, got "${text}"`)
  return value
}

async function main(): Promise<void> {
  const { help, figures, ...settings } = parseCommandLine()
  if (help) return console.log(USAGE)
  registerFast()
  await mkdir(BENCH_DIRECTORY, { recursive: true })
  const machine = await describeMachine()
  console.log(`${machine.cores} cores of ${machine.cpu}, Node ${machine.node}\n`)
  let platform: Promise<Platform> | undefined
  const print = (line: string) => console.log(line)
  const context: BenchContext = {
    ...settings,
    print,
    platform() {
      platform ??= startPlatform({ print, nodeOptions: settings.nodeOptions, settings: PATIENT })
      return platform
    },
  }
  try {
    for (const figure of figures) {
      const loadBefore = currentLoad()
      const result = await figure.measure(context)
      const load = { before: loadBefore, after: currentLoad() }
      for (const line of linesOf(figure.title, result)) print(line)
      print(`  load average ${load.before} before, ${load.after} after\n`)
      await writeResult(figure, result, { machine, load })
    }
  } finally {
    await platform?.then((started) => started.stop())
  }
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`bench: ${error.message}\n\n${USAGE}`)
  process.exitCode = 2
}
