import * as z from 'zod'
import {
  type AccountMove,
  type OpenedPortfolio,
  type Portfolio,
  SHARE_DECIMALS,
  USDC_DECIMALS,
  type WalletShares,
} from '../../client/index.js'
import { corporateActionSchema } from '../../protocol/corporateActions.js'
import { portfolioSchema } from '../../protocol/portfolio.js'
import { type Block, type Cell, fields, line, shownTime, table } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { AddCommand } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'
import { limitCells } from './historyOutput.js'
import { KEY_WAITS } from './key.js'

const ABOUT = `Prints cash, positions and open orders, and the shares that the wallet itself holds. The output is confidential. With --escrow it needs no server.`

export const addPortfolio: AddCommand = (root, { env, terminal }) => {
  const summary =
    "reads the wallet's portfolio from the chain, decrypts it, and carries it over splits and dividends"
  addWalletCommand(root, 'portfolio', summary, ABOUT).action((options: WalletOptions) =>
    withWallet(options, env, async (client) => {
      terminal.progress('opening the portfolio')
      const opened = await client.getPortfolio()
      const { publicKey } = await client.unlock()
      if (opened !== null && opened.portfolio.userPubKey !== publicKey) terminal.progress(KEY_WAITS)
      for (const { symbol, recordAt } of opened?.uncounted ?? []) {
        terminal.progress(
          `a dividend of ${symbol} is not counted: no key opens the portfolio of ${shownTime(isoOf(recordAt))}`,
        )
      }
      const claims = Object.keys(opened?.portfolio.entitlements ?? {}).length
      if (claims > 0)
        terminal.progress(`claims to cash: ${claims}, not counted before they are paid; "history" has them`)
      const move = await client.getMove()
      if (move !== null) terminal.progress(moveWords(move))
      const others = Object.keys(opened?.portfolio.positions ?? {})
      terminal.result(reportOf(opened, await client.getShares({ others })))
    }),
  )
}

function moveWords({ to, effectiveAt }: AccountMove): string {
  const at = effectiveAt === null ? 'not approved yet' : `due from ${shownTime(isoOf(effectiveAt))} on`
  return `a move of this portfolio to ${to} is proposed, ${at}: object to it with "move withdraw"`
}

const isoOf = (seconds: number) => new Date(seconds * 1_000).toISOString()

function reportOf(opened: OpenedPortfolio | null, held: readonly WalletShares[]): Report {
  const wallet = held.map(({ balance, ...others }) => ({ ...others, balance: balance.toString() }))
  if (opened === null) {
    const none: Block = line(['This wallet has no portfolio yet.'])
    return {
      json: { version: '0', portfolio: null, uncounted: [], wallet },
      blocks: [none, ...walletBlocks(held)],
    }
  }
  const { portfolio, version } = opened
  const uncounted = z.encode(z.array(corporateActionSchema), [...opened.uncounted])
  return {
    json: { version: version.toString(), portfolio: z.encode(portfolioSchema, portfolio), uncounted, wallet },
    blocks: [...blocksOf(portfolio, version), ...walletBlocks(held)],
  }
}

const usdc = (units: bigint): Cell => ({ units, decimals: USDC_DECIMALS, unit: 'USDC' })
const shares = (units: bigint): Cell => ({ units, decimals: SHARE_DECIMALS })

function walletBlocks(held: readonly WalletShares[]): Block[] {
  if (held.length === 0) return []
  return [
    table(
      ['in the wallet', 'shares', 'token'],
      held.map(({ symbol, balance, token }) => [symbol, shares(balance), token]),
    ),
  ]
}

function blocksOf({ cash, positions, openOrders }: Portfolio, version: bigint): Block[] {
  return [
    fields([
      ['cash', usdc(cash)],
      ['version', version.toString()],
    ]),
    table(
      ['symbol', 'shares', 'locked'],
      Object.entries(positions).map(([symbol, { qty, locked }]) => [symbol, shares(qty), shares(locked)]),
    ),
    table(
      ['open order', 'side', 'symbol', 'amount', 'limit', 'time in force'],
      Object.entries(openOrders).map(([orderId, { side, symbol, notional, limit }]) => [
        orderId,
        side,
        symbol,
        usdc(notional),
        ...limitCells(limit),
      ]),
    ),
  ]
}
