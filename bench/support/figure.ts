import type { Platform } from './platform.js'
import type { Spread } from './statistics.js'

/** The options of one call of the bench, and the platform that its figures share. */
export interface BenchContext {
  readonly rounds: number
  readonly roundMs: number
  readonly connections: number
  /** Authorizations over which the relay's memory is followed; 0: not at all. */
  readonly followed: number
  /** Stored orders of the idle server, one measurement for each number. */
  readonly stored: readonly number[]
  /** Events that the narrator catches up with. */
  readonly events: number
  readonly trading: TradingOptions
  /** Options of the measured server's process, such as `--cpu-prof`. */
  readonly nodeOptions: readonly string[]
  /** Starts when a figure first asks for it, and serves all of them. */
  platform(): Promise<Platform>
  print(line: string): void
}

/** How much trading is measured. */
export interface TradingOptions {
  /** Each has one order in the burst. */
  readonly accounts: number
  /** Authorizations that the relay has under way at once. */
  readonly inFlight: number
  readonly streamSeconds: number
  /** How long the broker's limit is enforced at the end; 0: not at all. */
  readonly limitedMinutes: number
}

export interface Figure {
  /** As on the command line. */
  readonly name: string
  readonly title: string
  measure(context: BenchContext): Promise<Result>
}

/** Every figure's result: one table, the bars that it has to reach, and its rounds for the JSON file. */
export interface Result {
  readonly rows: readonly Row[]
  readonly bars: readonly Bar[]
  /** A reader needs these to understand the numbers. */
  readonly notes: readonly string[]
  readonly rounds?: unknown
}

export interface Row {
  readonly what: string
  /** By the heading of the column, which names the unit. */
  readonly cells: Readonly<Record<string, Cell>>
}

/** A spread shows as its median; null was not measured. */
export type Cell = Spread | number | string | null

/** A ratio or a time that has a limit, or is only shown. */
export interface Bar {
  readonly what: string
  /** Null where this run cannot judge it. */
  readonly value: Spread | null
  readonly atLeast?: number
  readonly atMost?: number
}

export function verdictOf({
  value,
  atLeast = -Infinity,
  atMost = Infinity,
}: Bar): 'met' | 'missed' | 'not judged' {
  if (value === null) return 'not judged'
  return value.median >= atLeast && value.median <= atMost ? 'met' : 'missed'
}
