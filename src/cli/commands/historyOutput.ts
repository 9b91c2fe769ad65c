import * as z from 'zod'
import { explorerLink, type Hex, type HistoryEntry } from '../../client/index.js'
import { secureUrlSchema } from '../../protocol/secureUrl.js'
import { SHARE_DECIMALS, USDC_DECIMALS } from '../../protocol/units.js'
import type { CommandContext } from '../command.js'
import { UsageError } from '../failure.js'
import { parsed, readArguments, WALLET_OPTIONS } from '../input/arguments.js'
import { connectWallet } from '../input/connection.js'
import { csvOf } from '../terminal/csv.js'
import type { Block, Cell } from '../terminal/render.js'

const OPTIONS = {
  ...WALLET_OPTIONS,
  csv: { type: 'boolean', default: false },
  explorer: { type: 'string' },
  'from-block': { type: 'string' },
  confirmations: { type: 'string' },
} as const

/** The help of the options that both commands share. */
export const HISTORY_OPTIONS_HELP = `  --csv                CSV (RFC 4180) instead of a table: amounts are plain decimal numbers
  --explorer <url>     adds a link to each transaction, such as https://etherscan.io (TRADING_EXPLORER_URL)
  --from-block <n>     the first block to read; default 0
  --confirmations <n>  blocks that must hold an event until it is final; default 12`

const blockSchema = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

/** A history that was read, and how to print it. */
interface ReadHistory {
  readonly entries: readonly HistoryEntry[]
  /** Whether it begins with the account's first event. */
  readonly isWhole: boolean
  /** The transaction's link, or its hash without an explorer. */
  transaction(txHash: Hex | null): string
  print(output: HistoryOutput): void
}

interface HistoryOutput {
  readonly head: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
  /** A line of JSON each. */
  readonly json: readonly unknown[]
  /** Shown below the table, and not in CSV. */
  readonly more?: readonly Block[]
}

/** Reads the wallet's history with the options of the arguments. */
export async function readHistory(
  args: readonly string[],
  { env, terminal, signal }: CommandContext,
): Promise<ReadHistory> {
  const { values, positionals } = readArguments(args, OPTIONS)
  if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`)
  if (values.csv && values.json) throw new UsageError('choose one of --csv and --json')
  const fromBlock = optional(blockSchema, values['from-block'], '--from-block')
  const confirmations = optional(blockSchema.min(1), values.confirmations, '--confirmations')
  const explorer = optional(secureUrlSchema, values.explorer ?? env.TRADING_EXPLORER_URL, '--explorer')
  const connection = await connectWallet(values, env)
  try {
    terminal.progress('reading the history')
    const entries: HistoryEntry[] = []
    for await (const entry of connection.client.getHistory({ fromBlock, confirmations, signal })) {
      entries.push(entry)
    }
    return {
      entries,
      isWhole: fromBlock === undefined || fromBlock === 0,
      transaction(txHash) {
        if (txHash === null) return ''
        return explorer === undefined ? txHash : explorerLink(explorer, txHash)
      },
      print({ head, rows, json, more = [] }) {
        if (values.csv) terminal.document(csvOf(head, rows))
        else if (values.json) for (const line of json) terminal.result({ json: line, blocks: [] })
        else terminal.result({ json: null, blocks: [{ kind: 'table', head, rows }, ...more] })
      },
    }
  } finally {
    connection.close()
  }
}

function optional<T>(schema: z.ZodType<T>, value: string | undefined, name: string): T | undefined {
  return value === undefined || value === '' ? undefined : parsed(schema, value, name)
}

/** Empty for null. */
export const usdc = (units: bigint | null): Cell => (units === null ? '' : { units, decimals: USDC_DECIMALS })
export const shares = (units: bigint | null): Cell =>
  units === null ? '' : { units, decimals: SHARE_DECIMALS }

/** ISO 8601 in UTC, of Unix seconds; empty for null. */
export function timeOf(timestamp: number | null): string {
  return timestamp === null ? '' : new Date(timestamp * 1_000).toISOString().replace('.000Z', 'Z')
}
