// The invariants of the money: the module that the doctor runs, with the broker's books from its control.
import { expect } from 'vitest'
import { activityPageSchema, asActivities } from '../../../src/broker/activities.js'
import { storedOrderSchema } from '../../../src/broker/order.js'
import { joined } from '../../../src/broker/orders.js'
import type { Rpc } from '../../../src/chain/rpc.js'
import type { ChainState } from '../../../src/enclave/chainState.js'
import { checkMoney, type Disagreement } from '../../../src/enclave/doctor/invariants.js'
import { type BrokerBooks, byFirstId, readMoneyState } from '../../../src/enclave/doctor/moneyState.js'
import type { PortfolioStore } from '../../../src/enclave/stores.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../../src/protocol/units.js'
import type { ActivityView, BrokerControl, OrderView } from '../../../src/simulator/index.js'
import { FEES } from '../../support/brokerBooks.js'

/** The bookings of a stand-in. */
export interface Booked {
  readonly activities: readonly ActivityView[]
  readonly orders: readonly OrderView[]
}

interface InvariantDeps {
  chain: ChainState
  rpc: Pick<Rpc, 'send'>
  portfolios: PortfolioStore
  /** Every wallet that can hold USDC. */
  wallets: readonly Hex[]
  broker: BrokerControl
  brokerCashAtStart: string
  /** USDC base units that buys cost which were reclaimed after their fill: the platform's loss. */
  loss?: bigint
  /** The bookings of earlier stand-ins of the same account. */
  before?: Booked | undefined
}

/** Holds every portfolio against chain and broker. */
export async function checkInvariants(deps: InvariantDeps): Promise<void> {
  expect(await findDisagreements(deps)).toEqual([])
}

/** The rules that do not hold. Fails unless USDC in escrow, pool and wallets is all there is. */
export async function findDisagreements(deps: InvariantDeps): Promise<Disagreement[]> {
  const [usdc, { head }] = [await deps.chain.usdc(), await deps.chain.look()]
  const holders = [deps.chain.pool.address, deps.chain.escrow.address, ...deps.wallets]
  const held = await Promise.all(holders.map((holder) => usdc.balanceOf(holder, head.hash)))
  expect(held.reduce((sum, each) => sum + each)).toBe(await usdc.totalSupply(head.hash))
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
function booksOf(broker: BrokerControl, cashAtStart: string, before?: Booked): BrokerBooks {
  const isEnclaves = ({ account }: { account: string }) => account === 'enclave'
  const activities = [...(before?.activities ?? []), ...broker.activities()].filter(isEnclaves)
  const views = [...(before?.orders ?? []), ...broker.orders()].filter(isEnclaves)
  const orders = new Map(views.map((view) => [view.id, storedOrderSchema.parse(view)]))
  const entries = asActivities(activityPageSchema.parse(activities))
  const account = broker.accounts().find(({ name }) => name === 'enclave')
  if (!account) throw new Error('the broker has no account of the enclave')
  return {
    cash: usdc(account.cash) - usdc(cashAtStart),
    positions: new Map(
      Object.entries(account.positions).map(([symbol, qty]) => [symbol, parseDecimal(qty, SHARE_DECIMALS)]),
    ),
    activities: entries,
    orders: byFirstId(joined(orders), entries.fills),
  }
}

function usdc(text: string): bigint {
  return parseDecimal(text, USDC_DECIMALS, 'down')
}
