import { describe, expect, it } from 'vitest'
import {
  amountOf,
  EMPTY_TICKET,
  limitOf,
  orderOf,
  type Ticket,
  ticketOf,
  withEquity,
} from '../../web/orders/ticketOrder.js'

const ticket: Ticket = {
  side: 'BUY',
  symbol: 'AAPL',
  amount: '250',
  payFrom: 'wallet',
  unit: 'usdc',
  hours: 24,
  ...{ priced: 'market', limitPrice: '', timeInForce: 'DAY' },
  ...{ feePayer: 'platform', allowed: 'order' },
}
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
  const now = Date.parse('2026-03-02T10:00:00.700Z')

  it('ends after the hours chosen, and says what a buy is paid from, and a sale not', () => {
    const deadline = Date.parse('2026-03-03T10:00:00Z') / 1_000
    const order = { side: 'BUY', symbol: 'AAPL', usdc: 250n, deadline, payFrom: 'cash' }
    const sized = { units: 250n, limit: null }
    expect(orderOf({ ...ticket, payFrom: 'cash' }, sized, now)).toEqual(order)
    expect(orderOf({ ...ticket, side: 'SELL', hours: 1 }, sized, now)).not.toHaveProperty('payFrom')
    const moved = { ...ticket, side: 'WITHDRAW', hours: 24 } as const
    expect(orderOf(moved, sized, now)).toEqual({ side: 'WITHDRAW', symbol: 'AAPL', shares: 250n, deadline })
    expect(orderOf({ ...moved, symbol: 'USDC' }, sized, now)).toEqual({
      side: 'WITHDRAW',
      usdc: 250n,
      deadline,
    })
    const limit = { price: 190_500_000n, timeInForce: 'GTD' }
    expect(orderOf({ ...ticket, timeInForce: 'GTD' }, { ...sized, limit: limit.price }, now)).toMatchObject({
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
