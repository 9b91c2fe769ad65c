// Orders of every kind, each up to the run that is of interest.
import { dayAt } from '../../../src/broker/index.js'
import { shares, usd } from '../../support/brokerStandIn.js'
import { enact } from '../../support/corporateActions.js'
import type { OpenedOrder, Wish } from './parties.js'
import type { Scenario } from './stage.js'
import { SYMBOLS, type World } from './world.js'

export const buy = (usdc: number): Wish => ({
  who: 'alice',
  side: 'BUY',
  symbol: 'AAPL',
  amount: usd(usdc),
  escrow: usd(usdc),
})
export const sell = (usdc: number): Wish => ({
  who: 'alice',
  side: 'SELL',
  symbol: 'AAPL',
  amount: usd(usdc),
})
export const buyFromCash: Wish = { who: 'alice', side: 'BUY', symbol: 'MSFT', amount: usd(300) }
const DAY = 86_400

async function withShares(w: World) {
  await w.settled(buy(1_000))
}

async function withCash(w: World) {
  await withShares(w)
  await w.settled(sell(500))
}

/** The broker books two shares for one, and the price stays, so that amounts go on meaning the same shares. */
const splitBooked: Scenario['broker'] = ({ control }) => {
  const price = SYMBOLS.find(({ symbol }) => symbol === 'AAPL')?.price ?? ''
  const day = dayAt(new Date())
  control.book({ type: 'forward_split', symbol: 'AAPL', day, newRate: '2', oldRate: '1' })
  control.price({ symbol: 'AAPL', price })
}

/** The public list has that split. */
const splitListed = async ({ chain }: World) =>
  enact(chain, { kind: 'SPLIT', symbol: 'AAPL', recordAt: await chain.now(), ratio: [2n, 1n] })

/** First something that happened before, then the order. */
function after(before: (w: World) => Promise<void>, wish: Wish) {
  return async (w: World) => {
    await before(w)
    return w.open(wish)
  }
}

/** Runs the order until it is live at the broker. */
async function placed(w: World, order: OpenedOrder) {
  const { outcome } = await w.run(order)
  if (outcome !== 'placed') throw new Error(`expected placed, got ${outcome}`)
}

async function placedUntilDeadline(w: World, order: OpenedOrder) {
  await placed(w, order)
  await w.chain.mineAt(order.deadline + 1)
}

/** Takes an order's money back seven days after its deadline. */
export async function reclaim({ chain }: World, { who, orderId, deadline }: OpenedOrder) {
  await chain.mineAt(deadline + 7 * DAY)
  await chain.send(who, 'escrow', 'reclaim', orderId)
}

/** Reclaims a live order after the broker has filled it. */
async function reclaimed(w: World, order: OpenedOrder) {
  await placed(w, order)
  w.broker.control.release({})
  await reclaim(w, order)
}

const hold: Scenario['broker'] = (broker) => broker.control.fill({ mode: 'hold' })

/** Rests until its price is reached, and is renewed after the close. */
const limited = (price: number) => ({
  deadlineIn: 5 * DAY,
  limit: { price: usd(price), timeInForce: 'GTD' } as const,
})

/** Its first day ends with a part filled; the rest fills on the next. */
async function dayOver(w: World, order: OpenedOrder) {
  w.broker.control.fill({ mode: 'partial', fraction: '0.4', times: 1 })
  await placed(w, order)
  w.broker.control.clock({ open: false })
  w.broker.control.clock({ open: true })
}

export const trades: Record<string, Scenario> = {
  'a buy': { arrange: (w) => w.open(buy(250)), outcome: 'settled', everyCall: true },
  'a sale': { arrange: after(withShares, sell(400)), outcome: 'settled' },
  'a sale of shares that were split since': {
    async arrange(w) {
      await withShares(w)
      const order = await w.open(sell(400))
      await splitListed(w)
      return order
    },
    broker: splitBooked,
    outcome: 'settled',
  },
  'a buy from cash': {
    arrange: after(withCash, buyFromCash),
    outcome: 'settled',
  },
  'a sale that fills in part': {
    arrange: after(withShares, sell(400)),
    broker: (broker) => broker.control.fill({ mode: 'expire', fraction: '0.4' }),
    outcome: 'settled',
  },
  'a limit buy that is renewed for its rest': {
    arrange: (w) => w.open({ ...buy(250), ...limited(210) }),
    begin: dayOver,
    outcome: 'settled',
  },
  'a buy that the broker rejects': {
    arrange: (w) => w.open(buy(250)),
    broker: (broker) => broker.control.fill({ mode: 'reject' }),
    outcome: 'refunded',
  },
}

export const withdrawals: Record<string, Scenario> = {
  'a withdrawal of cash': {
    arrange: after(withCash, { who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(300) }),
    outcome: 'settled',
  },
  'a withdrawal of shares': {
    arrange: after(withShares, { who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) }),
    outcome: 'settled',
  },
}

export const refusals: Record<string, Scenario> = {
  'a refused buy': { arrange: (w) => w.open({ ...buy(250), symbol: 'TSLA' }), outcome: 'refunded' },
  'a live order at its deadline': {
    arrange: after(withShares, sell(400)),
    broker: hold,
    begin: placedUntilDeadline,
    outcome: 'refunded',
  },
  'a partly filled order at its deadline': {
    arrange: (w) => w.open(buy(250)),
    broker: (broker) => broker.control.fill({ mode: 'partial', fraction: '0.5' }),
    begin: placedUntilDeadline,
    outcome: 'settled',
  },
  'a queued order at its deadline': {
    arrange: after(withShares, { ...sell(400), deadlineIn: 2 * DAY }),
    broker: (broker) => broker.control.clock({ open: false }),
    async begin(w, order) {
      await w.run(order)
      await w.chain.mineAt(order.deadline + 1)
    },
    outcome: 'refunded',
  },
}

/** Runs the order until it waits, then cancels it. */
async function cancelled(w: World, order: OpenedOrder) {
  const { outcome } = await w.run(order)
  if (outcome !== 'placed' && outcome !== 'queued')
    throw new Error(`expected an order that waits, got ${outcome}`)
  await w.cancel(order)
}

export const cancels: Record<string, Scenario> = {
  'a cancelled new buy': {
    arrange: (w) => w.open(buy(250)),
    begin: (w, order) => w.cancel(order),
    outcome: 'refunded',
  },
  'a cancelled queued sale': {
    arrange: after(withShares, { ...sell(400), deadlineIn: 2 * DAY }),
    broker: (broker) => broker.control.clock({ open: false }),
    begin: cancelled,
    outcome: 'refunded',
  },
  'a limit sale that is cancelled overnight': {
    arrange: after(withShares, { ...sell(400), ...limited(250) }),
    async begin(w, order) {
      await placed(w, order)
      w.broker.control.clock({ open: false })
      await w.cancel(order)
    },
    outcome: 'refunded',
  },
  'a cancelled live sale': {
    arrange: after(withShares, sell(400)),
    broker: hold,
    begin: cancelled,
    outcome: 'refunded',
  },
  'a cancelled buy that is filled in part': {
    arrange: (w) => w.open(buy(250)),
    broker: (broker) => broker.control.fill({ mode: 'partial', fraction: '0.5' }),
    begin: cancelled,
    outcome: 'settled',
  },
}

export const reclaims: Record<string, Scenario> = {
  'a reclaimed sale with its fill': {
    arrange: after(withShares, sell(400)),
    broker: hold,
    begin: reclaimed,
    outcome: 'done',
  },
  'a reclaimed buy from cash with its fill': {
    arrange: after(withCash, buyFromCash),
    broker: hold,
    begin: reclaimed,
    outcome: 'done',
  },
  'a reclaimed buy with its fill': {
    arrange: (w) => w.open(buy(250)),
    broker: hold,
    begin: reclaimed,
    outcome: 'done',
    loss: usd(250),
  },
}
