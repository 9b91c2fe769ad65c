import { writeFile } from 'node:fs/promises'
import * as z from 'zod'
import {
  type Client,
  ClientError,
  type Duration,
  formatDecimal,
  type Hex,
  NotSubmittedError,
  type OrderRequest,
  type SealedOrder,
  ServerError,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../../client/index.js'
import { createReceipt } from '../../client/receipt/index.js'
import { feeNames, feesOfAmount } from '../../protocol/fees.js'
import { symbolSchema } from '../../protocol/identifiers.js'
import { type Limit, sideSchema, timeInForceSchema } from '../../protocol/orderTerms.js'
import { PRICE_DECIMALS } from '../../protocol/units.js'
import { anAmount, anId, parsedBy } from '../../terminal/arguments.js'
import { CommandError, failureOf, usage } from '../../terminal/failure.js'
import type { AddCommand, CommandContext } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'
import { addFollowing, conclude, exitOf, type Following } from './orderReport.js'

type Side = OrderRequest['side']

const validitySchema = z.custom<Duration>(
  (text) => /^[1-9]\d*[mhd]$/.test(String(text)),
  'expected a duration such as 15m, 4h or 30d',
)

interface Options extends WalletOptions, Following {
  readonly validFor?: Duration
  readonly payBy: 'wallet' | 'cash'
  /** USD with 6 decimals. */
  readonly limit?: bigint
  readonly timeInForce?: Limit['timeInForce']
  readonly sponsored?: true
  /** USDC base units. */
  readonly approve?: bigint
  readonly receipt?: string
}

const ABOUT = `The amount is in USDC, such as 1000 or 250.50, or in shares for a withdrawal or a deposit of shares. Buys and sales are by amount, not by share count. A deposit moves the wallet's USDC or shares into the portfolio.`

const ABOUT_RESUME = 'submits a sealed order again whose escrow is already open, or whose opening is signed'

export const addOrder: AddCommand = (root, context) => {
  const noWait = 'ends once the server has the order'
  const summary = 'places a sealed order and follows it until it ends'
  const order = addWalletCommand(root, 'order', summary, ABOUT)
    .argument('<side>', 'buy, sell, withdraw or deposit', (text) => parsedBy(sideSchema)(text.toUpperCase()))
    .argument('<symbol>', 'such as AAPL, or USDC to withdraw or deposit', parsedBy(symbolSchema))
    .argument('<amount>', 'in USDC, or in shares')
    .option(
      '--valid-for <duration>',
      'cancels the unfilled rest after this time: 15m, 4h, 1d (default), up to 30d',
      parsedBy(validitySchema),
    )
    .option(
      '--pay-by <wallet|cash>',
      "pays a buy from the wallet's USDC, or from the portfolio's cash, which shows no amount on the chain",
      parsedBy(z.enum(['wallet', 'cash'])),
      'wallet',
    )
    .option(
      '--limit <price>',
      'makes it a limit order: the highest price of a buy, the lowest of a sale, in USD. Only enclave and broker see it',
      anAmount(PRICE_DECIMALS),
    )
    .option(
      '--time-in-force <day|gtd>',
      'ends a limit order at the close of the market (day, the default), or renews it each day until the deadline (gtd)',
      (text) => parsedBy(timeInForceSchema)(text.toUpperCase()),
    )
    .option(
      '--sponsored',
      'signs the opening instead of sending it: the platform opens the escrow and pays the gas, so the wallet needs no ether and no approval',
    )
    .option(
      '--approve <usdc>',
      'lets the escrow take up to so much for this order and later ones, which then need one request less of a wallet that asks ("allowance --help")',
      anAmount(USDC_DECIMALS),
    )
    .option(
      '--receipt <file>',
      'writes a receipt, which shows this one order to its reader ("verify-receipt --help"): keep it as confidential as the order',
    )
  addFollowing(order, noWait).action((side: Side, symbol: string, amount: string, options: Options) => {
    const request = requestOf(side, symbol, amount, options)
    return withWallet(options, context.env, async (client) => {
      const orderId = await place(request, { client, context }, options)
      await conclude(orderId, client, context, options, exitOf)
    })
  })
  addFollowing(addWalletCommand(order, 'resume', ABOUT_RESUME), noWait)
    .argument('<orderId>', 'its id', anId)
    .action((orderId: Hex, options: WalletOptions & Following) =>
      withWallet(options, context.env, async (client) => {
        await resume(orderId, { client, context })
        await conclude(orderId, client, context, options, exitOf)
      }),
    )
}

function requestOf(
  side: Side,
  symbol: string,
  amount: string,
  { validFor, payBy, limit: price, timeInForce, approve, sponsored }: Options,
): OrderRequest {
  if (price === undefined && timeInForce !== undefined) {
    throw new CommandError('usage', '--time-in-force needs --limit')
  }
  const isPaidInUsdc = side === 'BUY' ? payBy === 'wallet' : side === 'DEPOSIT' && symbol === 'USDC'
  if (approve !== undefined && (sponsored || !isPaidInUsdc)) {
    throw new CommandError('usage', '--approve is for USDC that the wallet itself pays')
  }
  const limit = price === undefined ? undefined : { price, timeInForce: timeInForce ?? 'DAY' }
  if (side === 'BUY' || side === 'SELL') {
    const trade = { symbol, usdc: anAmount(USDC_DECIMALS)(amount), limit, validFor }
    return side === 'BUY' ? { side, ...trade, payFrom: payBy } : { side, ...trade }
  }
  if (limit !== undefined) throw new CommandError('usage', '--limit is for buys and sales')
  if (side === 'DEPOSIT' && payBy === 'cash')
    throw new CommandError('usage', 'a deposit comes from the wallet')
  if (symbol === 'USDC') return { side, usdc: anAmount(USDC_DECIMALS)(amount), validFor }
  return { side, symbol, shares: anAmount(SHARE_DECIMALS)(amount), validFor }
}

interface Placing {
  readonly client: Client
  readonly context: CommandContext
}

async function place(
  request: OrderRequest,
  { client, context }: Placing,
  { receipt, approve, ...options }: Pick<Options, 'sponsored' | 'approve' | 'receipt'>,
): Promise<Hex> {
  const { terminal, signal } = context
  const sponsored = options.sponsored === true
  await printFees(request, { client, context })
  terminal.progress('reading the portfolio')
  for (const { kind, why } of await client.plan(request, { sponsored, approve, signal })) {
    terminal.progress(`${kind}: ${why}`)
  }
  try {
    const { order, opened } = await client.placeOrder(request, {
      ...{ signal, sponsored, approve },
      async beforeOpen(sealed) {
        if (receipt !== undefined) await writeReceipt(receipt, sealed, client)
        terminal.progress(`order ${sealed.orderId} sealed; opening its escrow`)
      },
      onIdTaken({ orderId, by, times }) {
        terminal.progress(
          `the wallet ${by} took the order id ${orderId} first (${times}×); trying again ` +
            'with a new id. Report that wallet to the operator; Ctrl-C stops',
        )
      },
      onUnfinished({ orderId, state }) {
        // Where it is open, the failure says it.
        if (state !== 'open') terminal.progress(`${UNFINISHED[state]}: "order resume ${orderId}" takes it up`)
      },
    })
    terminal.progress(`escrow opened in ${opened.txHash}; the server has the order`)
    return order.orderId
  } catch (error) {
    throw error instanceof NotSubmittedError ? notSubmitted(error) : error
  }
}

const UNFINISHED = {
  signed: 'the order stays signed for ten minutes',
  unopened: 'the transaction that opens the order may still be mined',
}

/** Only this run knows the key of the order's content. A retry under another id replaces the file. */
async function writeReceipt(path: string, sealed: SealedOrder, client: Client): Promise<void> {
  const receipt = createReceipt(sealed, await client.getPlatform())
  try {
    await writeFile(path, `${JSON.stringify(receipt, null, 2)}\n`, { mode: 0o600, flush: true })
  } catch {
    throw usage(`the file ${path} of --receipt cannot be written`)
  }
}

function notSubmitted({ order, cause, requestId }: NotSubmittedError): CommandError {
  const text = `the escrow is open, but the order did not reach the server: run "order resume ${order.orderId}"`
  return new CommandError('not-submitted', `${text} (${failureOf(cause).message})`, requestId)
}

/** Prints the order's fees before anything is signed. */
async function printFees(
  request: OrderRequest,
  { client, context: { terminal, signal } }: Placing,
): Promise<void> {
  if (request.side !== 'BUY' && request.side !== 'SELL') return
  const { side, symbol, usdc } = request
  try {
    const { fees, symbols } = await client.getMarket({ signal })
    const later = feeNames(fees, 'both')
    if (side === 'BUY') {
      if (later !== '')
        terminal.progress(`no fee now: selling the shares pays the broker's ${later} for both trades`)
      return
    }
    const price = symbols.find((equity) => equity.symbol === symbol)?.price ?? null
    const about = feesOfAmount(fees, usdc, price)
    if (about === 0n) return
    const amount = about === null ? '' : `about ${formatDecimal(about, USDC_DECIMALS)} USDC, `
    terminal.progress(
      `the broker's fees (${feeNames(fees)}) are deducted from the proceeds: ${amount}each rounded up to the cent`,
    )
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    terminal.progress("what the order pays in the broker's fees is not known now: the server has no prices")
  }
}

async function resume(orderId: Hex, { client, context }: Placing): Promise<void> {
  const { signal, terminal } = context
  const resumed = await client.resumeOrder(orderId, { sendSigned: true, signal }).catch((error: unknown) => {
    if (!(error instanceof ClientError && error.code === 'no-kept-order')) throw error
    throw usage(`no sealed order ${orderId} here: it has ended, or was sealed on another machine`)
  })
  const says = {
    ended: 'the order has ended',
    void: 'the order was never opened and never will be: no money moved',
    submitted: 'the server has the order',
    signed: 'the order is signed, and not open',
    unopened: 'the order is not open: a transaction that opens it may still be mined',
  }
  terminal.progress(says[resumed])
}
