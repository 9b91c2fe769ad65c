// What always holds of the money: the module that the doctor runs, with the broker's books from its control.
import type { JsonRpcApiProvider } from 'ethers'
import { expect } from 'vitest'
import type { ChainState } from '../../../src/enclave/chainState.js'
import { checkMoney } from '../../../src/enclave/invariants.js'
import { type BrokerBooks, readMoneyState } from '../../../src/enclave/moneyState.js'
import type { PortfolioStore } from '../../../src/enclave/portfolioStore.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { divide, parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../../src/protocol/units.js'
import type { BrokerControl } from '../../../src/sandbox/broker/index.js'

export interface InvariantDeps {
  chain: ChainState
  provider: JsonRpcApiProvider
  portfolios: PortfolioStore
  /** Every wallet that can hold USDC. */
  wallets: readonly Hex[]
  broker: BrokerControl
  brokerCashAtStart: string
  /** USDC base units that buys cost which were reclaimed after their fill: the platform's loss. */
  loss?: bigint
  /** What the platform bears of the broker's fees and rounding. */
  borne: bigint
}

/** A price has up to nine decimal places here. */
const PRICE_DECIMALS = 9

/** Holds every portfolio against chain and broker. */
export async function checkInvariants(deps: InvariantDeps): Promise<void> {
  const { broker, brokerCashAtStart, borne, loss = 0n } = deps
  const state = await readMoneyState({ ...deps, books: async () => booksOf(broker, brokerCashAtStart) })
  const tolerated = loss > 0n ? ['refunded-unfilled'] : []
  const found = checkMoney(state, { tolerance: loss + borne })
  expect(found.filter(({ rule }) => !tolerated.includes(rule))).toEqual([])
}

/** The enclave's account at the stand-in; its cash is what has changed since the start. */
export function booksOf(broker: BrokerControl, cashAtStart: string): BrokerBooks {
  const account = broker.accounts().find(({ name }) => name === 'enclave')
  if (!account) throw new Error('the broker has no account of the enclave')
  return {
    cash: usdc(account.cash) - usdc(cashAtStart),
    positions: new Map(
      Object.entries(account.positions).map(([symbol, qty]) => [symbol, parseDecimal(qty, SHARE_DECIMALS)]),
    ),
    orders: new Map(
      broker.orders().map((order) => {
        const filledQty = parseDecimal(order.filled_qty ?? '0', SHARE_DECIMALS)
        const price = parseDecimal(order.filled_avg_price ?? '0', PRICE_DECIMALS)
        const value = divide(
          filledQty * price,
          10n ** BigInt(PRICE_DECIMALS + SHARE_DECIMALS - USDC_DECIMALS),
          'up',
        )
        return [order.client_order_id, { side: order.side, symbol: order.symbol, filledQty, value }] as const
      }),
    ),
  }
}

function usdc(text: string): bigint {
  return parseDecimal(text, USDC_DECIMALS, 'down')
}
