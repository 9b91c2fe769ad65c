import { mkdir, statfs, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { type Bar, type Cell, type Figure, type Result, type Row, verdictOf } from './figure.js'
import { BENCH_DIRECTORY } from './platform.js'

/** The numbers depend on it besides the code. */
export interface Machine {
  readonly cores: number
  readonly cpu: string
  readonly memoryGiB: number
  readonly node: string
  readonly platform: string
  /** `statfs` type of the bench's directory, in hex; 1021994 is memory. */
  readonly filesystem: string
}

export async function describeMachine(): Promise<Machine> {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    filesystem: (await statfs(BENCH_DIRECTORY)).type.toString(16),
  }
}

/** Runnable processes over the last minute. */
export function currentLoad(): number {
  return Math.round((loadavg()[0] ?? Number.NaN) * 10) / 10
}

/** The lines of a figure's table. */
export function linesOf(title: string, { rows, bars, notes }: Result): string[] {
  return [title, ...tableOf(rows), ...bars.map(barLine), ...notes.map((note) => `  ${note}`)]
}

/** Leaves the result as JSON, under the figure's name. */
export async function writeResult(figure: Figure, result: Result, run: object): Promise<void> {
  const { name, title } = figure
  const directory = join(BENCH_DIRECTORY, 'results')
  await mkdir(directory, { recursive: true })
  const record = { figure: name, title, measuredAt: new Date().toISOString(), ...run, ...result }
  await writeFile(join(directory, `${name}.json`), `${JSON.stringify(record, null, 2)}\n`)
}

function tableOf(rows: readonly Row[]): string[] {
  if (rows.length === 0) return []
  const columns = [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))]
  const table = [
    ['', ...columns],
    ...rows.map(({ what, cells }) => [what, ...columns.map((column) => cellText(cells[column] ?? null))]),
  ]
  const widths = table[0]?.map((_, index) => Math.max(...table.map((line) => line[index]?.length ?? 0))) ?? []
  return table.map((line) => {
    const texts = line.map((text, index) =>
      index === 0 ? text.padEnd(widths[index] ?? 0) : text.padStart(widths[index] ?? 0),
    )
    return `  ${texts.join('  ')}`
  })
}

function barLine(bar: Bar): string {
  const { what, value, atLeast, atMost } = bar
  if (value === null) return `  ${what}: ${verdictOf(bar)}`
  const { median, min, max } = value
  const range = min === max ? '' : ` (${numberText(min)}..${numberText(max)})`
  const measured = `  ${what}: ${numberText(median)}${range}`
  if (atLeast === undefined && atMost === undefined) return measured
  const limit = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
  return `${measured}, bar ${limit}: ${verdictOf(bar)}`
}

function cellText(cell: Cell): string {
  if (cell === null) return '–'
  if (typeof cell === 'string') return cell
  return numberText(typeof cell === 'number' ? cell : cell.median)
}

/** Three digits say enough of a noisy figure. */
function numberText(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2)
}
