import type { Ceiling } from './ceiling.js'
import type { LoadResult } from './load.js'
import type { Memory } from './memory.js'
import { growthOf, type Spread, spreadOf } from './statistics.js'
import type { Verification } from './verification.js'

/** A relay in one round, until its answers say `confirmed`. */
export interface SenderRound extends LoadResult {
  /** Of the relay's process, and of the node's, for each authorization; null where the system does not tell. */
  readonly cpuUs: number | null
  readonly nodeCpuUs: number | null
}

/** The three ways of sending, right after one another. */
export interface RelayRound {
  /** Sent straight in. */
  readonly ceiling: Ceiling
  readonly ours: SenderRound
  /** Express, ethers' Wallet and NonceManager. */
  readonly plain: SenderRound
}

export interface MemorySample extends Memory {
  /** Relayed since the first sample. */
  readonly authorizations: number
}

export interface RelayResult {
  readonly kind: 'relay'
  readonly rounds: readonly RelayRound[]
  readonly verification: readonly Verification[]
  readonly memory: readonly MemorySample[]
  readonly notes: readonly string[]
}

const GOALS = { ofCeiling: 0.5, ofPlain: 10, ofEthers: 6, heapGrowth: 1.1 }

/** The lines of its table. */
export function relayTable({ rounds, verification, memory, notes }: RelayResult): string[] {
  const ofCeiling = spreadOf(rounds.map(({ ours, ceiling }) => ours.perSecond / ceiling.perSecond))
  const ofPlain = spreadOf(rounds.map(({ ours, plain }) => ours.perSecond / plain.perSecond))
  const oursUs = Math.min(...verification.map((round) => round.oursUs))
  const ethersUs = Math.min(...verification.map((round) => round.ethersUs))
  const growth = growthOf(memory.map(({ heapMiB }) => heapMiB))
  return [
    rateLine('(a) ceiling', spreadOf(rounds.map(({ ceiling }) => ceiling.perSecond))),
    `    CPU µs each at least: ${leastOf(rounds.map(({ ceiling }) => ceiling.nodeCpuUs))} the node's`,
    ...senderLines(
      '(b) ours',
      rounds.map(({ ours }) => ours),
    ),
    ...senderLines(
      '(c) plain',
      rounds.map(({ plain }) => plain),
    ),
    goalLine('(b) / (a)', ofCeiling, GOALS.ofCeiling),
    goalLine('(b) / (c)', ofPlain, GOALS.ofPlain),
    `  (d) verification: ours ${oursUs.toFixed(0)} µs, ethers ${ethersUs.toFixed(0)} µs of CPU at least: ` +
      `${(ethersUs / oursUs).toFixed(1)} times as fast (goal: ${GOALS.ofEthers})`,
    `  memory after ${memory.map((sample) => sample.authorizations).join(', ')}:`,
    `    heap MiB ${memory.map(({ heapMiB }) => heapMiB.toFixed(1)).join(', ')}`,
    `    RSS MiB  ${memory.map(({ rssMiB }) => rssMiB.toFixed(0)).join(', ')}`,
    `    heap at the end by that at the beginning: ${growth.toFixed(2)} (goal: below ${GOALS.heapGrowth})`,
    ...notes.map((note) => `  ${note}`),
  ]
}

function senderLines(name: string, rounds: readonly SenderRound[]): string[] {
  const p50 = spreadOf(rounds.map(({ p50Ms }) => p50Ms)).median
  const p99 = spreadOf(rounds.map(({ p99Ms }) => p99Ms)).median
  const least = (values: readonly (number | null)[]) =>
    Math.min(...values.map((value) => value ?? Number.NaN))
  const [cpu, node] = [
    least(rounds.map(({ cpuUs }) => cpuUs)),
    least(rounds.map(({ nodeCpuUs }) => nodeCpuUs)),
  ]
  return [
    rateLine(name, spreadOf(rounds.map(({ perSecond }) => perSecond))),
    `    p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; CPU µs each at least: ${cpu} its own, ${node} the node's`,
  ]
}

/** What else the machine does only ever adds to it. */
function leastOf(values: readonly (number | null)[]): string {
  return Math.min(...values.map((value) => value ?? Number.NaN)).toFixed(0)
}

function rateLine(name: string, { median, min, max }: Spread): string {
  return `  ${name.padEnd(12)}${median.toFixed(0).padStart(6)}/s   ${min.toFixed(0)}..${max.toFixed(0)}`
}

function goalLine(name: string, { median, min, max }: Spread, goal: number): string {
  const reached = median >= goal ? 'met' : 'missed'
  return `  ${name.padEnd(12)}${median.toFixed(2).padStart(6)}     ${min.toFixed(2)}..${max.toFixed(2)}, goal ${goal}: ${reached}`
}
