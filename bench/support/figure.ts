// A figure is a table: its rows are measured in rounds, and its bars judge them.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../../src/sandbox/settings.js'
import type { Generator } from './load.js'

/** Where the bench leaves everything. */
export const BENCH_DIRECTORY = join(ROOT, 'data/bench')

/** Those of the command line: `npm run bench -- --help` describes them. */
export type Options = Readonly<
  Record<'rounds' | 'seconds' | 'stored' | 'accounts' | 'stream', number> & { cpuProf: boolean }
>

/** The means to measure a figure. */
export interface BenchContext {
  readonly options: Options
  readonly generator: Generator
  /** Runs when the figure is over. */
  readonly cleanUp: AsyncDisposableStack
  /** The settings of every program that are not the default, a line for each program. */
  readonly settings: Set<string>
}

export interface Figure {
  /** As on the command line. */
  readonly name: string
  readonly title: string
  /** Starts everything that the table needs. */
  prepare(context: BenchContext): Promise<Table>
}

/** The numbers of one row in one round, by the heading of the column, which names the unit. */
export type Cells = Readonly<Record<string, number>>
/** All rows of one round, by name. */
type Round = Readonly<Record<string, Cells>>
/** Measures a row once. Round 0 warms up. */
export type Turn = (round: number) => Promise<Cells>

export interface Table {
  readonly rows: Readonly<Record<string, Turn>>
  readonly bars: readonly Bar[]
  /** A reader needs these to understand the numbers. */
  readonly notes: readonly string[]
  /**
   * So many rounds, row by row, without a warm-up. By default there are as many as the command line says and one more to warm up,
   * and the rows take turns: the first of a round is the last of the next.
   */
  readonly serialRounds?: number
  /** Checks the outcome after the last round. @throws when the numbers have no meaning */
  verify?(): Promise<void>
}

interface Limit {
  readonly atLeast?: number
  readonly atMost?: number
}

/** A ratio or a number, perhaps with a limit. */
export interface Bar extends Limit {
  readonly what: string
  /** NaN where the round cannot tell. */
  readonly of: (round: Round) => number
}

export function bar(column: string, row: string, limit: Limit): Bar {
  return { what: `${column}, ${row}`, of: (round) => cellOf(round, row, column), ...limit }
}

/** A column of one row by that of another, in each round: other work on the machine slows all rows of a round. */
export function ratio(column: string, row: string, by: string, limit: Limit = {}): Bar {
  const of = (round: Round) => cellOf(round, row, column) / cellOf(round, by, column)
  return { what: `${column}, ${row} ÷ ${by}`, of, ...limit }
}

export function cellOf(round: Round, row: string, column: string): number {
  return round[row]?.[column] ?? Number.NaN
}

/** @param rounds of a table that names no number of its own */
export async function measure({ rows, serialRounds, verify }: Table, rounds: number): Promise<Round[]> {
  const names = Object.keys(rows)
  const numbers = Array.from({ length: (serialRounds ?? rounds) + 1 }, (_, round) => round)
  const rotated = (first: number) => [...names.slice(first), ...names.slice(0, first)]
  const order = serialRounds
    ? names.flatMap((row) => numbers.slice(1).map((round) => ({ row, round })))
    : numbers.flatMap((round) => rotated(round % names.length).map((row) => ({ row, round })))
  const measured = numbers.map(() => new Map<string, Cells>())
  for (const { row, round } of order) {
    const cells = await rows[row]?.(round)
    if (cells) measured[round]?.set(row, cells)
  }
  await verify?.()
  return measured.slice(1).map((cells) => Object.fromEntries(cells))
}

/** The lines of a figure's table. */
export function linesOf({ rows, bars, notes }: Table, rounds: readonly Round[]): string[] {
  const columns = [...new Set(rounds.flatMap((round) => Object.values(round).flatMap(Object.keys)))]
  const table = [
    ['', ...columns],
    ...Object.keys(rows).map((row) => [row, ...columns.map((column) => cellText(rounds, row, column))]),
  ]
  const padded = (text: string, index: number) => {
    const width = Math.max(...table.map((line) => line[index]?.length ?? 0))
    return index === 0 ? text.padEnd(width) : text.padStart(width)
  }
  const lines = table.map((line) => line.map(padded).join('  '))
  return [...lines, ...bars.map((bar) => barLine(bar, rounds)), ...notes].map((line) => `  ${line}`)
}

/** The median of several values, and their range; NaN without any. */
function spreadOf(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number) => sorted.at(index) ?? Number.NaN
  const middle = (sorted.length - 1) / 2
  return { median: (at(Math.ceil(middle)) + at(Math.floor(middle))) / 2, min: at(0), max: at(-1) }
}

/**
 * The median. By its name, a value may be the least or the most: other work on the machine only adds to the CPU of a row, so the
 * least counts.
 */
function summaryOf(name: string, { median, min, max }: ReturnType<typeof spreadOf>): number {
  if (name.startsWith('least ')) return min
  return name.startsWith('most ') ? max : median
}

function cellText(rounds: readonly Round[], row: string, column: string): string {
  const spread = spreadOf(rounds.flatMap((round) => round[row]?.[column] ?? []))
  return numberText(summaryOf(column, spread))
}

function barLine({ what, of, atLeast, atMost }: Bar, rounds: readonly Round[]): string {
  const spread = spreadOf(rounds.map(of).filter((value) => !Number.isNaN(value)))
  const { min, max } = spread
  const judged = summaryOf(what, spread)
  if (Number.isNaN(judged)) return `${what}: not judged`
  const range = min === max ? '' : ` (${numberText(min)}..${numberText(max)})`
  const line = `${what}: ${numberText(judged)}${range}`
  const isMet = judged >= (atLeast ?? -Infinity) && judged <= (atMost ?? Infinity)
  if (atLeast === undefined && atMost === undefined) return line
  const limit = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
  return `${line}, bar ${limit}: ${isMet ? 'met' : 'missed'}`
}

/** Three digits say enough of a noisy figure. */
function numberText(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2)
}

/** Leaves the lines and every round as JSON, under the figure's name. */
export async function writeResult({ name, title }: Figure, result: object): Promise<void> {
  const directory = join(BENCH_DIRECTORY, 'results')
  await mkdir(directory, { recursive: true })
  const record = { figure: name, title, measuredAt: new Date().toISOString(), ...result }
  await writeFile(join(directory, `${name}.json`), `${JSON.stringify(record, null, 2)}\n`)
}
