import * as z from 'zod'
import {
  formatDecimal,
  type Hex,
  isSignedOrder,
  type OrderRequest,
  parseDecimal,
  provesUnopened,
  type SealedOrder,
  ServerError,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../../client/index.js'
import { ProtocolError } from '../../protocol/errors.js'
import { feeNames, feesOfAmount } from '../../protocol/fees.js'
import { symbolSchema } from '../../protocol/identifiers.js'
import { sideSchema } from '../../protocol/intent.js'
import type { Command, CommandContext } from '../command.js'
import { UsageError } from '../failure.js'
import { parsed, readArguments, readDuration, readId, WALLET_OPTIONS } from '../input/arguments.js'
import { connectWallet, type WalletConnection } from '../input/connection.js'
import { createKeptOrders, type KeptOrders } from '../input/keptOrders.js'
import { conclude, exitOf, readTimeout } from './orderReport.js'

const OPTIONS = {
  ...WALLET_OPTIONS,
  deadline: { type: 'string', default: '24h' },
  'pay-by': { type: 'string', default: 'wallet' },
  sponsored: { type: 'boolean', default: false },
  'no-wait': { type: 'boolean', default: false },
  timeout: { type: 'string' },
} as const

type Values = ReturnType<typeof readOptions>['values']

const readOptions = (args: readonly string[]) => readArguments(args, OPTIONS)

export const orderCommand: Command = {
  name: 'order',
  summary: 'places a sealed order and follows it until it ends',
  help: `order <buy|sell|withdraw|deposit> <symbol> <amount> [options]
order resume <orderId> [options]

The amount is in USDC, such as 1000 or 250.50, or in shares for a withdrawal or a deposit of shares. Buys and sales are by
amount, not by share count. A deposit moves the wallet's USDC or shares into the portfolio. "order resume" submits a sealed
order again whose escrow is already open, or whose opening is signed.

  --deadline <duration>    cancels the unfilled rest at this time: 90s, 15m, 24h (default), up to 30d
  --pay-by <wallet|cash>   pays a buy from the wallet's USDC (default), or from the portfolio's cash, which shows no amount
                           on the chain
  --sponsored              signs the opening instead of sending it: the platform opens the escrow and pays the gas, so the
                           wallet needs no ether and no approval
  --no-wait                ends once the server has the order
  --timeout <duration>     stops following after this time, up to 24d, with exit code 4; the order continues`,
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
        ? await place(request, { connection, kept, context }, values.sponsored)
        : await resume(resumed ?? '0x', { connection, kept, context })
      const { client } = connection
      return await conclude(orderId, { client, context, wait: !values['no-wait'], timeoutMs, exitOf })
    } finally {
      connection.close()
    }
  },
}

function requestOf(positionals: readonly string[], values: Values): OrderRequest {
  const [side, symbol, amount, ...others] = positionals
  if (amount === undefined || others.length > 0) throw new UsageError('expected <side> <symbol> <amount>')
  const parsedSide = parsed(sideSchema, side?.toUpperCase(), 'the side')
  const ticker = parsed(symbolSchema, symbol, 'the symbol')
  const inShares = isMove(parsedSide) && ticker !== 'USDC'
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

/** Whether an order moves an asset between wallet and portfolio and trades nothing. */
function isMove(side: OrderRequest['side']): boolean {
  return side === 'WITHDRAW' || side === 'DEPOSIT'
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

async function place(
  request: OrderRequest,
  { connection, kept, context }: Placing,
  sponsored: boolean,
): Promise<Hex> {
  const { terminal, signal } = context
  const mine: SealedOrder[] = []
  const forgetMine = () => Promise.all(mine.map(({ orderId }) => kept.forget(orderId)))
  await printFees(request, { connection, context })
  terminal.progress('reading the portfolio')
  try {
    const { order, opened } = await connection.client.placeOrder(request, {
      signal,
      sponsored,
      earlier: await kept.all(),
      async beforeOpen(sealed) {
        mine.push(sealed)
        await kept.keep(sealed)
        terminal.progress(`order ${sealed.orderId} sealed; opening its escrow`)
      },
      onIdTaken({ orderId, by, times }) {
        terminal.progress(
          `the wallet ${by} took the order id ${orderId} first (${times}×); trying again ` +
            'with a new id. Report that wallet to the operator; Ctrl-C stops',
        )
      },
    })
    terminal.progress(`escrow opened in ${opened.txHash}; the server has the order`)
    await forgetMine()
    return order.orderId
  } catch (error) {
    const last = mine.at(-1)
    if (last === undefined) throw error
    if (provesUnopened(error, last)) await forgetMine()
    else if (sponsored) {
      terminal.progress(
        `the order stays signed for ten minutes: "order resume ${last.orderId}" sends it again`,
      )
    }
    throw error
  }
}

/** Prints the order's fees before anything is signed. */
async function printFees(
  { side, symbol, maxSpend }: OrderRequest,
  { connection, context: { terminal, signal } }: Omit<Placing, 'kept'>,
): Promise<void> {
  if (isMove(side)) return
  try {
    const { fees, symbols } = await connection.client.getMarket({ signal })
    const later = feeNames(fees, 'both')
    if (side === 'BUY') {
      if (later !== '')
        terminal.progress(`no fee now: selling the shares pays the broker's ${later} for both trades`)
      return
    }
    const price = symbols.find((equity) => equity.symbol === symbol)?.price ?? null
    const about = feesOfAmount(fees, maxSpend, price)
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

async function resume(orderId: Hex, { connection, kept, context }: Placing): Promise<Hex> {
  const order = await kept.find(orderId)
  const { client } = connection
  const { signal } = context
  // The server would refuse to open what is open.
  const isOpen = isSignedOrder(order) && (await client.getOpeningState(order, { signal })) === 'open'
  await client.submitOrder(isOpen ? { ...order, opening: undefined } : order, { signal })
  context.terminal.progress('the server has the order')
  await kept.forget(orderId)
  return orderId
}
