import * as z from 'zod'
import type { Tagged } from '../../client/http.js'
import type { Hex, MarketView, TimelineEntry } from '../../client/index.js'
import { follow } from '../../client/poll.js'
import { withRetries } from '../../client/retry.js'
import { marketSchema } from '../../protocol/api.js'
import { PRICE_DECIMALS } from '../../protocol/units.js'
import type { Command, CommandContext } from '../command.js'
import { EXIT, type ExitCode } from '../exitCodes.js'
import { UsageError } from '../failure.js'
import { COMMON_OPTIONS, readArguments, readId } from '../input/arguments.js'
import { connectServer, type ServerConnection } from '../input/connection.js'
import type { Cell } from '../terminal/render.js'
import type { Terminal } from '../terminal/terminal.js'
import { shownTime } from '../terminal/times.js'

export const watchCommand: Command = {
  name: 'watch',
  summary: "follows an order's timeline to its end, or the market until Ctrl-C",
  help: `watch <orderId> [options]
watch market [options]

Prints a line for each event of the order, oldest first, until the order ends: exit code 0 if it was settled, 3 if it was
refunded or reclaimed. "watch market" prints a line for each symbol whose prices changed, and marks
prices as stale that are older than 15 seconds. With --json each line is an
object.`,
  usesWallet: false,
  async run(args, context) {
    const { values, positionals } = readArguments(args, COMMON_OPTIONS)
    if (positionals.length === 0) throw new UsageError('expected an orderId, or "market"')
    const server = connectServer(values, context.env)
    if (positionals[0] === 'market' && positionals.length === 1) return watchMarket(server, context)
    return watchOrder(readId(positionals, 'orderId'), server, context)
  },
}

async function watchOrder(orderId: Hex, { reader }: ServerConnection, { terminal, signal }: CommandContext) {
  const printed = new Set<string>()
  let exit: ExitCode = EXIT.pending
  for await (const { entries } of reader.followOrderTimeline(orderId, { signal })) {
    for (const entry of entries) {
      const key = JSON.stringify(entry)
      if (printed.has(key)) continue
      printed.add(key)
      terminal.result({ json: entry, blocks: [{ kind: 'line', cells: cellsOf(entry) }] })
      if (entry.kind === 'settled') exit = EXIT.done
      if (entry.kind === 'refunded' || entry.kind === 'reclaimed') exit = EXIT.refused
    }
  }
  return exit
}

const KIND_WIDTH = 15

function cellsOf(entry: TimelineEntry): string[] {
  return [shownTime(entry.at), entry.kind.padEnd(KIND_WIDTH), detailOf(entry)]
}

function detailOf(entry: TimelineEntry): string {
  switch (entry.kind) {
    case 'received':
      return `commit ${entry.commit}`
    case 'cancel-received':
      return 'the account asks for the order to be cancelled'
    case 'triggered':
      return `enclave run ${entry.attempt}, ${entry.reason}`
    case 'outcome':
      return `enclave run ${entry.attempt}: ${entry.outcome}`
    case 'relayed':
      return `${entry.status}, digest ${entry.digest}`
    case 'opening':
      return `${entry.status}${entry.error === null ? '' : `: ${entry.error.name}`}, digest ${entry.digest}`
    case 'transaction':
      return `${entry.status}, ${entry.txHash}`
    default:
      return `block ${entry.blockNumber}, ${entry.txHash}`
  }
}

/** Runs until the user ends it. */
async function watchMarket(
  { http, timing }: ServerConnection,
  { terminal, signal }: CommandContext,
): Promise<ExitCode> {
  let last: Tagged<MarketView> | undefined
  const market = follow(
    {
      // Prices that have not changed have still grown older.
      ask: async (etag) => {
        const ask = () => http.getIfChanged('/market', marketSchema, etag, { signal })
        const answer = await withRetries(ask, timing, signal)
        if (answer !== 'unchanged') last = answer
        return last ?? answer
      },
      isComplete: () => false,
      isFinal: () => false,
    },
    { signal },
  )
  const printed = new Map<string, string>()
  for await (const view of market) printPrices(view, printed, terminal)
  return EXIT.done
}

/** The server calls an answer stale while it fetches the next one, so that a lone watcher's prices often are by seconds. */
const NOTABLE_AGE_MS = 15_000

const oneSymbolSchema = marketSchema.shape.symbols.element

function printPrices(
  { asOf, symbols, ...view }: MarketView,
  printed: Map<string, string>,
  terminal: Terminal,
): void {
  const stale = view.stale && Date.now() - Date.parse(asOf) >= NOTABLE_AGE_MS
  for (const each of symbols) {
    const { symbol, price, bid, ask } = each
    const prices = `${price} ${bid} ${ask} ${stale}`
    if (printed.get(symbol) === prices) continue
    printed.set(symbol, prices)
    const cells = [
      shownTime(asOf),
      symbol,
      priceCell(price),
      priceCell(bid),
      priceCell(ask),
      stale ? 'stale' : '',
    ]
    terminal.result({
      json: { at: asOf, stale, ...z.encode(oneSymbolSchema, each) },
      blocks: [{ kind: 'line', cells: cells.filter((cell) => cell !== '') }],
    })
  }
}

const priceCell = (units: bigint | null): Cell =>
  units === null ? 'none' : { units, decimals: PRICE_DECIMALS }
