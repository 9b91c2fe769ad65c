import * as z from 'zod'
import {
  ClientError,
  ContractError,
  formatDecimal,
  type Hex,
  type OrderRequest,
  parseDecimal,
  ServerError,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../../client/index.js'
import { ProtocolError } from '../../protocol/errors.js'
import { feeNames, feesOfAmount } from '../../protocol/fees.js'
import { symbolSchema } from '../../protocol/identifiers.js'
import { sideSchema } from '../../protocol/intent.js'
import { MAX_TIMER_MS } from '../../protocol/timeLimit.js'
import type { Command, CommandContext } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { Interruption, PendingError, UsageError } from '../failure.js'
import { parsed, readArguments, readDuration, readId, WALLET_OPTIONS } from '../input/arguments.js'
import { connectWallet, type WalletConnection } from '../input/connection.js'
import { createKeptOrders, type KeptOrders } from '../input/keptOrders.js'
import { exitOf, followToEnd, orderReport, progressOf } from './orderReport.js'

const OPTIONS = {
  ...WALLET_OPTIONS,
  deadline: { type: 'string', default: '24h' },
  'pay-by': { type: 'string', default: 'wallet' },
  'no-wait': { type: 'boolean', default: false },
  timeout: { type: 'string' },
} as const

type Values = ReturnType<typeof readOptions>['values']

/** Nothing but the arguments that follow has been asked for. */
const NOTHING_OPENED = new Set<ClientError['code']>(['insufficient-usdc', 'transaction-refused'])

const readOptions = (args: readonly string[]) => readArguments(args, OPTIONS)

export const orderCommand: Command = {
  name: 'order',
  summary: 'seals an order, opens its escrow, submits it and follows it to its end',
  help: `order <buy|sell|withdraw> <symbol> <amount> [options]
order resume <orderId> [options]

The amount is in USDC, such as 1000 or 250.50; of a withdrawal of shares it is in shares. Buys and sales are by amount,
not by share count. "order resume" submits a sealed order again whose escrow is open already.

  --deadline <duration>    what is not done by then is cancelled: 90s, 15m, 24h (default), up to 30d
  --pay-by <wallet|cash> a buy is paid from the wallet's USDC (default), or from the portfolio's cash, which shows no
                           amount on the chain
  --no-wait                end once the server has the order
  --timeout <duration>     stop following after this, up to 24d, with exit code 4; the order goes on`,
  usesWallet: true,
  async run(args, context) {
    const { values, positionals } = readOptions(args)
    const resumed = positionals[0] === 'resume' ? readId(positionals.slice(1), 'orderId') : undefined
    const request = resumed === undefined ? requestOf(positionals, values) : undefined
    const timeoutMs = values.timeout === undefined ? undefined : readTimeout(values.timeout)
    const kept = createKeptOrders(context.env)
    const connection = await connectWallet(values, context.env)
    try {
      const orderId = request
        ? await place(request, { connection, kept, context })
        : await resume(resumed ?? '0x', { connection, kept, context })
      return await conclude(orderId, { connection, context, wait: !values['no-wait'], timeoutMs })
    } finally {
      connection.close()
    }
  },
}

/** In milliseconds. */
function readTimeout(text: string): number {
  const timeoutMs = readDuration(text, '--timeout') * 1_000
  // Its timer would end at once, with the order placed.
  if (timeoutMs > MAX_TIMER_MS) throw new UsageError('--timeout: expected 24d at most')
  return timeoutMs
}

function requestOf(positionals: readonly string[], values: Values): OrderRequest {
  const [side, symbol, amount, ...others] = positionals
  if (amount === undefined || others.length > 0) throw new UsageError('expected <side> <symbol> <amount>')
  const parsedSide = parsed(sideSchema, side?.toUpperCase(), 'the side')
  const ticker = parsed(symbolSchema, symbol, 'the symbol')
  const inShares = parsedSide === 'WITHDRAW' && ticker !== 'USDC'
  const payFrom = parsed(z.enum(['wallet', 'cash']), values['pay-by'], '--pay-by')
  const lifetime = readDuration(values.deadline, '--deadline')
  return {
    side: parsedSide,
    symbol: ticker,
    maxSpend: amountOf(amount, inShares ? SHARE_DECIMALS : USDC_DECIMALS),
    deadline: Math.floor(Date.now() / 1_000) + lifetime,
    payFrom,
  }
}

function amountOf(text: string, decimals: number): bigint {
  try {
    const units = parseDecimal(text, decimals)
    if (units > 0n) return units
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
  }
  throw new UsageError(
    `the amount: expected a number above zero with at most ${decimals} decimals, such as 250.50`,
  )
}

interface Placing {
  readonly connection: WalletConnection
  readonly kept: KeptOrders
  readonly context: CommandContext
}

async function place(request: OrderRequest, { connection, kept, context }: Placing): Promise<Hex> {
  const { terminal, signal } = context
  const mine: Hex[] = []
  await tellFees(request, { connection, context })
  terminal.progress('reading the portfolio')
  try {
    const { order, opened } = await connection.client.placeOrder(request, {
      signal,
      async beforeOpen(sealed) {
        mine.push(sealed.orderId)
        await kept.keep(sealed)
        terminal.progress(`${sealed.orderId} sealed; opening its escrow`)
      },
      onIdTaken({ orderId, by, times }) {
        terminal.progress(
          `another wallet is in the way: ${by} opened an order under the id ${orderId} first (${times}×); trying again ` +
            'with another id. Report that wallet to the operator; Ctrl-C stops',
        )
      },
    })
    terminal.progress(`escrow opened in ${opened.txHash}; the server has the order`)
    await Promise.all(mine.map((orderId) => kept.forget(orderId)))
    return order.orderId
  } catch (error) {
    if (openedNothing(error)) await Promise.all(mine.map((orderId) => kept.forget(orderId)))
    throw error
  }
}

/** Says what the order pays in fees, before anything is signed. */
async function tellFees(
  { side, symbol, maxSpend }: OrderRequest,
  { connection, context: { terminal, signal } }: Omit<Placing, 'kept'>,
): Promise<void> {
  if (side === 'WITHDRAW') return
  try {
    const { fees, symbols } = await connection.client.views.market(signal)
    const later = feeNames(fees, 'both')
    if (side === 'BUY') {
      if (later !== '')
        terminal.progress(`no fee now: a sale of the shares pays the broker's ${later} for both`)
      return
    }
    const price = symbols.find((equity) => equity.symbol === symbol)?.price ?? null
    const about = feesOfAmount(fees, maxSpend, price)
    if (about === 0n) return
    const amount = about === null ? '' : `about ${formatDecimal(about, USDC_DECIMALS)} USDC, `
    terminal.progress(
      `the broker's fees (${feeNames(fees)}) come off what the sale brings: ${amount}each rounded up to the cent`,
    )
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    terminal.progress("what the order pays in the broker's fees is not known now: the server has no prices")
  }
}

/** Whether it is certain that no escrow was opened. */
function openedNothing(error: unknown): boolean {
  return error instanceof ContractError || (error instanceof ClientError && NOTHING_OPENED.has(error.code))
}

async function resume(orderId: Hex, { connection, kept, context }: Placing): Promise<Hex> {
  const order = await kept.find(orderId)
  await connection.client.submitOrder(order, context.signal)
  context.terminal.progress('the server has the order')
  await kept.forget(orderId)
  return orderId
}

interface Conclusion {
  readonly connection: WalletConnection
  readonly context: CommandContext
  readonly wait: boolean
  readonly timeoutMs: number | undefined
}

async function conclude(orderId: Hex, { connection, context, wait, timeoutMs }: Conclusion) {
  const { client } = connection
  const { terminal, signal } = context
  if (!wait) {
    terminal.result(orderReport(await client.getOrder(orderId, signal), null))
    return EXIT.done
  }
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const watched = timeout ? AbortSignal.any([signal, timeout]) : signal
  try {
    const onChange = (status: Parameters<typeof progressOf>[0]) => terminal.progress(progressOf(status))
    const status = await followToEnd(client, orderId, { signal: watched, onChange })
    terminal.result(orderReport(status, await client.openNotice(status)))
    return exitOf(status)
  } catch (error) {
    if (signal.aborted) throw new Interruption(`the order goes on; follow it with "watch ${orderId}"`)
    if (timeout?.aborted) {
      throw new PendingError(`the order is not over yet and goes on; follow it with "watch ${orderId}"`)
    }
    throw error
  }
}
