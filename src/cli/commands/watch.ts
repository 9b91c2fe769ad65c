import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { Hex, MarketView, Reader, TimelineEntry } from '../../client/index.js'
import { marketSchema } from '../../protocol/api.js'
import { PRICE_DECIMALS } from '../../protocol/units.js'
import { EXIT, type ExitCode } from '../../service/exitCodes.js'
import { anId } from '../../terminal/arguments.js'
import { type Cell, line, shownTime } from '../../terminal/render.js'
import type { Terminal } from '../../terminal/terminal.js'
import type { AddCommand, CommandContext } from '../context.js'
import { connectServer } from '../input/connection.js'
import { addServerCommand, type ServerOptions } from '../input/options.js'
import { runWords } from './orderReport.js'

const ABOUT = `Prints a line for each event of the order, oldest first, until the order ends: exit code 0 if it was settled, 3 if it was refunded or reclaimed. With --json each line is an object.`
const ABOUT_MARKET = `Prints a line for each symbol whose prices changed, until Ctrl-C, and marks prices as stale that are older than 15 seconds. With --json each line is an object.`

export const addWatch: AddCommand = (root, context) => {
  const summary = "follows an order's timeline to its end, or the market until Ctrl-C"
  const command = addServerCommand(root, 'watch', summary, ABOUT)
    .argument('<orderId>', "the order's id", anId)
    .action(async (orderId: Hex, options: ServerOptions) =>
      context.endWith(await watchOrder(orderId, connectServer(options, context.env), context)),
    )
  addServerCommand(command, 'market', 'prints prices as they change', ABOUT_MARKET).action(
    (options: ServerOptions) => watchMarket(connectServer(options, context.env), context),
  )
}

async function watchOrder(orderId: Hex, reader: Reader, { terminal, signal }: CommandContext) {
  const printed = new Set<string>()
  let exit: ExitCode = EXIT.pending
  for await (const { entries } of reader.listOrderTimelines(orderId, { signal })) {
    for (const entry of entries) {
      const key = JSON.stringify(entry)
      if (printed.has(key)) continue
      printed.add(key)
      terminal.result({ json: entry, blocks: [line(cellsOf(entry))] })
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
      return `enclave run ${entry.attempt}: ${runWords(entry)}`
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

const POLL_MS = 2_000

/** Runs until the user ends it. Prices that have not changed have still grown older. */
async function watchMarket(reader: Reader, { terminal, signal }: CommandContext): Promise<void> {
  const printed = new Map<string, string>()
  for (;;) {
    printPrices(await reader.getMarket({ signal }), printed, terminal)
    await sleep(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/** The server calls an answer stale while it fetches the next one, so that a lone watcher's prices often are by seconds. */
const NOTABLE_AGE_MS = 15_000

const oneSymbolSchema = marketSchema.shape.symbols.def.element

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
      blocks: [line(cells.filter((cell) => cell !== ''))],
    })
  }
}

const priceCell = (units: bigint | null): Cell =>
  units === null ? 'none' : { units, decimals: PRICE_DECIMALS }
