import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ratioOf, type Turn, turnOf } from './compare.js'
import type { AccountsResult, CostResult, Figure, LatencyResult, Result, RouteResult } from './figure.js'
import { floodsTable } from './floodsResult.js'
import { idleTable } from './idleResult.js'
import type { Machine } from './machine.js'
import { narrationTable } from './narrationResult.js'
import { overloadTable } from './overloadResult.js'
import { BENCH_DIRECTORY } from './platform.js'
import { relayTable } from './relayResult.js'
import { type Spread, spreadOf } from './statistics.js'
import { storesTable } from './storesResult.js'
import { tradingTable } from './tradingResult.js'

const CPU = 'CPU µs/request'

/** What is told of a route: how it is called, and to how many digits it means something. */
const MEASURES: readonly { name: string; digits: number; of: (turn: Turn) => number | null }[] = [
  { name: 'requests/s', digits: 0, of: ({ perSecond }) => perSecond },
  { name: 'p50 ms', digits: 2, of: ({ p50Ms }) => p50Ms },
  { name: 'p99 ms', digits: 2, of: ({ p99Ms }) => p99Ms },
  { name: CPU, digits: 0, of: ({ cpuUsPerRequest }) => cpuUsPerRequest },
]

interface Summary {
  readonly name: string
  readonly digits: number
  readonly ours: Spread
  readonly peer: Spread
  /** Of each round's two turns. */
  readonly ratio: Spread
}

/** The lines of a result's table. */
export function tableOf(title: string, result: Result): string[] {
  return [title, ...linesOf(result), '']
}

function linesOf(result: Result): string[] {
  if (result.kind === 'relay') return relayTable(result)
  if (result.kind === 'idle') return idleTable(result)
  if (result.kind === 'narration') return narrationTable(result)
  if (result.kind === 'latencies') return latencyTable(result)
  if (result.kind === 'overload') return overloadTable(result)
  if (result.kind === 'floods') return floodsTable(result)
  if (result.kind === 'cost') return costTable(result)
  if (result.kind === 'trading') return tradingTable(result)
  if (result.kind === 'stores') return storesTable(result)
  if (result.kind === 'accounts') return accountsTable(result)
  return routeTable(result)
}

/** Leaves the result as JSON, under the figure's name. */
export async function writeResult(figure: Figure, result: Result, machine: Machine): Promise<void> {
  const { name, title } = figure
  const directory = join(BENCH_DIRECTORY, 'results')
  await mkdir(directory, { recursive: true })
  const summary =
    result.kind === 'route'
      ? { summary: Object.keys(result.goals).map((peer) => summarize(result, peer)) }
      : {}
  const record = { figure: name, title, measuredAt: new Date().toISOString(), machine, ...summary, ...result }
  await writeFile(join(directory, `${name}.json`), `${JSON.stringify(record, null, 2)}\n`)
}

function summarize({ comparison }: RouteResult, peer: string): Summary[] {
  const turns = comparison.rounds.map(({ ours, peers }) => ({ ours, peer: turnOf(peers, peer) }))
  return MEASURES.flatMap(({ name, digits, of }) => {
    if (turns.some((turn) => of(turn.ours) === null || of(turn.peer) === null)) return []
    const value = (turn: Turn) => of(turn) ?? Number.NaN
    const ours = spreadOf(turns.map((turn) => value(turn.ours)))
    const other = spreadOf(turns.map((turn) => value(turn.peer)))
    return [{ name, digits, ours, peer: other, ratio: ratioOf(comparison, peer, value) }]
  })
}

function routeTable(result: RouteResult): string[] {
  const { rounds, connections } = result.comparison.settings
  return [
    ...Object.entries(result.goals).flatMap(([peer, goal]) => peerTable(result, peer, goal)),
    `  medians of ${rounds} rounds in turns, ${connections} connections`,
    ...result.notes.map((note) => `  ${note}`),
  ]
}

function peerTable(result: RouteResult, peer: string, goal: number): string[] {
  const reached = ratioOf(result.comparison, peer, ({ perSecond }) => perSecond).median
  const summary = summarize(result, peer)
  const cpu = summary.find(({ name }) => name === CPU)
  return [
    `  ${''.padEnd(16)}${'ours'.padStart(9)}${peer.padStart(9)}${'ratio'.padStart(9)}   min..max`,
    ...summary.map(summaryLine),
    ...(cpu === undefined ? [] : [leastLine(cpu)]),
    `  goal: ${goal} of its requests/s: ${reached >= goal ? 'met' : 'missed'}`,
  ]
}

function summaryLine({ name, digits, ours, peer, ratio }: Summary): string {
  const cells = [ours.median.toFixed(digits), peer.median.toFixed(digits), ratio.median.toFixed(2)]
  const numbers = cells.map((cell) => cell.padStart(9)).join('')
  return `  ${name.padEnd(16)}${numbers}   ${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)}`
}

/** What else the machine does only ever adds to it: the least is the nearest to what the code takes. */
function leastLine({ ours, peer }: Summary): string {
  const cells = [ours.min.toFixed(0), peer.min.toFixed(0), (ours.min / peer.min).toFixed(2)]
  return `  ${'  the least'.padEnd(16)}${cells.map((cell) => cell.padStart(9)).join('')}`
}

function latencyTable({ rows, notes }: LatencyResult): string[] {
  const width = Math.max(...rows.map(({ what }) => what.length))
  return [
    `  ${''.padEnd(width)}${'p50 ms'.padStart(10)}${'p99 ms'.padStart(10)}`,
    ...rows.map(
      ({ what, p50Ms, p99Ms }) =>
        `  ${what.padEnd(width)}${p50Ms.toFixed(2).padStart(10)}${p99Ms.toFixed(2).padStart(10)}`,
    ),
    ...notes.map((note) => `  ${note}`),
  ]
}

function costTable({ partUs, requestUs }: CostResult): string[] {
  const share = requestUs === null ? 'unknown' : `${((100 * partUs) / requestUs).toFixed(2)} %`
  return [
    `  ${partUs.toFixed(2)} µs each, of ${requestUs?.toFixed(0) ?? 'unknown'} µs of CPU of a bare Express request: ${share}`,
  ]
}

function accountsTable({ rows, notes }: AccountsResult): string[] {
  const one = rows[0]?.perSecond ?? Number.NaN
  return [
    ...rows.map(
      ({ accounts, perSecond }) =>
        `  ${accounts} accounts  ${perSecond.toFixed(0).padStart(6)}/s   ${(perSecond / one).toFixed(2)} times one`,
    ),
    '  goal: 1.9 times with two, 3.6 times with four',
    ...notes.map((note) => `  ${note}`),
  ]
}
