// The client's portfolio and history tell what the real enclave wrote, and follow corporate actions as it does: real contracts, broker
// stand-in. test/e2e/cliHistory.test.ts has buys, sales and refunds, test/client/history/year.test.ts their figures.
import { expect, it } from 'vitest'
import { dayAt } from '../../../src/broker/newYork.js'
import { PORTFOLIO_UPDATED } from '../../../src/chain/calledAuthorization.js'
import { topicOf } from '../../../src/client/contractEvents.js'
import { type HistoryEntry, holdingsOf, ordersOf } from '../../../src/client/history.js'
import type { Client } from '../../../src/client/index.js'
import { authorizationTargets } from '../../../src/protocol/authorizationTypes.js'
import { bytesToHex, type Hex, hexToBytes } from '../../../src/protocol/hex.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'
import { ONE_SHARE } from '../../../src/protocol/units.js'
import { deployForwarder } from '../../contracts/fixtures/forwarder.js'
import { posting } from '../../enclave/support/chainRelay.js'
import { USER_KEY, type Wish } from '../../enclave/support/parties.js'
import { buy, sell } from '../../enclave/support/scenarios.js'
import { useWorld } from '../../enclave/support/world.js'
import { shares, usd } from '../../support/brokerStandIn.js'
import { enact } from '../../support/corporateActions.js'
import { changeAnswers, historyClient, kindsOf, readAll } from './historySetting.js'

const world = useWorld()
const WEEK = 7 * 86_400
const NEW_SECRET: Hex = `0x${'c4'.repeat(32)}`

const client = (keys: readonly Hex[] = [bytesToHex(USER_KEY)]) => historyClient(world().chain, keys)
const history = async () => readAll(await client())
const seconds = () => Math.floor(world().clock.now() / 1_000)
const cashOut: Wish = { who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(50) }
const sharesOut: Wish = { who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) }
const act = async (wished: Omit<Parameters<typeof enact>[1], 'symbol' | 'recordAt'>, recordAt?: number) =>
  enact(world().chain, { symbol: 'AAPL', recordAt: recordAt ?? (await world().chain.now()), ...wished })

/** The portfolio is the enclave's, and the effects of all entries add up to it. */
async function expectSum(reader: Client): Promise<readonly HistoryEntry[]> {
  const opened = await reader.getPortfolio()
  expect(opened?.portfolio).toEqual(await world().portfolio('alice'))
  expect(opened?.uncounted).toEqual([])
  const entries = await readAll(reader)
  const held = Object.entries(opened?.portfolio.positions ?? {}).map(([symbol, { qty }]) => [symbol, qty])
  const { cash, positions } = holdingsOf(entries)
  expect(cash).toBe(opened?.portfolio.cash ?? 0n)
  const counted = Object.entries(positions).map(([symbol, { shares }]) => [symbol, shares])
  expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(held))
  return entries
}

/** No entry has to make up for a version that was not read. */
async function expectCarried(reader: Client): Promise<readonly HistoryEntry[]> {
  const entries = await expectSum(reader)
  expect(kindsOf(entries)).not.toContain('adjusted')
  return entries
}

it('portfolio and history follow each kind of corporate action where it entered the list, before and after the next order', async () => {
  await world().settled(buy(1_000))
  const bought = (await world().portfolio('alice'))?.positions.AAPL?.qty ?? 0n
  const { control } = world().broker
  const split = { type: 'forward_split', symbol: 'AAPL', newRate: '4', oldRate: '1' } as const
  control.book({ ...split, day: dayAt(new Date()) })
  control.price({ symbol: 'AAPL', price: '200' })
  await act({ kind: 'SPLIT', ratio: [4n, 1n] })
  await act({ kind: 'ENTITLEMENT' }, seconds() + 60)
  const before = await expectCarried(await client())
  expect(kindsOf(before)).toEqual(['opened', 'accepted', 'bought', 'carried', 'carried'])
  await world().clock.sleep(120_000)
  await world().settled(sell(400))
  await act({ kind: 'PAYMENT', ratio: [250_000n, 1n], entitlement: 1 })
  await act({ kind: 'STOCK_DIVIDEND', ratio: [21n, 20n] })
  await act({ kind: 'SYMBOL_CHANGE', successor: 'AAPX' })
  const entries = await expectCarried(await client())
  const carried = entries.filter((entry) => entry.kind === 'carried')
  const left = bought * 4n - 2n * ONE_SHARE
  const grown = (left * 21n) / 20n
  expect(carried).toMatchObject([
    { action: { kind: 'SPLIT', index: 0 }, cash: 0n, shares: { AAPL: bought * 3n } },
    { action: { kind: 'ENTITLEMENT' }, cash: 0n, shares: {}, entitled: bought * 4n },
    { action: { kind: 'PAYMENT' }, cash: bought / 1_000n, shares: {}, entitled: bought * 4n },
    { action: { kind: 'STOCK_DIVIDEND' }, shares: { AAPL: grown - left } },
    { action: { kind: 'SYMBOL_CHANGE' }, shares: { AAPL: -grown, AAPX: grown } },
  ])
  const { positions, dividends, realised } = holdingsOf(entries)
  expect(dividends).toEqual({ AAPL: bought / 1_000n })
  expect(positions).toMatchObject({ AAPX: { shares: grown } })
  await act({ kind: 'REMOVAL', ...{ symbol: 'AAPX' } })
  const after = await expectCarried(await client())
  const cost = positions.AAPX?.cost ?? 0n
  expect(holdingsOf(after)).toMatchObject({ positions: {}, realised: { ...realised, AAPX: -cost } })
  const [{ cursor } = expect.fail('no entry')] = carried
  expect(await readAll(await client(), { after: cursor })).toEqual(after.slice(4))
})

it.each([
  ['an action', topicOf('ActionEnacted'), (reader: Client) => readAll(reader)],
  ['former versions', PORTFOLIO_UPDATED, (reader: Client) => reader.getPortfolio()],
] as const)('a node that leaves out %s makes a read fail, and no sum wrong', async (_what, topic, read) => {
  await world().settled(buy(1_000))
  const exDate = seconds()
  await world().clock.sleep(60_000)
  await world().settled(buy(400))
  await act({ kind: 'ENTITLEMENT' }, exDate)
  const logs = await world().chain.provider.getLogs({ fromBlock: 0, topics: [topic] })
  const left = logs.slice(0, 2).map(({ transactionHash }) => transactionHash)
  changeAnswers(world().chain, (answer) =>
    Array.isArray(answer) ? answer.filter((log) => !left.includes(log.transactionHash)) : answer,
  )
  await expect(read(await client())).rejects.toMatchObject({ code: 'unexpected-answer' })
})

it('an order that was settled by a portfolio of before a split is told in the new shares', async () => {
  world().relay.faults.push('pass', ...new Array<'withhold'>(100).fill('withhold'))
  const order = await world().open(buy(1_000))
  const run = world().run(order, { budget: 30 })
  await run.catch(() => undefined)
  await act({ kind: 'SPLIT', ratio: [2n, 1n] })
  await world().relay.land()
  const entries = await expectCarried(await client())
  const { qty = 0n } = (await world().portfolio('alice'))?.positions.AAPL ?? {}
  expect(entries.at(-1)).toMatchObject({ kind: 'bought', shares: qty, cost: usd(1_000) })
  expect(qty).toBeGreaterThan(9n * ONE_SHARE)
})

it('a late dividend counts the shares of its ex-date, also where another contract forwarded the write of that day', async () => {
  const forwarder = await deployForwarder(world().chain)
  const relay = posting(world().relay, () => async ({ primaryType, message, signature }) => {
    const { contract, method } = authorizationTargets[primaryType]
    const key = contract === 'OrderEscrow' ? 'escrow' : 'ledger'
    await forwarder.call(key, method, message, signature)
    return { kind: 'taken' }
  })
  await world().settled(buy(1_000), { deps: { relay } })
  const bought = (await world().portfolio('alice'))?.positions.AAPL?.qty ?? 0n
  const exDate = seconds()
  await world().clock.sleep(60_000)
  await world().settled(buy(400), { deps: { relay } })
  await world().settled(sell(1_400))
  await act({ kind: 'ENTITLEMENT' }, exDate)
  await act({ kind: 'PAYMENT', ratio: [220_000n, 1n] })
  const entries = await expectCarried(await client())
  const cash = (bought * 220_000n) / ONE_SHARE
  expect(entries.slice(-2)).toMatchObject([{ entitled: bought }, { entitled: bought, cash }])
})

it('a late dividend of a time whose key is lost is named, and counts as nothing', async () => {
  await world().settled(buy(1_000))
  const exDate = seconds()
  await world().clock.sleep(60_000)
  await world().settled({ ...buy(400), change: { userPubKey: publicKeyOf(hexToBytes(NEW_SECRET)) } })
  await act({ kind: 'ENTITLEMENT' }, exDate)
  const late = await client([NEW_SECRET])
  const opened = await late.getPortfolio()
  expect(opened?.uncounted).toMatchObject([{ kind: 'ENTITLEMENT', symbol: 'AAPL', recordAt: exDate }])
  expect(opened?.portfolio.entitlements).toBeUndefined()
  expect((await readAll(late)).at(-1)).toMatchObject({ kind: 'carried', entitled: null })
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
  const terms = { side: 'DEPOSIT', symbol: 'AAPL', usdc: null, shares: shares(1), value: null }
  expect(ordersOf(await history()).at(-1)).toMatchObject({ state: 'OPEN', ...terms })

  await world().run(order)
  const refused = await world().open({ ...wish, amount: shares(2) })
  expect(await world().run(refused)).toMatchObject({ outcome: 'refunded' })
  const unanswered = await world().open(wish)
  await world().chain.mineAt(unanswered.deadline + WEEK)
  await world().chain.send('alice', 'escrow', 'reclaim', unanswered.orderId)
  const all = await expectCarried(await client())
  const entries = all.slice(5)
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
  expect(all.slice(0, 5).filter((entry) => 'deposit' in entry)).toEqual([])
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
  const all = await expectCarried(await client())
  const entries = all.slice(3)
  expect(kindsOf(entries)).toEqual(['opened', 'accepted', 'reclaimed', 'sold'])
  expect(entries[2]).toMatchObject({ side: 'SELL', symbol: 'AAPL', usdc: usd(400), returned: 0n })
  expect(entries[3]).toMatchObject({ shares: shares(2), version: 4n })
  expect(ordersOf(all)[1]).toMatchObject({ state: 'REFUNDED', shares: shares(2) })
})

it('the history of an account reports the versions of a key that is not held, and their sum', async () => {
  await world().settled(buy(1_000))
  const change = { userPubKey: publicKeyOf(hexToBytes(NEW_SECRET)) }
  await world().settled({ ...sell(400), change })
  await world().settled({ ...cashOut, change })
  await world().settled(buy(200))
  const entries = await expectSum(await client())
  expect(kindsOf(entries)).toEqual([
    ...['opened', 'accepted', 'bought', 'opened', 'unreadable', 'unreadable'],
    ...['opened', 'unreadable', 'cash-withdrawn', 'opened', 'accepted', 'adjusted', 'bought'],
  ])
  expect(entries[4]).toMatchObject({ reason: 'other-key', action: 'updated', version: 3n })
  expect(entries[5]).toMatchObject({ reason: 'other-key', action: 'settled', version: 4n })
  const adjusted = entries.find((entry) => entry.kind === 'adjusted')
  expect(adjusted).toMatchObject({ sinceVersion: 2n, shares: { AAPL: -shares(2) } })
  expect(holdingsOf(entries).isComplete).toBe(false)
})
