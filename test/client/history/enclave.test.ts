// The history of what the real enclave wrote, with the real contracts and the broker stand-in.
import { expect, it } from 'vitest'
import { effectOf, minus, NO_BALANCE, plus } from '../../../src/client/history/entries.js'
import { type HistoryEntry, holdingsOf, ordersOf, saleFees } from '../../../src/client/history.js'
import { bytesToHex, type Hex, hexToBytes } from '../../../src/protocol/hex.js'
import type { Portfolio } from '../../../src/protocol/portfolio.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'
import { notionalOf, parseDecimal, SHARE_DECIMALS, toCents } from '../../../src/protocol/units.js'
import { USER_KEY, type Wish } from '../../enclave/support/parties.js'
import { buy, sell } from '../../enclave/support/scenarios.js'
import { useWorld } from '../../enclave/support/world.js'
import { FEES } from '../../support/brokerBooks.js'
import { shares, usd } from '../../support/brokerStandIn.js'
import { historyClient, kindsOf, readAll } from './historySetting.js'

const world = useWorld()
const WEEK = 7 * 86_400
const USER_SECRET = bytesToHex(USER_KEY)
const NEW_SECRET: Hex = `0x${'c4'.repeat(32)}`
const fromCash: Wish = { who: 'alice', side: 'BUY', symbol: 'MSFT', amount: usd(300) }
const cashOut: Wish = { who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(50) }
const sharesOut: Wish = { who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) }

/** The stand-in's spread is two cents around 200. */
const [BID, ASK] = [usd(199.99), usd(200.01)]

/** The filled shares of one of the broker's orders. */
function filledAt(index: number): bigint {
  return parseDecimal(world().broker.control.orders()[index]?.filled_qty ?? '', SHARE_DECIMALS)
}

async function history(keys: readonly Hex[] = [USER_SECRET]): Promise<HistoryEntry[]> {
  return readAll(await historyClient(world().chain, keys))
}

/** The effects of all entries have to be the portfolio. */
async function expectSum(entries: readonly HistoryEntry[]): Promise<void> {
  const portfolio: Portfolio | null = await world().portfolio('alice')
  const sum = entries.map(effectOf).reduce(plus, NO_BALANCE)
  const positions = Object.entries(portfolio?.positions ?? {})
  const held = {
    cash: portfolio?.cash ?? 0n,
    shares: Object.fromEntries(positions.map(([s, { qty }]) => [s, qty])),
  }
  expect(minus(sum, held)).toEqual(NO_BALANCE)
  const { cash, positions: known } = holdingsOf(entries)
  expect({
    cash,
    shares: Object.fromEntries(Object.entries(known).map(([s, { shares: n }]) => [s, n])),
  }).toEqual(held)
}

it('the history of an account tells buys, sales and withdrawals with their shares, costs and prices', async () => {
  const bought = await world().settled(buy(1_000))
  const sold = await world().settled(sell(400))
  const again = await world().settled(fromCash)
  const cash = await world().settled(cashOut)
  const token = await world().settled(sharesOut)
  const entries = await history()
  expect(kindsOf(entries)).toEqual([
    ...['opened', 'accepted', 'bought', 'opened', 'accepted', 'sold', 'opened', 'accepted', 'bought'],
    ...['opened', 'cash-withdrawn', 'opened', 'shares-withdrawn'],
  ])
  const [opened, accepted, fill, , , sale, , , second] = entries
  const { orderId } = bought
  expect(opened).toMatchObject({ orderId, escrowed: usd(1_000), deadline: bought.deadline, isFinal: true })
  expect(accepted).toMatchObject({ orderId, side: 'BUY', symbol: 'AAPL', amount: usd(1_000), version: 1n })
  expect(fill).toMatchObject({ orderId, symbol: 'AAPL', escrowed: usd(1_000), version: 2n })
  if (fill?.kind !== 'bought' || sale?.kind !== 'sold' || second?.kind !== 'bought') throw new Error('kinds')
  expect(fill).toMatchObject({ cost: usd(1_000), shares: filledAt(0), price: ASK })
  expect(sale).toMatchObject({ orderId: sold.orderId, symbol: 'AAPL', shares: shares(2) })
  const fees = saleFees(sale, FEES)
  expect(fees).toEqual({
    gross: toCents(notionalOf(shares(2), BID, 'down'), 'down'),
    fees: usd(0.01) + usd(0.01),
  })
  expect(second).toMatchObject({ orderId: again.orderId, symbol: 'MSFT', escrowed: 0n, amount: usd(300) })
  expect(entries.find(({ kind }) => kind === 'cash-withdrawn')).toMatchObject({
    orderId: cash.orderId,
    amount: usd(50),
  })
  expect(entries.at(-1)).toMatchObject({ orderId: token.orderId, symbol: 'AAPL', shares: shares(1) })
  await expectSum(entries)
  const block = await world().chain.provider.getBlock(fill.cursor.blockNumber)
  expect(fill).toMatchObject({ timestamp: block?.timestamp, cursor: { blockHash: block?.hash } })
  expect(block?.transactions).toContain(fill.txHash)
  const states = ordersOf(entries).map(({ state, side, symbol }) => [state, side, symbol])
  expect(states.join(' ')).toBe(
    'SETTLED,BUY,AAPL SETTLED,SELL,AAPL SETTLED,BUY,MSFT SETTLED,WITHDRAW,USDC SETTLED,WITHDRAW,AAPL',
  )
})

it('the history of an account tells refunds: of an order that it held, and of one that was refused', async () => {
  const refused = await world().open(sell(400))
  expect(await world().run(refused)).toMatchObject({ outcome: 'refunded' })
  world().broker.control.fill({ mode: 'reject' })
  const held = await world().open(buy(1_000))
  expect(await world().run(held)).toMatchObject({ outcome: 'refunded' })
  const entries = await history()
  expect(kindsOf(entries)).toEqual(['opened', 'refunded', 'opened', 'accepted', 'refunded'])
  const none = { side: null, symbol: null, amount: null, returned: 0n }
  expect(entries[1]).toMatchObject({ orderId: refused.orderId, ...none })
  const terms = { side: 'BUY', symbol: 'AAPL', amount: usd(1_000), returned: usd(1_000) }
  expect(entries[4]).toMatchObject({ orderId: held.orderId, ...terms })
  expect(ordersOf(entries).map(({ state }) => state)).toEqual(['REFUNDED', 'REFUNDED'])
  await expectSum(entries)
})

it('the history of an account tells the shares of a deposit, while it is open, and once they are credited or come back', async () => {
  await world().settled(buy(1_000))
  await world().settled({ ...sharesOut, amount: shares(3) })
  const deposit = { symbol: 'AAPL', shares: shares(1) }
  const brought = { symbol: 'AAPL', amount: shares(1) }
  const wish: Wish = { who: 'alice', side: 'DEPOSIT', symbol: 'AAPL', amount: shares(1), shares: brought }
  const order = await world().open(wish)
  const opened = (await history()).at(-1)
  expect(opened).toMatchObject({ kind: 'opened', orderId: order.orderId, escrowed: 0n, deposit })
  const terms = { side: 'DEPOSIT', symbol: 'AAPL', amount: shares(1), value: null }
  expect(ordersOf(await history()).at(-1)).toMatchObject({ state: 'OPEN', ...terms })

  await world().run(order)
  const refused = await world().open({ ...wish, amount: shares(2) })
  expect(await world().run(refused)).toMatchObject({ outcome: 'refunded' })
  const unanswered = await world().open(wish)
  await world().chain.mineAt(unanswered.deadline + WEEK)
  await world().chain.send('alice', 'escrow', 'reclaim', unanswered.orderId)
  const entries = (await history()).slice(5)
  expect(entries).toMatchObject([
    { kind: 'opened', deposit },
    { kind: 'shares-deposited', symbol: 'AAPL', shares: shares(1) },
    { kind: 'opened', deposit },
    { kind: 'refunded', returned: 0n, deposit },
    { kind: 'opened', deposit },
    { kind: 'reclaimed', returned: 0n, deposit },
  ])
  const states = ['SETTLED', 'REFUNDED', 'REFUNDED']
  expect(ordersOf(entries)).toMatchObject(states.map((state) => ({ state, ...terms })))
  // Only a deposit of shares has them.
  expect((await history()).slice(0, 5).filter((entry) => 'deposit' in entry)).toEqual([])
  await expectSum(await history())
})

it('the history of an account tells a reclaim, and the fill that the enclave found later', async () => {
  await world().settled(buy(1_000))
  world().broker.control.fill({ mode: 'hold' })
  const order = await world().open(sell(400))
  await world().run(order)
  world().broker.control.release({ symbol: 'AAPL' })
  await world().chain.mineAt(order.deadline + WEEK)
  await world().chain.send('alice', 'escrow', 'reclaim', order.orderId)
  expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'done' })
  const entries = (await history()).slice(3)
  expect(kindsOf(entries)).toEqual(['opened', 'accepted', 'reclaimed', 'sold'])
  expect(entries[2]).toMatchObject({ side: 'SELL', symbol: 'AAPL', amount: usd(400), returned: 0n })
  expect(entries[3]).toMatchObject({ shares: shares(2), version: 4n })
  expect(ordersOf(await history())[1]).toMatchObject({ state: 'REFUNDED', shares: shares(2) })
  await expectSum(await history())
})

it('the history of an account reports the versions of a key that is not held, and their sum', async () => {
  await world().settled(buy(1_000))
  const change = { userPubKey: publicKeyOf(hexToBytes(NEW_SECRET)) }
  await world().settled({ ...sell(400), change })
  await world().settled({ ...cashOut, change })
  await world().settled(buy(200))
  const entries = await history([USER_SECRET])
  expect(kindsOf(entries)).toEqual([
    ...['opened', 'accepted', 'bought', 'opened', 'unreadable', 'unreadable'],
    ...['opened', 'unreadable', 'cash-withdrawn', 'opened', 'accepted', 'adjusted', 'bought'],
  ])
  expect(entries[4]).toMatchObject({ reason: 'other-key', action: 'updated', version: 3n })
  expect(entries[5]).toMatchObject({ reason: 'other-key', action: 'settled', version: 4n })
  const adjusted = entries.find((entry) => entry.kind === 'adjusted')
  expect(adjusted).toMatchObject({ sinceVersion: 2n, shares: { AAPL: -shares(2) } })
  expect(holdingsOf(entries).isComplete).toBe(false)
  await expectSum(entries)
})
