// `npm run bench [-- figure …]`: measures, prints a table for each figure and writes it as JSON.
import { mkdir } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { accounts } from './accounts.js'
import { coldReads } from './coldReads.js'
import { floods } from './floods.js'
import { forgery } from './forgery.js'
import { health } from './health.js'
import { idle } from './idle.js'
import { market } from './market.js'
import { metrics } from './metrics.js'
import { narration } from './narration.js'
import { orderStatus } from './orderStatus.js'
import { orders, postgresOrders } from './orders.js'
import { overload } from './overload.js'
import { polling } from './polling.js'
import { relay } from './relay.js'
import { stores } from './stores.js'
import type { BenchContext, Figure } from './support/figure.js'
import { describeMachine } from './support/machine.js'
import { BENCH_DIRECTORY, type Platform, startPlatform } from './support/platform.js'
import { tableOf, writeResult } from './support/report.js'
import { trading } from './trading.js'
import { wallet } from './wallet.js'

const FIGURES: readonly Figure[] = [
  health,
  market,
  wallet,
  coldReads,
  orderStatus,
  polling,
  orders,
  postgresOrders,
  relay,
  forgery,
  accounts,
  stores,
  idle,
  narration,
  metrics,
  overload,
  floods,
  trading,
]

const USAGE = `Usage: npm run bench -- [options] [figure …]

  figures: ${FIGURES.map(({ name }) => name).join(', ')} (default: all)

  --rounds <number>       rounds of each figure (7)
  --seconds <number>      length of a round of reads (1.5)
  --connections <number>  connections at once (64)
  --clients <number>      clients that poll (1000)
  --followed <number>     authorizations over which the relay's memory is followed (20000; 0: not at all)
  --stored <numbers>      envelopes that the idle server has stored, separated by commas (100000,1000000)
  --events <number>       events that the narrator catches up with (100000)
  --accounts <number>     accounts that trade, one order each in the burst (200)
  --in-flight <number>    transactions that the relay has under way at once while they trade (64)
  --stream-seconds <number>   length of the steady stream of orders (60)
  --limited-minutes <number>  trade for so long under the broker's documented limit (0: not at all)
  --cpu-prof              leave a CPU profile of the measured server in data/bench
`

function parseCommandLine() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '1.5' },
      connections: { type: 'string', default: '64' },
      clients: { type: 'string', default: '1000' },
      followed: { type: 'string', default: '20000' },
      stored: { type: 'string', default: '100000,1000000' },
      events: { type: 'string', default: '100000' },
      accounts: { type: 'string', default: '200' },
      'in-flight': { type: 'string', default: '64' },
      'stream-seconds': { type: 'string', default: '60' },
      'limited-minutes': { type: 'string', default: '0' },
      'cpu-prof': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const figures = positionals.length === 0 ? FIGURES : positionals.map(figureNamed)
  const rounds = {
    rounds: positive(values.rounds, 'rounds'),
    roundMs: positive(values.seconds, 'seconds') * 1_000,
    connections: positive(values.connections, 'connections'),
  }
  const nodeOptions = values['cpu-prof'] ? ['--cpu-prof', `--cpu-prof-dir=${BENCH_DIRECTORY}`] : []
  const followed = notNegative(values.followed, 'followed')
  const trade = {
    accounts: positive(values.accounts, 'accounts'),
    inFlight: positive(values['in-flight'], 'in-flight'),
    streamSeconds: positive(values['stream-seconds'], 'stream-seconds'),
    limitedMinutes: notNegative(values['limited-minutes'], 'limited-minutes'),
  }
  const stored = values.stored.split(',').map((text) => positive(text, 'stored'))
  const events = positive(values.events, 'events')
  const clients = positive(values.clients, 'clients')
  return {
    help: values.help,
    figures,
    rounds,
    nodeOptions,
    followed,
    clients,
    stored,
    events,
    trading: trade,
  }
}

class UsageError extends Error {
  override readonly name = 'UsageError'
}

function figureNamed(name: string): Figure {
  const figure = FIGURES.find((candidate) => candidate.name === name)
  if (!figure) throw new UsageError(`there is no figure "${name}"`)
  return figure
}

function positive(text: string, option: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new UsageError(`--${option} expects a number above zero, got "${text}"`)
  return value
}

function notNegative(text: string, option: string): number {
  const value = Number(text)
  if (!(value >= 0)) throw new UsageError(`--${option} expects a number, got "${text}"`)
  return value
}

/** Callers who each wait for their answer are not turned away, however busy they keep the server. */
const PATIENT = { MAX_WAIT: '1m' }

async function main(): Promise<void> {
  const { help, figures, ...settings } = parseCommandLine()
  if (help) return console.log(USAGE)
  await mkdir(BENCH_DIRECTORY, { recursive: true })
  const machine = await describeMachine(BENCH_DIRECTORY)
  console.log(
    `${machine.cores} cores of ${machine.cpu}, Node ${machine.node}, load before ${machine.loadBefore}\n`,
  )

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
      const result = await figure.measure(context)
      for (const line of tableOf(figure.title, result)) print(line)
      await writeResult(figure, result, machine)
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
