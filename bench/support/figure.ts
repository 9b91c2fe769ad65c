import type { TradingOptions } from '../trading.js'
import type { Comparison, Rounds } from './compare.js'
import type { FloodsResult } from './floodsResult.js'
import type { IdleResult } from './idleResult.js'
import type { NarrationResult } from './narrationResult.js'
import type { OverloadResult } from './overloadResult.js'
import type { Platform } from './platform.js'
import type { RelayResult } from './relayResult.js'
import type { StoresResult } from './storesResult.js'
import type { TradingResult } from './tradingResult.js'

/** The settings of one call of the bench, and the platform that its figures share. */
export interface BenchContext {
  readonly rounds: Rounds
  /** Started when a figure first asks for it, and the same for all. */
  platform(): Promise<Platform>
  print(line: string): void
  /** Authorizations over which the relay's memory is followed. */
  readonly followed: number
  /** How many stored envelopes the idle server has, one measurement for each. */
  readonly stored: readonly number[]
  /** Events that the narrator catches up with. */
  readonly events: number
  /** Clients that poll at once. */
  readonly clients: number
  readonly trading: TradingOptions
  /** Of the measured server's process. */
  readonly nodeOptions: readonly string[]
}

/** One of the bench's figures. */
export interface Figure {
  /** As on the command line. */
  readonly name: string
  readonly title: string
  measure(context: BenchContext): Promise<Result>
}

/** A result of a figure. */
export type Result =
  | RouteResult
  | LatencyResult
  | RelayResult
  | IdleResult
  | NarrationResult
  | OverloadResult
  | FloodsResult
  | CostResult
  | TradingResult
  | StoresResult
  | AccountsResult

export interface RouteResult {
  readonly kind: 'route'
  readonly comparison: Comparison
  /** The least ratio of requests per second that is aimed at, by each peer. */
  readonly goals: Readonly<Record<string, number>>
  /** What a reader must know to understand the numbers. */
  readonly notes: readonly string[]
}

export interface LatencyResult {
  readonly kind: 'latencies'
  readonly rows: readonly LatencyRow[]
  /** What a reader must know to understand the numbers. */
  readonly notes: readonly string[]
}

export interface LatencyRow {
  readonly what: string
  readonly p50Ms: number
  readonly p99Ms: number
}

/** What a part takes of a request's CPU. */
export interface CostResult {
  readonly kind: 'cost'
  /** The least of the rounds. */
  readonly partUs: number
  /** Of a bare Express route, the least of the rounds; null where the system does not tell. */
  readonly requestUs: number | null
}

/** What the relay does with one account, and with more. */
export interface AccountsResult {
  readonly kind: 'accounts'
  readonly rows: readonly { readonly accounts: number; readonly perSecond: number }[]
  readonly notes: readonly string[]
}
