import { spreadOf } from './statistics.js'

/** Rows written durably by one engine. */
export interface StoresRound {
  readonly perSecond: number
  /** This process's, with its threads; PostgreSQL's own comes on top. */
  readonly cpuUsPerWrite: number
}

export interface StoresResult {
  readonly kind: 'stores'
  readonly callers: number
  readonly bytes: number
  readonly rounds: readonly { readonly sqlite: StoresRound; readonly postgres: StoresRound }[]
}

const GOAL = 0.8

/** The lines of its table. */
export function storesTable({ callers, bytes, rounds }: StoresResult): string[] {
  const ratio = spreadOf(rounds.map(({ sqlite, postgres }) => postgres.perSecond / sqlite.perSecond))
  const medianOf = (pick: (round: StoresResult['rounds'][number]) => number) =>
    spreadOf(rounds.map(pick)).median.toFixed(0).padStart(12)
  return [
    `  ${''.padEnd(18)}${'SQLite'.padStart(12)}${'PostgreSQL'.padStart(12)}`,
    `  ${'writes/s'.padEnd(18)}${medianOf(({ sqlite }) => sqlite.perSecond)}${medianOf(({ postgres }) => postgres.perSecond)}`,
    `  ${'CPU µs/write here'.padEnd(18)}${medianOf(({ sqlite }) => sqlite.cpuUsPerWrite)}${medianOf(({ postgres }) => postgres.cpuUsPerWrite)}`,
    `  ratio of writes/s: ${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)}); goal: ${GOAL}, ${ratio.median >= GOAL ? 'met' : 'missed'}`,
    `  medians of ${rounds.length} rounds in turns, ${callers} callers, documents of ${bytes} bytes`,
  ]
}
