import { describe, expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import {
  available,
  availableUnits,
  checkTicket,
  partOf,
  type TicketFacts,
  withPart,
} from '../../web/orders/ticketCheck.js'
import {
  amountOf,
  EMPTY_TICKET,
  limitOf,
  orderOf,
  type Ticket,
  ticketOf,
  withEquity,
} from '../../web/orders/ticketOrder.js'

const NOW = Date.parse('2026-03-02T10:00:00Z')
const usdc = (amount: number) => BigInt(Math.round(amount * 100)) * 10_000n
const shares = (amount: number) => BigInt(Math.round(amount * 1_000)) * 1_000_000n
const ticket: Ticket = {
  side: 'BUY',
  symbol: 'AAPL',
  amount: '250',
  unit: 'usdc',
  payFrom: 'wallet',
  hours: 24,
  ...{ priced: 'market', limitPrice: '', timeInForce: 'DAY' },
  ...{ feePayer: 'platform', allowed: 'order' },
}

function symbolOf(symbol: string, price: bigint | null): TicketFacts['market']['symbols'][number] {
  return { symbol, name: symbol, price, previousClose: null, bid: null, ask: null, asOf: null }
}
const equityOf = (change: Partial<{ frozen: boolean; listed: boolean }>) => ({
  equities: [{ symbol: 'AAPL', kyc: true, listed: true, frozen: false, ...change }],
})
const hoursFromNow = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString()
const closedFor = (hours: number) => ({
  clock: { isOpen: false, nextOpen: hoursFromNow(hours), nextClose: hoursFromNow(hours + 7) },
})
const facts: TicketFacts = {
  market: { symbols: [symbolOf('AAPL', usdc(200)), symbolOf('MUTE', null)] },
  isAway: false,
  clock: { isOpen: true, nextOpen: hoursFromNow(20), nextClose: hoursFromNow(3) },
  funds: { balance: usdc(1_000) },
  walletShares: [{ symbol: 'AAPL', balance: shares(2.5) }],
  portfolio: {
    cash: usdc(300),
    positions: { AAPL: { qty: shares(5), locked: shares(1) } },
    openOrders: {},
  },
  compliance: equityOf({}),
  view: { leavingAt: null, orgId: nameToBytes32('Example Capital') },
  now: NOW,
}
const check = (to: Partial<Ticket>, of: Partial<TicketFacts> = {}) =>
  checkTicket({ ...ticket, ...to }, { ...facts, ...of })

const leaving = { view: { leavingAt: 1, orgId: nameToBytes32('Example Capital') } }
const removed = { view: { leavingAt: null, orgId: null } }
const frozen = { compliance: equityOf({ frozen: true }) }
const unlisted = { compliance: equityOf({ listed: false }) }
const inShares = (amount: string) => ({ unit: 'shares', amount }) as const
const sale = { side: 'SELL' } as const
const withdrawal = { side: 'WITHDRAW', symbol: 'USDC' } as const
const deposit = { side: 'DEPOSIT' } as const
const paidIn = { ...deposit, symbol: 'USDC' }

const limited = { priced: 'limit', limitPrice: '100' } as const
const four = { ...sale, ...inShares('4') }
const all = { kind: 'ready', units: usdc(808), isAll: true }
const unknown = {
  ...{ clock: null, funds: null, walletShares: null, portfolio: null, compliance: null, view: null },
}

it.each<[string, Partial<Ticket>, Partial<TicketFacts>, object]>([
  ['for an amount', {}, {}, { units: usdc(250), shares: shares(1.25), price: usdc(200), isAll: false }],
  ['without a price', { symbol: 'MUTE' }, {}, { kind: 'ready', shares: null, price: null }],
  ['for shares', inShares('1.5'), {}, { units: usdc(300), shares: shares(1.5) }],
  ['for shares without a price', { ...inShares('1'), symbol: 'MUTE' }, {}, { brief: 'No price now' }],
  ['for too few shares', inShares('0.001'), {}, { brief: 'Too small' }],
  [
    'at its limit',
    limited,
    {},
    { units: usdc(250), shares: shares(2.5), price: usdc(100), limit: usdc(100) },
  ],
  ['for 2 shares at no more than 100', { ...limited, ...inShares('2') }, {}, { units: usdc(200) }],
  [
    'to sell at the market, above its limit',
    { ...limited, ...sale },
    {},
    { shares: shares(1.25), limit: usdc(100) },
  ],
  [
    'to sell at a limit above the market',
    { ...limited, ...sale, limitPrice: '250', amount: '500' },
    {},
    { shares: shares(2), limit: usdc(250) },
  ],
  ['without its limit', { ...limited, limitPrice: '' }, {}, { kind: 'empty' }],
  ['at a limit of no price', { ...limited, limitPrice: '100.001' }, {}, { kind: 'fault', field: 'limit' }],
  // All shares are sold for a little more than they are worth.
  ['to sell all shares', four, {}, { ...all, shares: shares(4) }],
  ['to sell all in USDC', { ...sale, amount: '800' }, {}, all],
  ['to sell less', { ...sale, amount: '799' }, {}, { units: usdc(799), isAll: false }],
  ['to sell all, whose price has fallen', { ...sale, amount: '820' }, {}, { ...all, units: usdc(820) }],
  // It may move further until the market opens. While its hours are unknown, the market may be closed.
  ['to sell all once the market opens', four, closedFor(20), { ...all, units: usdc(880) }],
  ['to sell all without hours', four, { clock: null }, { ...all, units: usdc(880) }],
  ['to withdraw cash', { ...withdrawal, amount: '300' }, closedFor(24), { units: usdc(300) }],
  ['to withdraw shares', { side: 'WITHDRAW', amount: '4' }, closedFor(24), { units: shares(4) }],
  ['to deposit cash', { ...paidIn, amount: '1000' }, closedFor(24), { units: usdc(1_000) }],
  ['to deposit shares', { ...deposit, amount: '2.5' }, closedFor(24), { kind: 'ready', units: shares(2.5) }],
  ['to deposit a leaver’s shares', { ...deposit, amount: '2.5' }, leaving, { units: shares(2.5) }],
  ['to deposit delisted shares', { ...deposit, amount: '2.5' }, unlisted, { units: shares(2.5) }],
  ['that outlasts the night', { hours: 168 }, closedFor(24), { kind: 'ready' }],
  ['to sell as a leaver', { ...sale, amount: '10' }, leaving, { kind: 'ready' }],
  ['to sell delisted shares', { ...sale, amount: '10' }, unlisted, { kind: 'ready' }],
  ['without an amount', { amount: ' ' }, {}, { kind: 'empty' }],
  // What is not known yet holds nothing back.
  ...(['BUY', 'SELL', 'WITHDRAW', 'DEPOSIT'] as const).map(
    (side): [string, Partial<Ticket>, Partial<TicketFacts>, object] => [
      `to ${side}, of which nothing is known`,
      { side, amount: '9000' },
      unknown,
      { kind: 'ready' },
    ],
  ),
])('an order %s is checked', (_how, to, of, found) => {
  expect(check(to, of)).toMatchObject(found)
})

it.each<[string, Partial<Ticket>, Partial<TicketFacts>, string | null, string]>([
  ['is too small', { amount: '0.5' }, {}, 'amount', 'Check the amount'],
  ['is more than the wallet has', { amount: '1000.01' }, {}, 'amount', 'Not enough USDC'],
  ['is more than the cash', { payFrom: 'cash', amount: '301' }, {}, 'amount', 'Not enough USDC'],
  ['sells more than is free', { ...sale, amount: '900' }, {}, 'amount', 'Not enough AAPL'],
  ['sells more shares', { ...sale, ...inShares('4.1') }, {}, 'amount', 'Not enough AAPL'],
  ['sells nothing', { ...sale, symbol: 'MSFT' }, {}, 'symbol', 'No MSFT to sell'],
  ['withdraws more cash', { ...withdrawal, amount: '301' }, {}, 'amount', 'Not enough USDC'],
  ['is for frozen shares', {}, frozen, 'symbol', 'Your AAPL is frozen'],
  ['is not listed', {}, unlisted, 'symbol', 'AAPL is not listed'],
  ['expires first', {}, closedFor(24), 'hours', 'Expires before the market opens'],
  ['is bought by a leaver', {}, leaving, null, 'You cannot buy while leaving'],
  ['is bought by a wallet in no institution', {}, removed, null, 'Join an institution to buy'],
  ['deposits more than there is', { ...paidIn, amount: '1000.01' }, {}, 'amount', 'Not enough USDC'],
  ['is deposited by a leaver', paidIn, leaving, null, 'You cannot deposit while leaving'],
  ['deposits more shares', { ...deposit, amount: '2.6' }, {}, 'amount', 'Not enough AAPL'],
  ['deposits nothing', { ...deposit, symbol: 'MSFT' }, {}, 'symbol', 'No MSFT to deposit'],
  ['deposits frozen shares', { ...deposit, amount: '1' }, frozen, 'symbol', 'Your AAPL is frozen'],
  ['meets no server', {}, { isAway: true }, null, 'Waiting for the server…'],
])('an order cannot go through because it %s', (_why, to, of, field, brief) => {
  expect(check(to, of)).toMatchObject({ kind: 'fault', field, brief })
})

describe('the available amount', () => {
  const open = { symbol: 'AAPL', notional: usdc(40), escrow: 0n, locked: 0n, brokerOrderId: '', placedAt: 1 }
  const openOrders = {
    '0xa': { ...open, side: 'BUY' },
    '0xb': { ...open, side: 'BUY', escrow: usdc(40) },
    '0xc': { ...open, side: 'SELL', locked: shares(1) },
  } as const
  const withOrders = { ...facts, portfolio: facts.portfolio && { ...facts.portfolio, openOrders } }

  it.each<[Partial<Ticket>, bigint, string]>([
    [{}, usdc(1_000), '1,000.00 USDC in the wallet.'],
    [{ unit: 'shares' }, shares(5), '1,000.00 USDC in the wallet.'],
    // Less what an open buy will take.
    [{ payFrom: 'cash' }, usdc(260), '260.00 USDC available in the portfolio.'],
    [withdrawal, usdc(260), '260.00 USDC available in the portfolio.'],
    [sale, usdc(800), '4 AAPL available in the portfolio.'],
    [{ side: 'WITHDRAW' }, shares(4), '4 AAPL available in the portfolio.'],
    [deposit, shares(2.5), '2.5 AAPL in the wallet.'],
    [{ ...deposit, symbol: 'MSFT' }, 0n, '0 MSFT in the wallet.'],
  ])('for %o is in its unit, and in words', (to, units, words) => {
    expect(availableUnits({ ...ticket, ...to }, withOrders)).toBe(units)
    expect(available({ ...ticket, ...to }, withOrders)).toBe(words)
  })

  it('is not said while it is not known, and in parts is in whole cents', () => {
    expect(available(ticket, unknown)).toBe('')
    expect(available({ ...ticket, ...sale }, unknown)).toMatch(/^Open your portfolio to see/)
    expect(partOf(ticket, 1_010_001n, 25n)).toBe(250_000n)
    expect(partOf(ticket, 1_010_001n, 100n)).toBe(1_010_001n)
    expect(partOf({ ...ticket, unit: 'shares' }, 3n, 50n)).toBe(1n)
  })
})

describe('a part of what is available', () => {
  const part = (to: Partial<Ticket>, percent: bigint, of: Partial<TicketFacts> = {}) =>
    withPart({ ...ticket, ...to }, { ...facts, ...of }, percent)

  it('is in the ticket’s unit', () => {
    expect(part({}, 25n)).toEqual({ unit: 'usdc', amount: '250' })
    expect(part({ unit: 'shares' }, 50n)).toEqual({ unit: 'shares', amount: '2.5' })
    expect(part({ side: 'SELL' }, 50n)).toEqual({ unit: 'usdc', amount: '400' })
  })

  it('is all there is, which it stays when the price moves: the shares of a sale, and the USDC of a buy', () => {
    const market = { symbols: [symbolOf('AAPL', usdc(203))] }
    const sold = part({ side: 'SELL' }, 100n)
    expect(sold).toEqual({ unit: 'shares', amount: '4' })
    expect(check({ side: 'SELL', ...sold }, { market })).toMatchObject({ shares: shares(4), isAll: true })
    const bought = part({ unit: 'shares' }, 100n)
    expect(bought).toEqual({ unit: 'usdc', amount: '1000' })
    expect(check({ ...bought }, { market })).toMatchObject({ kind: 'ready', units: usdc(1_000) })
    expect(part({ side: 'WITHDRAW', unit: 'shares' }, 100n)).toEqual({ unit: 'shares', amount: '4' })
  })

  it('is unknown without a portfolio, and nothing of nothing', () => {
    expect(part({ side: 'SELL' }, 100n, { portfolio: null })).toBeNull()
    expect(part({}, 100n, { funds: { balance: 0n } })).toBeNull()
  })
})

it.each<[string, bigint | string | null, Partial<Ticket>?]>([
  ['250', 250_000_000n],
  [' 1,250.5 ', 1_250_500_000n],
  ['1,234,567.25', 1_234_567_250_000n],
  ['', null],
  ['0', 'Enter an amount above zero.'],
  ['0.99', 'Enter at least 1 USDC.'],
  ['1.1234567', 'Enter at most 6 digits after the point.'],
  ...['ten', '-5', '99,50', '1,00', '1234,567', '1.5,000', '1e3'].map((amount): [string, string] => [
    amount,
    'Enter a plain number, such as 250 or 99.50.',
  ]),
  // Withdrawals have no least one.
  ['0.5', 500_000_000n, { side: 'WITHDRAW' }],
  ['0.5', 500_000n, withdrawal],
])('the amount "%s" on the ticket is %s', (amount, expected, to = {}) => {
  expect(amountOf({ ...ticket, ...to, amount })).toBe(expected)
})

describe('the order on the ticket', () => {
  it('is valid for the hours chosen, by no clock of its own, and says what a buy is paid from, and a sale not', () => {
    const validFor = '24h'
    const order = { side: 'BUY', symbol: 'AAPL', usdc: 250n, validFor, payFrom: 'cash' }
    const sized = { units: 250n, limit: null }
    expect(orderOf({ ...ticket, payFrom: 'cash' }, sized)).toEqual(order)
    expect(orderOf({ ...ticket, side: 'SELL', hours: 1 }, sized)).not.toHaveProperty('payFrom')
    const moved = { side: 'WITHDRAW', validFor }
    expect(orderOf({ ...ticket, side: 'WITHDRAW' }, sized)).toEqual({
      ...moved,
      symbol: 'AAPL',
      shares: 250n,
    })
    expect(orderOf({ ...ticket, ...withdrawal }, sized)).toEqual({ ...moved, usdc: 250n })
    const limit = { price: 190_500_000n, timeInForce: 'GTD' } as const
    const limited = orderOf({ ...ticket, timeInForce: 'GTD' }, { ...sized, limit: limit.price })
    expect(limited).toMatchObject({ limit })
  })

  it.each([
    ['190.50', 190_500_000n],
    ['0.5001', 500_100n],
    ['', null],
    ['190.505', 'Enter whole cents, or hundredths of a cent below 1 USD.'],
    ['0', 'Enter whole cents, or hundredths of a cent below 1 USD.'],
    ['1e2', 'Enter a plain number, such as 190 or 190.50.'],
  ])('has the limit price "%s" as %s', (limitPrice, expected) => {
    expect(limitOf({ ...ticket, priced: 'limit', limitPrice })).toBe(expected)
    expect(limitOf({ ...ticket, side: 'WITHDRAW', priced: 'limit', limitPrice })).toBeNull()
  })
})

describe('the ticket as it stands', () => {
  it('trades the first listed equity until one is chosen, and withdraws cash', () => {
    expect(ticketOf(EMPTY_TICKET, 'AAPL').symbol).toBe('AAPL')
    expect(ticketOf({ ...EMPTY_TICKET, equity: 'MSFT' }, 'AAPL').symbol).toBe('MSFT')
    expect(ticketOf({ ...EMPTY_TICKET, equity: 'MSFT', side: 'WITHDRAW' }, 'AAPL').symbol).toBe('USDC')
    expect(ticketOf({ ...EMPTY_TICKET, equity: 'MSFT', side: 'DEPOSIT' }, 'AAPL').symbol).toBe('USDC')
  })

  it('keeps side and amount when an equity is chosen to trade, unless it was a withdrawal or a deposit', () => {
    const sale = { ...EMPTY_TICKET, side: 'SELL', amount: '250' } as const
    expect(withEquity(sale, 'MSFT')).toEqual({ ...sale, equity: 'MSFT' })
    for (const side of ['WITHDRAW', 'DEPOSIT'] as const) {
      expect(withEquity({ ...sale, side }, 'MSFT')).toEqual({ ...EMPTY_TICKET, equity: 'MSFT' })
    }
  })
})
