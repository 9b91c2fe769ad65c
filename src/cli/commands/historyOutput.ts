import type { Command } from 'commander'
import * as z from 'zod'
import {
  type AccountHistory,
  csvOf,
  explorerLink,
  getHistory,
  type HistoryEntry,
  type HistoryOptions,
} from '../../client/history.js'
import type { Client, Hex } from '../../client/index.js'
import type { Limit } from '../../protocol/orderTerms.js'
import { secureUrlSchema } from '../../protocol/secureUrl.js'
import { PRICE_DECIMALS, SHARE_DECIMALS, USDC_DECIMALS } from '../../protocol/units.js'
import { parsedBy } from '../../terminal/arguments.js'
import { usage } from '../../terminal/failure.js'
import { type Block, type Cell, table } from '../../terminal/render.js'
import type { CommandContext } from '../context.js'
import { parsed, stateStore, withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'

const blockSchema = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

interface Options extends WalletOptions {
  readonly csv?: true
  readonly explorer?: string
  readonly fromBlock?: number
  readonly confirmations?: number
}

/** A history that was read. */
interface ReadHistory {
  readonly entries: readonly HistoryEntry[]
  /** Whether it begins with the account's first event. */
  readonly isWhole: boolean
  /** The transaction's link, or its hash without an explorer. */
  transaction(txHash: Hex | null): string
}

interface HistoryOutput {
  readonly head: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
  /** A line of JSON each. */
  readonly json: readonly unknown[]
  /** Shown below the table, and not in CSV. */
  readonly more?: readonly Block[]
}

/** A history that takes longer, on a long chain for the first time, says so as often. */
const PROGRESS_MS = 10_000

/** The wallet's history. Its final part stays in the state directory, sealed by the client: the next command reads later blocks alone. */
export async function readHistory(
  client: Client,
  { env, terminal, signal }: CommandContext,
  { fromBlock, confirmations }: Pick<HistoryOptions, 'fromBlock' | 'confirmations'> = {},
): Promise<AccountHistory> {
  terminal.progress('reading the history')
  // What is kept is final by the default alone.
  const store = confirmations === undefined ? stateStore(env, 'history') : undefined
  const waiting = setInterval(() => terminal.progress('still reading the history'), PROGRESS_MS)
  try {
    return await getHistory(client, { fromBlock, confirmations, store, signal })
  } finally {
    clearInterval(waiting)
  }
}

/** Adds a command that reads the wallet's history and prints what `outputOf` makes of it. */
export function addHistoryCommand(
  root: Command,
  context: CommandContext,
  { name, summary, about }: Readonly<Record<'name' | 'summary' | 'about', string>>,
  outputOf: (history: ReadHistory) => HistoryOutput,
): void {
  const { env, terminal } = context
  addWalletCommand(root, name, summary, about)
    .option('--csv', 'CSV (RFC 4180) instead of a table: amounts are plain decimal numbers')
    .option(
      '--explorer <url>',
      'adds a link to each transaction, such as https://etherscan.io (TRADING_EXPLORER_URL)',
    )
    .option('--from-block <n>', 'the first block to read; default 0', parsedBy(blockSchema))
    .option(
      '--confirmations <n>',
      'blocks that must hold an event until it is final; default 12',
      parsedBy(blockSchema.min(1)),
    )
    .action(async (options: Options) => {
      const { csv, fromBlock, confirmations } = options
      if (csv && terminal.json) throw usage('choose one of --csv and --json')
      const given = options.explorer ?? env.TRADING_EXPLORER_URL
      const explorer = given ? parsed(secureUrlSchema, given, '--explorer') : undefined
      const { entries } = await withWallet(options, env, (client) =>
        readHistory(client, context, { fromBlock, confirmations }),
      )
      const {
        head,
        rows,
        json,
        more = [],
      } = outputOf({
        entries,
        isWhole: fromBlock === undefined || fromBlock === 0,
        transaction(txHash) {
          if (txHash === null) return ''
          return explorer === undefined ? txHash : explorerLink(explorer, txHash)
        },
      })
      if (csv) terminal.document(csvOf(head, rows))
      else if (terminal.json) for (const line of json) terminal.result({ json: line, blocks: [] })
      else terminal.result({ json: null, blocks: [table(head, rows), ...more] })
    })
}

/** Empty for null. */
export const usdc = (units: bigint | null): Cell => (units === null ? '' : { units, decimals: USDC_DECIMALS })
export const shares = (units: bigint | null): Cell =>
  units === null ? '' : { units, decimals: SHARE_DECIMALS }

/** The limit's price in USD and the time in force; empty for an order at the market's price. */
export const limitCells = (limit: Limit | null | undefined): Cell[] =>
  limit ? [{ units: limit.price, decimals: PRICE_DECIMALS }, limit.timeInForce] : ['', '']

/** ISO 8601 in UTC, of Unix seconds; empty for null. */
export function timeOf(timestamp: number | null): string {
  return timestamp === null ? '' : new Date(timestamp * 1_000).toISOString().replace('.000Z', 'Z')
}
