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

describe('a limit order', () => {
  const limited = { priced: 'limit', limitPrice: '100' } as const

  it('is sized at its limit, but a sale at the market where that is higher', () => {
    const buy = { units: usdc(250), shares: shares(2.5), price: usdc(100), limit: usdc(100) }
    expect(check(limited)).toMatchObject(buy)
    expect(check({ ...limited, side: 'SELL' })).toMatchObject({ shares: shares(1.25), limit: usdc(100) })
    const above = { ...limited, side: 'SELL', limitPrice: '250', amount: '500' } as const
    expect(check(above)).toMatchObject({ shares: shares(2), limit: usdc(250) })
    // 2 shares at no more than 100.
    expect(check({ ...limited, unit: 'shares', amount: '2' })).toMatchObject({ units: usdc(200) })
  })

  it('cannot be sent without its price, or with one that the broker does not take', () => {
    expect(check({ ...limited, limitPrice: '' })).toEqual({ kind: 'empty' })
    expect(check({ ...limited, limitPrice: '100.001' })).toMatchObject({ kind: 'fault', field: 'limit' })
  })
})

describe('an order that can go through', () => {
  it('carries its amount, and about how many shares that is', () => {
    expect(check({})).toEqual({
      ...{
        kind: 'ready',
        units: usdc(250),
        shares: shares(1.25),
        price: usdc(200),
        limit: null,
        isAll: false,
      },
    })
    expect(check({ symbol: 'MUTE' })).toMatchObject({ kind: 'ready', shares: null, price: null })
  })

  it('by shares becomes an amount at the current price', () => {
    expect(check({ unit: 'shares', amount: '1.5' })).toMatchObject({ units: usdc(300), shares: shares(1.5) })
    expect(check({ unit: 'shares', amount: '1', symbol: 'MUTE' })).toMatchObject({ brief: 'No price now' })
    expect(check({ unit: 'shares', amount: '0.001' })).toMatchObject({ brief: 'Too small' })
  })

  it('to sell all shares is for a little more than they are worth', () => {
    const all = { kind: 'ready', units: usdc(808), isAll: true }
    const four = { side: 'SELL', unit: 'shares', amount: '4' } as const
    const inUsdc = (amount: string) => ({ side: 'SELL', amount }) as const
    expect(check(four)).toMatchObject({ ...all, shares: shares(4) })
    expect(check(inUsdc('800'))).toMatchObject(all)
    expect(check(inUsdc('799'))).toMatchObject({ units: usdc(799), isAll: false })
    // The price has fallen since the amount was typed.
    expect(check(inUsdc('808'))).toMatchObject(all)
    expect(check(inUsdc('820'))).toMatchObject({ ...all, units: usdc(820) })
    // It may move further until the market opens. While its hours are unknown, the market may be closed.
    for (const hours of [closedFor(20), { clock: null }])
      expect(check(four, hours)).toMatchObject({ ...all, units: usdc(880) })
    expect(check(inUsdc('808'), closedFor(20))).toMatchObject(all)
  })

  it('moves cash or shares, also while the market is closed', () => {
    const units = (to: Partial<Ticket>) => check(to, closedFor(24))
    expect(units({ side: 'WITHDRAW', symbol: 'USDC', amount: '300' })).toMatchObject({ units: usdc(300) })
    expect(units({ side: 'WITHDRAW', amount: '4' })).toMatchObject({ units: shares(4) })
    expect(units({ side: 'DEPOSIT', symbol: 'USDC', amount: '1000' })).toMatchObject({ units: usdc(1_000) })
  })

  it('deposits the wallet’s shares, also while it leaves its institution, or once they are not listed', () => {
    const deposit = { side: 'DEPOSIT', amount: '2.5' } as const
    const ready = { kind: 'ready', units: shares(2.5), shares: shares(2.5) }
    expect(check(deposit, closedFor(24))).toMatchObject(ready)
    expect(check(deposit, leaving)).toMatchObject(ready)
    expect(check(deposit, { compliance: equityOf({ listed: false }) })).toMatchObject(ready)
  })

  it('is not held back by anything that is not known yet', () => {
    const unknown = {
      ...{ clock: null, funds: null, walletShares: null, portfolio: null, compliance: null, view: null },
    }
    for (const side of ['BUY', 'SELL', 'WITHDRAW', 'DEPOSIT'] as const) {
      expect(check({ side, amount: '9000' }, unknown)).toMatchObject({ kind: 'ready' })
    }
  })
})

const leaving = { view: { leavingAt: 1, orgId: nameToBytes32('Example Capital') } }
const removed = { view: { leavingAt: null, orgId: null } }
const frozen = { compliance: equityOf({ frozen: true }) }
const unlisted = { compliance: equityOf({ listed: false }) }
const inShares = (amount: string) => ({ unit: 'shares', amount }) as const
const sale = { side: 'SELL' } as const
const withdrawal = { side: 'WITHDRAW', symbol: 'USDC' } as const
const deposit = { side: 'DEPOSIT' } as const
const paidIn = { ...deposit, symbol: 'USDC' }

describe('an order that cannot go through', () => {
  it.each<[string, Partial<Ticket>, Partial<TicketFacts>, string | null, string]>([
    ['is too small', { amount: '0.5' }, {}, 'amount', 'Check the amount'],
    ['is more than the wallet has', { amount: '1000.01' }, {}, 'amount', 'Not enough USDC'],
    ['is more shares than the wallet buys', inShares('5.1'), {}, 'amount', 'Not enough USDC'],
    ['is more than the cash', { payFrom: 'cash', amount: '301' }, {}, 'amount', 'Not enough USDC'],
    ['sells more than is free', { ...sale, amount: '900' }, {}, 'amount', 'Not enough AAPL'],
    ['sells more shares', { ...sale, ...inShares('4.1') }, {}, 'amount', 'Not enough AAPL'],
    ['sells nothing', { ...sale, symbol: 'MSFT' }, {}, 'symbol', 'No MSFT to sell'],
    ['withdraws more cash', { ...withdrawal, amount: '301' }, {}, 'amount', 'Not enough USDC'],
    ['withdraws more shares', { side: 'WITHDRAW', amount: '4.5' }, {}, 'amount', 'Not enough AAPL'],
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
  ])('because it %s', (_why, to, of, field, brief) => {
    expect(check(to, of)).toMatchObject({ kind: 'fault', field, brief })
  })

  it('is no longer held back once what is wrong is changed', () => {
    expect(check({ hours: 168 }, closedFor(24))).toMatchObject({ kind: 'ready' })
    expect(check({ side: 'WITHDRAW', amount: '1' }, closedFor(24))).toMatchObject({ kind: 'ready' })
    for (const of of [leaving, unlisted])
      expect(check({ ...sale, amount: '10' }, of)).toMatchObject({ kind: 'ready' })
  })

  it('is empty before anything is typed', () => {
    expect(check({ amount: ' ' })).toEqual({ kind: 'empty' })
  })
})

describe('the available amount', () => {
  const open = { symbol: 'AAPL', notional: usdc(40), escrow: 0n, locked: 0n, brokerOrderId: '', placedAt: 1 }
  const openOrders = {
    '0xa': { ...open, side: 'BUY' },
    '0xb': { ...open, side: 'BUY', escrow: usdc(40) },
    '0xc': { ...open, side: 'SELL', locked: shares(1) },
  } as const
  const withOrders = { ...facts, portfolio: facts.portfolio && { ...facts.portfolio, openOrders } }
  const unknown = { funds: null, portfolio: null, walletShares: null }

  it.each<[Partial<Ticket>, bigint, string]>([
    [{}, usdc(1_000), '1,000.00 USDC in the wallet.'],
    [{ unit: 'shares' }, shares(5), '1,000.00 USDC in the wallet.'],
    // Less what an open buy will take.
    [{ payFrom: 'cash' }, usdc(260), '260.00 USDC available in the portfolio.'],
    [withdrawal, usdc(260), '260.00 USDC available in the portfolio.'],
    [sale, usdc(800), '4 AAPL available in the portfolio.'],
    [{ ...sale, unit: 'shares' }, shares(4), '4 AAPL available in the portfolio.'],
    [{ side: 'WITHDRAW' }, shares(4), '4 AAPL available in the portfolio.'],
    [paidIn, usdc(1_000), '1,000.00 USDC in the wallet.'],
    [deposit, shares(2.5), '2.5 AAPL in the wallet.'],
    [{ ...deposit, symbol: 'MSFT' }, 0n, '0 MSFT in the wallet.'],
  ])('the available amount of %o is in its unit, and in words', (to, units, words) => {
    expect(availableUnits({ ...ticket, ...to }, withOrders)).toBe(units)
    expect(available({ ...ticket, ...to }, withOrders)).toBe(words)
  })

  it('is not said while it is not known', () => {
    for (const side of [{}, deposit]) expect(available({ ...ticket, ...side }, unknown)).toBe('')
    const says = 'Open your portfolio to see how much is available.'
    expect(available({ ...ticket, ...sale }, unknown)).toBe(says)
  })

  it('in parts is in whole cents, and whole in one part', () => {
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

  it('is all the shares of a sale, which it stays when the price moves', () => {
    const all = part({ side: 'SELL' }, 100n)
    expect(all).toEqual({ unit: 'shares', amount: '4' })
    const market = { symbols: [symbolOf('AAPL', usdc(203))] }
    expect(check({ side: 'SELL', ...all }, { market })).toMatchObject({ shares: shares(4), isAll: true })
  })

  it('is all the USDC of a buy, which it stays when the price moves', () => {
    const all = part({ unit: 'shares' }, 100n)
    expect(all).toEqual({ unit: 'usdc', amount: '1000' })
    const market = { symbols: [symbolOf('AAPL', usdc(203))] }
    expect(check({ ...all }, { market })).toMatchObject({ kind: 'ready', units: usdc(1_000) })
    const moved = { side: 'WITHDRAW', unit: 'shares' } as const
    expect(part(moved, 100n)).toEqual({ unit: 'shares', amount: '4' })
  })

  it('is unknown without a portfolio, and nothing of nothing', () => {
    expect(part({ side: 'SELL' }, 100n, { portfolio: null })).toBeNull()
    expect(part({}, 100n, { funds: { balance: 0n } })).toBeNull()
  })
})

const shareTicket: Ticket = { ...ticket, side: 'WITHDRAW' }

describe('an amount on the ticket', () => {
  it.each([
    ['250', 250_000_000n],
    [' 1,250.5 ', 1_250_500_000n],
    ['', null],
    ['0', 'Enter an amount above zero.'],
    ['0.99', 'Enter at least 1 USDC.'],
    ['1.1234567', 'Enter at most 6 digits after the point.'],
    ['1,234,567.25', 1_234_567_250_000n],
  ])('"%s" is %s', (amount, expected) => expect(amountOf({ ...ticket, amount })).toBe(expected))

  it.each(['ten', '-5', '99,50', '1,00', '1234,567', '1.5,000', '1e3'])(
    '"%s" is no plain number',
    (amount) => {
      expect(amountOf({ ...ticket, amount })).toBe('Enter a plain number, such as 250 or 99.50.')
    },
  )

  it('is a number of shares when shares are withdrawn, without a least one', () => {
    expect(amountOf({ ...shareTicket, amount: '0.5' })).toBe(500_000_000n)
    expect(amountOf({ ...shareTicket, symbol: 'USDC', amount: '0.5' })).toBe(500_000n)
  })
})

describe('the order on the ticket', () => {
  it('is valid for the hours chosen, by no clock of its own, and says what a buy is paid from, and a sale not', () => {
    const validFor = '24h'
    const order = { side: 'BUY', symbol: 'AAPL', usdc: 250n, validFor, payFrom: 'cash' }
    const sized = { units: 250n, limit: null }
    expect(orderOf({ ...ticket, payFrom: 'cash' }, sized)).toEqual(order)
    expect(orderOf({ ...ticket, side: 'SELL', hours: 1 }, sized)).not.toHaveProperty('payFrom')
    const moved = { ...ticket, side: 'WITHDRAW', hours: 24 } as const
    expect(orderOf(moved, sized)).toEqual({ side: 'WITHDRAW', symbol: 'AAPL', shares: 250n, validFor })
    expect(orderOf({ ...moved, symbol: 'USDC' }, sized)).toEqual({
      side: 'WITHDRAW',
      usdc: 250n,
      validFor,
    })
    const limit = { price: 190_500_000n, timeInForce: 'GTD' }
    expect(orderOf({ ...ticket, timeInForce: 'GTD' }, { ...sized, limit: limit.price })).toMatchObject({
      limit,
    })
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
