import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type BrokerError, dayAfter, dayAt } from '../../src/broker/index.js'
import { startOf } from '../../src/broker/newYork.js'
import { createChainState } from '../../src/enclave/chainState.js'
import { checkActions } from '../../src/enclave/doctor/proposed.js'
import { createEnclave } from '../../src/enclave/enclave.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { openNotice } from '../../src/protocol/notice.js'
import { formatDecimal, ONE_SHARE, parseDecimal, SHARE_DECIMALS } from '../../src/protocol/units.js'
import {
  brokerOf,
  ENCLAVE_ACCOUNT,
  sharedBrokerOf,
  shares,
  startStandIn,
  usd,
} from '../support/brokerStandIn.js'
import { enact, type Wished } from '../support/corporateActions.js'
import { approveMove, PUBLIC_KEY } from '../support/oneOfEach.js'
import { posting } from './support/chainRelay.js'
import { USER_KEY, type Wish } from './support/parties.js'
import { buy, reclaim, sell } from './support/scenarios.js'
import { createWorld, SYMBOLS, useWorld } from './support/world.js'

const world = useWorld()
type Ratio = readonly [numerator: bigint, denominator: bigint]

/** Enters an action of which the broker's books say nothing, or what the test has had booked. A change of symbol is to MSFT. */
function enter(kind: Wished['kind'], recordAt: number, ratio: Ratio = [0n, 0n], symbol = 'AAPL') {
  const successor = kind === 'SYMBOL_CHANGE' && { successor: 'MSFT' }
  return enact(world().chain, { kind, symbol, recordAt, ratio, ...successor })
}

/** Has the broker book a change of shares, each on a day of its own. The price stays, so that amounts go on meaning the same shares. */
function book(kind: 'SPLIT' | 'SYMBOL_CHANGE' | 'REMOVAL', ratio: Ratio, symbol: string): void {
  const { control } = world().broker
  const { positions = {} } = control.accounts().find((account) => account.name === 'enclave') ?? {}
  if (positions[symbol] === undefined) control.account({ name: 'enclave', positions: { [symbol]: '1' } })
  const of = { symbol, day: dayAfter(today(), booked++) }
  const [newRate, oldRate] = ratio.map(String) as [string, string]
  if (kind === 'SPLIT') control.book({ type: 'forward_split', ...of, newRate, oldRate })
  else if (kind === 'REMOVAL') control.book({ type: 'worthless_removal', ...of })
  else control.book({ type: 'name_change', ...of, successor: 'MSFT' })
  control.price({ symbol, price: SYMBOLS.find((each) => each.symbol === symbol)?.price ?? '' })
}
let booked = 0
beforeEach(() => {
  booked = 0
})

/** Enters a change of shares that the broker has booked. */
function act(kind: Parameters<typeof book>[0], recordAt: number, ratio: Ratio = [0n, 0n], symbol = 'AAPL') {
  book(kind, ratio, symbol)
  return enter(kind, recordAt, ratio, symbol)
}

/** What the doctor says of corporate actions, a line each. */
async function actionFindings(): Promise<string> {
  const deps = world().deps()
  onTestFinished(() => deps.broker.close())
  const broker = brokerOf(world().broker.url, ENCLAVE_ACCOUNT, 60_000)
  const found = await checkActions(deps.rpc, createChainState(deps), broker)
  return found.map(({ result, text }) => `${result}: ${text}`).join('\n')
}

const seconds = () => Math.floor(world().clock.now() / 1_000)
const alice = async () => {
  const portfolio = await world().portfolio('alice')
  if (!portfolio) throw new Error('Alice has no portfolio')
  return portfolio
}

it('a split reaches a portfolio when it is opened, the next write stores it, and shares are paid out in the new units', async () => {
  await world().settled(buy(1_000))
  const before = await alice()
  const bought = before.positions.AAPL?.qty ?? 0n
  expect(bought).toBeGreaterThan(shares(4))
  await act('SPLIT', await world().chain.now(), [2n, 1n])
  expect(await alice()).toEqual({
    ...before,
    positions: { AAPL: { qty: bought * 2n, locked: 0n } },
    actions: 1,
  })
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(3) })
  expect(await alice()).toMatchObject({ actions: 1, positions: { AAPL: { qty: bought * 2n - shares(3) } } })
  expect(await world().tokens('alice', 'AAPL')).toBe(shares(3))
  await act('SPLIT', await world().chain.now(), [1n, 3n])
  expect(await world().tokens('alice', 'AAPL')).toBe(shares(1))
  expect((await alice()).positions.AAPL?.qty).toBe((bought * 2n - shares(3)) / 3n)
})

it('a split acts once where a reorganization puts another action in its place before the write', async () => {
  const { chain, relay } = world()
  await world().settled(buy(1_000))
  const bought = (await alice()).positions.AAPL?.qty ?? 0n
  const order = await world().open(sell(100))
  const now = await chain.now()
  book('SPLIT', [2n, 1n], 'AAPL')
  book('SPLIT', [3n, 1n], 'MSFT')
  const snapshot = await chain.provider.send('evm_snapshot', [])
  await enter('SPLIT', now, [2n, 1n])
  let isReplaced = false
  const reorganizing = posting(relay, (post) => async (sent) => {
    if (isReplaced) return post(sent)
    isReplaced = true
    await chain.provider.send('evm_revert', [snapshot])
    await enter('SPLIT', now, [3n, 1n], 'MSFT')
    const answer = await post(sent)
    expect(answer).toMatchObject({ kind: 'reverted', revert: { name: 'ActionsConflict' } })
    await enter('SPLIT', now, [2n, 1n])
    return answer
  })
  expect(await world().run(order, { deps: { relay: reorganizing } })).toMatchObject({ outcome: 'settled' })
  const { positions, actions } = await alice()
  expect(positions.AAPL?.qty).toBe(bought * 2n - ONE_SHARE / 2n)
  expect(actions).toBe(2)
})

it('a limit order is not renewed after a split: what filled before it is settled in the shares of today', async () => {
  const limit = { price: usd(210), timeInForce: 'GTD' } as const
  const { control } = world().broker
  control.fill({ mode: 'partial', fraction: '0.5', times: 1 })
  const order = await world().open({ ...buy(1_000), deadlineIn: 5 * 86_400, limit })
  expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
  control.clock({ open: false })
  const [{ filled_qty: filled } = { filled_qty: '0' }] = control.orders()
  const tomorrow = Math.max(await world().chain.now(), seconds()) + 3_600
  await act('SPLIT', tomorrow, [4n, 1n])
  control.clock({ open: true })
  expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'settled' })
  expect(control.orders()).toHaveLength(1)
  const { cash, positions } = await alice()
  expect(positions.AAPL?.qty).toBe(4n * parseDecimal(filled, SHARE_DECIMALS))
  expect(cash).toBe(usd(500))
})

it.each([
  ['buy', buy(1_000), 210],
  ['sale', sell(800), 190],
])(
  'a limit %s that is filled in part ends on the eve of an ex-date: the dividend counts what the broker holds',
  async (side, wish, price) => {
    const { control } = world().broker
    const run = () => world().run(order, { envelope: null })
    if (side === 'sale') await world().settled(buy(1_000))
    control.fill({ mode: 'partial', fraction: '0.5', times: 1 })
    const limit = { price: usd(price), timeInForce: 'GTD' } as const
    const order = await world().open({ ...wish, deadlineIn: 5 * 86_400, limit })
    expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
    const day = dayAfter(today(), 2)
    control.announce({ type: 'cash_dividend', symbol: 'AAPL', day, rate: '0.25' })
    expect(await run()).toMatchObject({ outcome: 'placed' })
    control.clock({ open: false, nextOpen: `${dayAfter(day, -1)}T14:30:00Z` })
    expect(await run()).toMatchObject({ outcome: 'queued', code: 'market-closed' })
    control.clock({ open: false, nextOpen: `${day}T14:30:00Z` })
    const { outcome, notice } = await run()
    expect(outcome).toBe('settled')
    const told = notice && (await openNotice(notice, USER_KEY, order.orderId))
    expect(told?.message).toContain('A corporate action of this symbol ended the rest of the order.')
    await enter('ENTITLEMENT', Math.max(await world().chain.now(), seconds()))
    expect((await alice()).entitlements).toEqual({ 0: heldAtBroker('AAPL') })
    await world().checkInvariants()
  },
)

it('an order that counts in shares of before a split it first runs after is refunded; one by amount goes on', async () => {
  const { open, run, settled, noticeCode } = world()
  await settled(buy(1_000))
  const { positions } = await alice()
  const limit = { price: usd(210), timeInForce: 'DAY' } as const
  const orders = [
    await open({ ...buy(100), limit }),
    await open({ ...sell(100), limit }),
    await open({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) }),
  ]
  const byAmount = await open(sell(100))
  const morning = seconds() - 60
  await act('SPLIT', morning, [1n, 10n])
  for (const order of orders) expect(await noticeCode(order, await run(order))).toBe('corporate-action')
  expect((await alice()).positions.AAPL?.qty).toBe((positions.AAPL?.qty ?? 0n) / 10n)
  expect(await run(byAmount)).toMatchObject({ outcome: 'settled' })
  // Opened after it, and after an action of another symbol.
  const later = await open({ ...buy(100), limit })
  await act('SPLIT', morning, [2n, 1n], 'MSFT')
  expect(await run(later)).toMatchObject({ outcome: 'settled' })
})

/** Alice's wallet has three shares of AAPL, her portfolio one or two. */
async function withdrawn(): Promise<void> {
  await world().settled(buy(1_000))
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(3) })
}
const deposit = (amount: bigint) =>
  ({ who: 'alice', side: 'DEPOSIT', symbol: 'AAPL', amount, shares: { symbol: 'AAPL', amount } }) as const

it('a deposit of shares under a former symbol is credited to the last one, in the units of today', async () => {
  await withdrawn()
  const { positions } = await alice()
  const order = await world().open(deposit(shares(2)))
  await act('SYMBOL_CHANGE', await world().chain.now())
  await act('SPLIT', await world().chain.now(), [3n, 2n], 'MSFT')
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  const qty = ((positions.AAPL?.qty ?? 0n) * 3n) / 2n + shares(3)
  expect((await alice()).positions).toEqual({ MSFT: { qty, locked: 0n } })
  await world().settled(deposit(shares(1)))
  expect((await alice()).positions.MSFT?.qty).toBe(qty + shares(1))
})

it('a deposit of removed shares is refunded', async () => {
  await withdrawn()
  const order = await world().open(deposit(shares(2)))
  await act('SYMBOL_CHANGE', await world().chain.now())
  await act('REMOVAL', await world().chain.now(), [0n, 0n], 'MSFT')
  expect(await world().noticeCode(order, await world().run(order))).toBe('shares-removed')
  expect(await world().tokens('alice', 'AAPL')).toBe(shares(3))
  expect((await alice()).positions).toEqual({})
})

it('a freeze follows a change of symbol, and a retired symbol can’t be bought', async () => {
  await world().settled(buy(1_000))
  await world().chain.send(
    'owner',
    'token',
    'setFrozen',
    nameToBytes32('AAPL'),
    world().chain.account('alice'),
    true,
  )
  await act('SYMBOL_CHANGE', await world().chain.now())
  expect(await world().refused({ ...sell(100), symbol: 'MSFT' })).toBe('frozen')
  expect(await world().refused({ ...buy(100), who: 'bob' })).toBe('not-listed')
})

it('a dividend that comes late is paid on the shares of its ex-date, which the ledger’s transactions tell', async () => {
  await world().settled(buy(1_000))
  const bought = (await alice()).positions.AAPL?.qty ?? 0n
  const exDate = seconds()
  await world().clock.sleep(5_000)
  await world().settled(buy(400))
  await world().settled(sell(1_400))
  const { cash } = await alice()
  await enter('ENTITLEMENT', exDate)
  const entitled = await alice()
  expect(entitled.positions).toEqual({})
  expect(entitled.entitlements).toEqual({ 0: bought })
  await enter('PAYMENT', exDate + 1, [220_000n, 1n])
  const paid = await alice()
  expect(paid.entitlements).toBeUndefined()
  expect(paid.cash).toBe(cash + (bought * 220_000n) / ONE_SHARE)
  expect(paid.cash).toBeGreaterThan(cash)
})

it('a payment that the broker has not booked is credited to nobody: every account waits, also one without the symbol', async () => {
  const { settled, open, run, broker, checkInvariants } = world()
  await settled(buy(1_000))
  const { cash } = await alice()
  await enter('ENTITLEMENT', Math.max(seconds(), await world().chain.now()))
  await enter('PAYMENT', startOf(today()), [200_000n, 1n])
  const orders = [await open(buy(100)), await open({ ...buy(100), who: 'bob', symbol: 'MSFT' })]
  for (const order of orders)
    expect(await run(order)).toMatchObject({ outcome: 'queued', code: 'actions-unknown' })
  expect(broker.control.orders()).toHaveLength(1)
  const dividend = { type: 'cash_dividend', symbol: 'AAPL', day: today() } as const
  broker.control.book({ ...dividend, rate: '0.24', withholding: '0.15' })
  for (const order of orders) expect(await run(order)).toMatchObject({ outcome: 'settled' })
  expect((await alice()).cash).toBeGreaterThan(cash)
  await checkInvariants()
})

it.each([
  ['SPLIT', [2n, 1n]],
  ['SYMBOL_CHANGE', [0n, 0n]],
  ['REMOVAL', [0n, 0n]],
] as const)(
  'a %s that the list has before the broker has booked it holds up all orders until then',
  async (kind, ratio) => {
    const { settled, open, run, reconcile } = world()
    await settled(buy(1_000))
    await enter(kind, await world().chain.now(), ratio)
    const order = await open({ ...buy(100), who: 'bob', symbol: 'MSFT' })
    expect(await run(order)).toMatchObject({ outcome: 'queued', code: 'actions-unknown' })
    expect(await reconcile()).toMatchObject({ outcome: 'failed', code: 'actions-unknown' })
    const found = `fault: in the list, and not booked by the broker: ${kind} of AAPL.`
    expect(await actionFindings()).toContain(found)
    book(kind, ratio, 'AAPL')
    expect(await run(order)).toMatchObject({ outcome: 'settled' })
  },
)

it('a payment that a portfolio has followed counts as booked, also where the books end after it', async () => {
  const { settled, open, run, broker, clock, deps } = world()
  await settled(buy(1_000))
  await enter('ENTITLEMENT', Math.max(seconds(), await world().chain.now()))
  broker.control.book({ type: 'cash_dividend', symbol: 'AAPL', day: today(), rate: '0.22' })
  await enter('PAYMENT', startOf(today()), [200_000n, 1n])
  await settled(buy(100))
  const none = async () => []
  const given = () => ({
    ...deps(),
    broker: { ...deps().broker, getBookedEntries: none, getBookedEntriesNow: none },
  })
  const bobs = await open({ ...buy(100), who: 'bob' })
  expect(await run(bobs, { deps: given() })).toMatchObject({ outcome: 'queued', code: 'actions-unknown' })
  const enclave = createEnclave(given())
  for (const { orderId, envelope } of [await open(buy(100)), bobs]) {
    const job = {
      job: 'order',
      orderId,
      envelope,
      runId: orderId,
      stopAt: clock.now() / 1_000 + 120,
    } as const
    expect(await enclave.run(job, async () => undefined)).toMatchObject({ outcome: 'settled' })
  }
})

it('a dividend from before an account’s first portfolio owes it nothing', async () => {
  const exDate = seconds() - 60
  await world().settled(buy(1_000))
  await world().settled(buy(400))
  await enter('ENTITLEMENT', exDate)
  expect((await alice()).entitlements).toBeUndefined()
})

it('a dividend that comes late, for a moment before a move of the portfolio, is the new wallet’s', async () => {
  const { chain, clock } = world()
  await world().settled(buy(1_000))
  const { positions } = await alice()
  const exDate = seconds()
  await clock.sleep(5_000)
  await world().settled(buy(400))
  await chain.send('owner', 'token', 'setKyc', chain.account('carol'), true)
  await approveMove(chain, 'alice', 'carol', PUBLIC_KEY)
  const move = { resolves: 'move', v: 1, from: chain.account('alice'), to: chain.account('carol') } as const
  expect(await world().resolve(move)).toEqual({ outcome: 'done' })
  await enter('ENTITLEMENT', exDate)
  await enter('PAYMENT', exDate + 1, [220_000n, 1n])
  const lost = await alice()
  expect(lost).toMatchObject({ cash: 0n, positions: {} })
  expect(lost.entitlements).toBeUndefined()
  expect((await world().portfolio('carol'))?.cash).toBe(((positions.AAPL?.qty ?? 0n) * 220_000n) / ONE_SHARE)
})

/** The exchange's day today; the broker's clock is the system's. */
const today = () => dayAt(new Date())
const split = (day: string) => ({
  ...({ type: 'forward_split', symbol: 'AAPL', newRate: '2', oldRate: '1' } as const),
  day,
})

it('a symbol is halted from its split until the list has it; orders of others go on', async () => {
  const { broker, settled, refused } = world()
  await settled(buy(1_000))
  const before = (await alice()).positions.AAPL?.qty ?? 0n
  broker.control.announce(split(today()))
  const id = `AAPL:split:${today()}`
  expect(await actionFindings()).toContain(`notice: ${id} is announced: AAPL is halted`)
  expect(await refused(buy(100))).toBe('corporate-action')
  expect(await refused(sell(100))).toBe('corporate-action')
  expect(await refused({ ...sell(0), side: 'WITHDRAW', amount: shares(1) })).toBe('corporate-action')
  await settled({ ...buy(100), symbol: 'MSFT' })
  broker.control.book(split(today()))
  expect(await actionFindings()).toContain(`notice: ${id} waits for you: AAPL is halted`)
  expect(await refused(sell(100))).toBe('corporate-action')
  await enter('SPLIT', await world().chain.now(), [2n, 1n])
  await settled(sell(100))
  expect((await alice()).positions.AAPL?.qty).toBeLessThan(before * 2n)
  expect((await alice()).positions.AAPL?.qty).toBeGreaterThan(before)
})

it('a symbol is halted for the session of the ex-date: an order that waits for it is refunded with the reason', async () => {
  const { broker, open, run, noticeCode, settled } = world()
  const exDate = dayAfter(today(), 2)
  broker.control.announce(split(exDate))
  await settled(buy(100))
  broker.control.clock({ open: false, nextOpen: `${exDate}T14:30:00Z` })
  const early = await open({ ...buy(100), symbol: 'MSFT', deadlineIn: 4 * 86_400 })
  expect(await run(early)).toMatchObject({ outcome: 'queued', code: 'market-closed' })
  broker.control.announce({ ...split(exDate), symbol: 'MSFT' })
  const result = await run(early)
  expect(result.outcome).toBe('refunded')
  expect(await noticeCode(early, result)).toBe('corporate-action')
})

it('a live order of a halted symbol is cancelled, and ends with the reason', async () => {
  const { broker, live, run, noticeCode } = world()
  const order = await live(buy(100))
  broker.control.announce(split(today()))
  const result = await run(order)
  expect(result.outcome).toBe('refunded')
  expect(await noticeCode(order, result)).toBe('corporate-action')
})

it('an entry of the books that cannot be read halts its symbol alone', async () => {
  const { control } = world().broker
  await world().settled(buy(1_000))
  control.book({ type: 'cash_dividend', symbol: 'AAPL', day: today(), rate: '0.25' })
  const body = [{ ...control.activities().at(-1), net_amount: '1.0000001' }]
  const path = '/v2/account/activities'
  control.fault({ method: 'GET', path, times: 1_000, respond: { status: 200, body } })
  expect(await world().refused(buy(100))).toBe('corporate-action')
  await world().settled({ ...buy(100), symbol: 'MSFT' })
})

const supplyOf = (symbol: string) => world().chain.read('token', 'totalSupply', nameToBytes32(symbol))
function heldAtBroker(symbol: string): bigint {
  const account = world()
    .broker.control.accounts()
    .find(({ name }) => name === 'enclave')
  return parseDecimal(account?.positions[symbol] ?? '0', SHARE_DECIMALS)
}

it('orders go on for twelve hours while corporate actions cannot be read, and wait then for a reason that is no secret', async () => {
  const { broker, open, run, settled } = world()
  const failures: unknown[] = []
  const onActionsRead = (failure: BrokerError | null) => failures.push(failure?.kind ?? null)
  const shared = sharedBrokerOf(broker.url, { onActionsRead })
  onTestFinished(() => shared.close())
  const deps = { broker: { ...shared, close: () => {} } }
  const begun = Date.now()
  const clock = vi.spyOn(Date, 'now')
  onTestFinished(() => clock.mockRestore())
  const goTo = (hours: number) => clock.mockImplementation(() => begun + hours * 3_600_000)
  goTo(0)
  await settled(buy(100), { deps })
  const path = '/v1beta1/corporate-actions'
  broker.control.fault({ method: 'GET', path, times: 1_000, respond: { status: 503, body: {} } })
  goTo(11)
  await settled(buy(100), { deps })
  goTo(12.1)
  const order = await open(buy(100))
  expect(await run(order, { deps })).toMatchObject({ outcome: 'queued', code: 'actions-unknown' })
  expect(broker.control.orders()).toHaveLength(2)
  broker.control.clear({ what: 'faults' })
  expect(await run(order, { deps })).toMatchObject({ outcome: 'settled' })
  expect(failures).toEqual(['unavailable', null])
})

it('a reconciliation leaves a halted symbol as it is, and counts its new shares once the list has the split', async () => {
  const { broker, settled, reconcile, chain } = world()
  await settled(buy(1_000))
  await settled({ ...buy(100), symbol: 'MSFT' })
  const minted = await supplyOf('AAPL')
  broker.control.book(split(today()))
  await reconcile()
  expect(await supplyOf('AAPL')).toBe(minted)
  expect(await supplyOf('MSFT')).not.toBe(0n)
  await enter('SPLIT', await chain.now(), [2n, 1n])
  await reconcile()
  expect(await supplyOf('AAPL')).toBe(heldAtBroker('AAPL'))
})

it('shares that wallets hold under a former symbol count once: the broker holds them under the last one', async () => {
  const { broker, settled, reconcile, chain, checkInvariants } = world()
  const supplies = async () => [await supplyOf('AAPL'), await supplyOf('MSFT')]
  await withdrawn()
  await reconcile()
  const held = heldAtBroker('AAPL')
  expect(await supplies()).toEqual([held, 0n])
  const change = { type: 'name_change', symbol: 'AAPL', successor: 'MSFT', day: today() } as const
  broker.control.book(change)
  await enter('SYMBOL_CHANGE', await chain.now())
  await checkInvariants()
  await settled({ who: 'alice', side: 'WITHDRAW', symbol: 'MSFT', amount: shares(1) })
  // A batch shows no more than its fills explain, until they are old.
  await world().clock.sleep(60_000)
  await reconcile()
  expect(await supplies()).toEqual([shares(3), held - shares(3)])
  await settled(deposit(shares(3)))
  await checkInvariants()
  await reconcile()
  expect(await supplies()).toEqual([0n, held])
  broker.control.book({ type: 'worthless_removal', symbol: 'MSFT', day: today() })
  await enter('REMOVAL', await chain.now(), [0n, 0n], 'MSFT')
  await checkInvariants()
})

it('a reconciliation makes no batch of a symbol whose split the broker books while it tells its holdings', async () => {
  const { broker, settled, reconcile, deps } = world()
  const shared = deps().broker
  // The order has asked for the bookings a moment ago.
  await settled(buy(1_000), { deps: { broker: shared } })
  let isBooked = false
  async function getPositions() {
    if (isBooked) broker.control.book(split(today()))
    isBooked = !isBooked
    return shared.getPositions()
  }
  await reconcile({ deps: { broker: { ...shared, getPositions } } })
  expect(await supplyOf('AAPL')).toBe(0n)
})

describe('a market order that filled before a corporate action, and whose run comes after it', () => {
  const filled = async (wish: Wish) => {
    const order = await world().live(wish)
    world().broker.control.release({})
    return order
  }
  const later = async () => Math.max(await world().chain.now(), seconds()) + 3_600

  it.each(['settled', 'reclaimed'] as const)('gives the shares of today for a sale, once %s', async (end) => {
    await world().settled(buy(1_000))
    const order = await filled(sell(900))
    const { positions } = await alice()
    const sold = parseDecimal(world().broker.control.orders().at(-1)?.filled_qty ?? '', SHARE_DECIMALS)
    await act('SPLIT', await later(), [10n, 1n])
    if (end === 'reclaimed') await reclaim(world(), order)
    await world().run(order, { envelope: null })
    expect((await alice()).positions.AAPL?.qty).toBe(10n * ((positions.AAPL?.qty ?? 0n) - sold))
  })

  it('counts a fill by its own time where the order ended after the split, and tells the employee today’s shares', async () => {
    let ahead = 0
    const broker = await startStandIn({ symbols: SYMBOLS, now: () => new Date(Date.now() + ahead) })
    onTestFinished(() => broker.stop())
    const own = createWorld(world().chain, broker)
    broker.control.fill({ mode: 'partial', fraction: '0.5' })
    const order = await own.open(buy(1_000))
    expect(await own.run(order)).toMatchObject({ outcome: 'placed' })
    await enter('SPLIT', Math.max(await own.chain.now(), seconds()) + 600, [1n, 10n])
    ahead = 1_200_000
    await own.cancel(order)
    broker.control.book({ ...split(today()), type: 'reverse_split', newRate: '1', oldRate: '10' })
    const { outcome, notice } = await own.run(order, { envelope: null })
    expect(outcome).toBe('settled')
    const [{ filled_qty: filled } = { filled_qty: '' }] = broker.control.orders()
    const qty = parseDecimal(filled, SHARE_DECIMALS) / 10n
    expect((await own.portfolio('alice'))?.positions.AAPL?.qty).toBe(qty)
    const told = notice && (await openNotice(notice, USER_KEY, order.orderId))
    expect(told?.message).toContain(`Bought ${formatDecimal(qty, SHARE_DECIMALS)} AAPL for 500.00 USDC`)
    await own.checkInvariants()
  })

  it('settles a sale after a reverse split, and a buy after a change of its symbol', async () => {
    await world().settled(buy(1_000))
    const sale = await filled(sell(900))
    await act('SPLIT', await later(), [1n, 10n])
    expect(await world().run(sale, { envelope: null })).toMatchObject({ outcome: 'settled' })
    const bought = await filled(buy(500))
    await act('SYMBOL_CHANGE', await later())
    expect(await world().run(bought, { envelope: null })).toMatchObject({ outcome: 'settled' })
    expect(Object.keys((await alice()).positions)).toEqual(['MSFT'])
  })
})
