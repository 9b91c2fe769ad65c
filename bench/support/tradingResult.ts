import type { PlatformCpu } from '../../test/support/platformProcesses.js'

/** Orders that were posted together, or one after the other. */
export interface TradingRow {
  readonly what: string
  readonly orders: number
  /** From the first post until the block that settled the last was seen. */
  readonly perSecond: number
  /** From an order's post until the block that settled it was seen. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** From the block that opened an order to the one that settled it, p50; null where escrows waited to be posted. */
  readonly blocks: number | null
  /** For each order, in milliseconds. */
  readonly cpu: PlatformCpu
  /** Requests to the broker for each order; null where there is no broker. */
  readonly requests: number | null
  /** Gas and transactions of the one who pays, for each order. */
  readonly gas: number
  readonly transactions: number
}

export interface LimitedResult {
  /** Settled in each minute from the first post on. */
  readonly settled: readonly number[]
  readonly requests: number
  /** How many of them the broker answered 429. */
  readonly refused: number
}

export interface TradingResult {
  readonly kind: 'trading'
  readonly rows: readonly TradingRow[]
  /** Straight to the node. */
  readonly floor: readonly TradingRow[]
  /** Requests that the stand-in answers in a second when nothing is settled. */
  readonly brokerPerSecond: number
  /** Milliseconds that a burst took longer in which the enclave was killed; null where there is none that stays up. */
  readonly killAddedMs: number | null
  /** Null when it was not asked for. */
  readonly limited: LimitedResult | null
  readonly notes: readonly string[]
}

const HEAD = [
  'orders',
  'settled/s',
  'p50 s',
  'p99 s',
  'blocks',
  'server',
  'enclave',
  'node',
  'broker',
  'gas',
  'tx',
]
const NAME_WIDTH = 34
const WIDTH = 10
const MS_PER_SECOND = 1_000

/** The lines of its table. */
export function tradingTable(result: TradingResult): string[] {
  const { rows, floor, brokerPerSecond, killAddedMs, limited, notes } = result
  const kill = killAddedMs === null ? 'not measured: no enclave stays up' : `${seconds(killAddedMs)} s`
  return [
    `  ${''.padEnd(NAME_WIDTH)}${HEAD.map((cell) => cell.padStart(WIDTH)).join('')}`,
    ...rows.map(lineOf),
    ...floor.map(lineOf),
    '  server, enclave, node: ms of CPU for each order; broker: requests; tx: transactions',
    `  the stand-in alone: ${brokerPerSecond.toFixed(0)} requests/s`,
    `  enclave killed in the middle of a burst, added until all are settled: ${kill}`,
    ...(limited === null ? [] : limitedLines(limited)),
    ...notes.map((note) => `  ${note}`),
  ]
}

function lineOf(row: TradingRow): string {
  const { what, orders, perSecond, p50Ms, p99Ms, blocks, cpu, requests, gas, transactions } = row
  const cells = [
    String(orders),
    perSecond.toFixed(1),
    seconds(p50Ms),
    seconds(p99Ms),
    blocks === null ? '–' : String(blocks),
    ...[cpu.server, cpu.enclave, cpu.node].map((ms) => ms.toFixed(1)),
    requests === null ? '–' : requests.toFixed(2),
    gas.toFixed(0),
    transactions.toFixed(2),
  ]
  return `  ${what.padEnd(NAME_WIDTH)}${cells.map((cell) => cell.padStart(WIDTH)).join('')}`
}

/** Leaves out the first minute, which begins with a full budget. */
function limitedLines({ settled, requests, refused }: LimitedResult): string[] {
  const later = settled.slice(1)
  const mean = later.reduce((sum, count) => sum + count, 0) / later.length
  const all = settled.reduce((sum, count) => sum + count, 0)
  return [
    `  200 broker requests a minute enforced: ${settled.join(', ')} settled by minute`,
    `    minutes 2 to ${settled.length}: ${mean.toFixed(0)} a minute; ${(requests / all).toFixed(2)} requests each, ${refused} of ${requests} refused (429)`,
    '    floor: 200 a minute, with one request for each order',
  ]
}

function seconds(ms: number): string {
  return (ms / MS_PER_SECOND).toFixed(2)
}
