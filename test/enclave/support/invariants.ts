// What always holds of the money: the module that the doctor runs, with the broker's books from its control.
import type { JsonRpcApiProvider } from 'ethers'
import { expect } from 'vitest'
import { activityPageSchema, asActivities } from '../../../src/broker/activities.js'
import type { ChainState } from '../../../src/enclave/chainState.js'
import { checkMoney, type Disagreement } from '../../../src/enclave/invariants.js'
import { type BrokerBooks, readMoneyState } from '../../../src/enclave/moneyState.js'
import type { PortfolioStore } from '../../../src/enclave/portfolioStore.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { divide, parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../../src/protocol/units.js'
import type { ActivityView, BrokerControl, OrderView } from '../../../src/sandbox/broker/index.js'
import { FEES } from '../../support/brokerBooks.js'

/** What a stand-in booked. */
export interface Booked {
  readonly activities: readonly ActivityView[]
  readonly orders: readonly OrderView[]
}

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
  /** What earlier stand-ins of the same account booked. */
  before?: Booked | undefined
}

/** A price has up to nine decimal places here. */
const PRICE_DECIMALS = 9

/** Holds every portfolio against chain and broker. */
export async function checkInvariants(deps: InvariantDeps): Promise<void> {
  expect(await findDisagreements(deps)).toEqual([])
}

/** The rules that do not hold. */
export async function findDisagreements(deps: InvariantDeps): Promise<Disagreement[]> {
  const { broker, brokerCashAtStart, before, loss = 0n } = deps
  const state = await readMoneyState({
    ...deps,
    books: async () => booksOf(broker, brokerCashAtStart, before),
  })
  const tolerated = loss > 0n ? ['refunded-unfilled'] : []
  const found = checkMoney(state, { fees: FEES, tolerance: loss })
  return found.filter(({ rule }) => !tolerated.includes(rule))
}

/** The enclave's account at the stand-in; its cash is what has changed since the start. */
export function booksOf(broker: BrokerControl, cashAtStart: string, before?: Booked): BrokerBooks {
  const isEnclaves = ({ account }: { account: string }) => account === 'enclave'
  const activities = [...(before?.activities ?? []), ...broker.activities()].filter(isEnclaves)
  const orders = [...(before?.orders ?? []), ...broker.orders()].filter(isEnclaves)
  const account = broker.accounts().find(({ name }) => name === 'enclave')
  if (!account) throw new Error('the broker has no account of the enclave')
  return {
    cash: usdc(account.cash) - usdc(cashAtStart),
    positions: new Map(
      Object.entries(account.positions).map(([symbol, qty]) => [symbol, parseDecimal(qty, SHARE_DECIMALS)]),
    ),
    activities: asActivities(activityPageSchema.parse(activities)),
    orders: new Map(
      orders.map((order) => {
        const filledQty = parseDecimal(order.filled_qty ?? '0', SHARE_DECIMALS)
        const price = parseDecimal(order.filled_avg_price ?? '0', PRICE_DECIMALS)
        const value = divide(
          filledQty * price,
          10n ** BigInt(PRICE_DECIMALS + SHARE_DECIMALS - USDC_DECIMALS),
          'up',
        )
        const notional = order.notional === null ? null : usdc(order.notional)
        const { side, symbol } = order
        return [order.client_order_id, { side, symbol, filledQty, notional, value }] as const
      }),
    ),
  }
}

function usdc(text: string): bigint {
  return parseDecimal(text, USDC_DECIMALS, 'down')
}
