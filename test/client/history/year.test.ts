// A year of trading with a set clock: the real contracts and enclave, the stand-in as broker. Statements against the broker's books.
import { expect, it, onTestFinished } from 'vitest'
import { dayAt, startOf } from '../../../src/broker/newYork.js'
import {
  getHistory,
  type HistoryEntry,
  lotsOf,
  periodOf,
  type Statement,
  statementFile,
  statementOf,
} from '../../../src/client/history.js'
import { bytesToHex } from '../../../src/protocol/hex.js'
import {
  notionalOf,
  ONE_CENT,
  parseDecimal,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../../../src/protocol/units.js'
import { USER_KEY, type Wish } from '../../enclave/support/parties.js'
import { buy, buyFromCash, sell } from '../../enclave/support/scenarios.js'
import { createWorld, SYMBOLS, setUpWorld, type World } from '../../enclave/support/world.js'
import { costOf, proceedsOf } from '../../support/brokerBooks.js'
import { shares, startStandIn, usd } from '../../support/brokerStandIn.js'
import { useChain } from '../../support/chain.js'
import { enact } from '../../support/corporateActions.js'
import { pdfText } from '../../support/pdfText.js'
import { historyClient } from './historySetting.js'

const chain = useChain(setUpWorld)
const TWO_MONTHS = 61 * 86_400

/** A world whose broker has the enclave's clock as well. */
let current: World | undefined
const world = () => current ?? expect.fail('the world begins with the test')
async function begin(): Promise<void> {
  const now = () => new Date(current?.clock.now() ?? Date.now())
  const broker = await startStandIn({ symbols: SYMBOLS, now })
  current = createWorld(chain(), broker)
  onTestFinished(broker.stop)
}

/** Two months later, for the chain, the enclave and the broker. */
async function later(): Promise<void> {
  const at = (await world().chain.now()) + TWO_MONTHS
  await world().chain.mineAt(at)
  await world().clock.sleep(at * 1_000 - world().clock.now())
}

const dayNow = () => dayAt(new Date(world().clock.now()))

/** A split at the broker, and on the chain. */
async function split(made: bigint, of: bigint): Promise<void> {
  const type = made > of ? 'forward_split' : 'reverse_split'
  const rates = { newRate: made.toString(), oldRate: of.toString() }
  world().broker.control.book({ type, symbol: 'AAPL', day: dayNow(), ...rates })
  const recordAt = await world().chain.now()
  await enact(world().chain, { kind: 'SPLIT', symbol: 'AAPL', recordAt, ratio: [made, of] })
}

/** A dividend of 25 cents a share, booked two months after its ex-date. @param entitlement its place in the list */
async function dividend(entitlement: number): Promise<void> {
  const { chain, broker } = world()
  const [symbol, recordAt] = ['AAPL', await chain.now()]
  await enact(chain, { kind: 'ENTITLEMENT', symbol, recordAt })
  await later()
  broker.control.book({ type: 'cash_dividend', symbol, day: dayNow(), rate: '0.25' })
  await enact(chain, {
    ...{ kind: 'PAYMENT', symbol, recordAt: startOf(dayNow()) },
    ...{ ratio: [250_000n, 1n], entitlement },
  })
}

async function cancelled(wish: Wish, fill: 'hold' | 'partial'): Promise<string> {
  world().broker.control.fill({ mode: fill, ...(fill === 'partial' && { fraction: '0.5' }) })
  const order = await world().open(wish)
  await world().run(order)
  await world().cancel(order)
  const { outcome } = await world().run(order)
  world().broker.control.clear({ what: 'fills' })
  return outcome
}

/** Sells every AAPL: an order of a little more than they are worth. */
async function sellAll(price: bigint): Promise<void> {
  const { qty = 0n } = (await world().portfolio('alice'))?.positions.AAPL ?? {}
  await world().settled({ ...sell(0), amount: (notionalOf(qty, price, 'up') * 101n) / 100n })
}

/** What the broker says that each of its orders came to, in the order of the fills. */
function tradesAtBroker() {
  return world()
    .broker.control.orders()
    .filter(({ filled_qty: filled }) => Number(filled) > 0)
    .map(({ side, symbol, filled_qty: filled, filled_avg_price: price }) => {
      const qty = parseDecimal(filled, SHARE_DECIMALS)
      const amount = (side === 'buy' ? costOf : proceedsOf)(qty, String(price))
      return { event: side === 'buy' ? 'bought' : 'sold', symbol, qty, amount }
    })
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((all, one) => all + one, 0n)

/** The statements of the months that the history spans. */
function monthly(entries: readonly HistoryEntry[], until: number): Statement[] {
  const names = entries.map(({ timestamp }) => new Date(timestamp * 1_000).toISOString().slice(0, 7))
  return [...new Set(names)].flatMap((name) => {
    const period = periodOf(name)
    return period === null ? [] : [statementOf(entries, period, until)]
  })
}

it('the statements of a year agree with the broker’s activities to the cent', {
  timeout: 300_000,
}, async () => {
  await begin()
  await world().settled(buy(1_000))
  await later()
  await world().settled({ ...buy(300), symbol: 'MSFT' })
  await later()
  await world().settled(sell(400))
  await split(4n, 1n)
  await later()
  expect(await cancelled(buy(500), 'partial')).toBe('settled')
  await dividend(1)
  expect(await cancelled(sell(300), 'hold')).toBe('refunded')
  await later()
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(100) })
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'MSFT', amount: shares(0.25) })
  await later()
  await split(1n, 3n)
  await world().settled({ ...buyFromCash, symbol: 'AAPL', amount: usd(50) })
  await later()
  await sellAll(usd(150))

  const client = await historyClient(world().chain, [bytesToHex(USER_KEY)])
  const { entries, finalUntil } = await getHistory(client, { confirmations: 1 })
  expect(finalUntil).toBe(await world().chain.now())
  const months = monthly(entries, finalUntil)
  expect(months.length).toBeGreaterThan(6)
  const [first, final] = [entries[0], entries.at(-1)].map((entry) => entry?.timestamp ?? 0)
  expect((final ?? 0) - (first ?? 0)).toBeGreaterThan(364 * 86_400)
  expect(months.every(({ isComplete }) => isComplete)).toBe(true)
  expect(months.map(({ isFinal }) => isFinal)).toEqual(months.map((_, at) => at < months.length - 1))
  for (const [at, { opening }] of months.entries()) {
    expect(opening).toEqual(months[at - 1]?.closing ?? { cash: 0n, positions: {} })
  }
  const lines = months.flatMap((month) => month.lines)
  const trades = lines.filter(({ event }) => event === 'bought' || event === 'sold')
  const atBroker = tradesAtBroker()
  expect(
    trades.map(({ event, symbol, shares: change, amount }) => ({
      ...{ event, symbol, amount },
      qty: change === null || change > 0n ? change : -change,
    })),
  ).toEqual(atBroker)

  const aapl = atBroker.filter(({ symbol }) => symbol === 'AAPL')
  const gains = aapl.map(({ event, amount }) => (event === 'sold' ? amount : -amount))
  expect(sum(months.map(({ gain }) => gain ?? expect.fail('a cost is unknown')))).toBe(sum(gains))
  const booked = world()
    .broker.control.activities()
    .filter(({ activity_type: type }) => type === 'DIV')
    .map(({ net_amount: amount }) => parseDecimal(String(amount), USDC_DECIMALS, 'down'))
  expect(booked).toHaveLength(1)
  const difference = sum(booked) - sum(months.map((month) => month.dividends))
  expect(difference > -ONE_CENT && difference < ONE_CENT).toBe(true)

  const last = months.at(-1) ?? expect.fail('there is no month')
  const [account] = world().broker.control.accounts()
  const held = Object.entries(account?.positions ?? {})
  expect(held.map(([symbol, qty]) => [symbol, parseDecimal(qty, SHARE_DECIMALS) - shares(0.25)])).toEqual(
    Object.entries(last.closing.positions),
  )
  const opened = await client.getPortfolio()
  expect(last.closing.cash).toBe(opened?.portfolio.cash)
  expect(lotsOf(entries).lots.map(({ symbol }) => symbol)).toEqual(['MSFT'])
  const pages = pdfText(statementFile(last, 'pdf', world().chain.account('alice')))
  expect(pages.flat().join('\n')).toMatch(/^AAPL +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d /m)
})
