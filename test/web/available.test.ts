import { describe, expect, it } from 'vitest'
import type { Portfolio } from '../../src/client/index.js'
import { available } from '../../web/trade/available.js'

const dollars = (amount: number) => BigInt(amount) * 1_000_000n
const shares = (amount: number) => BigInt(amount) * 1_000_000_000n

type OpenOrder = Portfolio['openOrders'][`0x${string}`]
const openOrder = (change: Partial<OpenOrder>): OpenOrder => ({
  ...{ side: 'BUY', symbol: 'AAPL', notional: dollars(300), escrow: 0n, locked: 0n },
  ...{ brokerOrderId: '', placedAt: 1, ...change },
})
const portfolio: Pick<Portfolio, 'cash' | 'openOrders' | 'positions'> = {
  cash: dollars(1_000),
  positions: { AAPL: { qty: shares(5), locked: shares(2) } },
  openOrders: {
    '0xa': openOrder({}),
    '0xb': openOrder({ notional: dollars(400), escrow: dollars(400) }),
    '0xc': openOrder({ side: 'SELL', notional: dollars(50), locked: shares(2) }),
  },
}
const funds = { balance: dollars(70) }

describe('the available amount', () => {
  it('of cash is less what open buys from cash will take', () => {
    const says = '700.00 USDC free in the portfolio.'
    expect(available({ side: 'BUY', symbol: 'AAPL', payFrom: 'cash' }, funds, portfolio)).toBe(says)
    expect(available({ side: 'WITHDRAW', symbol: 'USDC', payFrom: 'wallet' }, funds, portfolio)).toBe(says)
  })

  it('of shares is less what open orders lock', () => {
    const ticket = { side: 'SELL', symbol: 'AAPL', payFrom: 'wallet' } as const
    expect(available(ticket, funds, portfolio)).toBe('3 AAPL free in the portfolio.')
    expect(available({ ...ticket, symbol: 'MSFT' }, funds, portfolio)).toBe('0 MSFT free in the portfolio.')
  })

  it('in the wallet is its balance', () => {
    const ticket = { side: 'BUY', symbol: 'AAPL', payFrom: 'wallet' } as const
    expect(available(ticket, funds, null)).toBe('70.00 USDC in the wallet.')
    const deposit = { side: 'DEPOSIT', symbol: 'USDC', payFrom: 'cash' } as const
    expect(available(deposit, funds, portfolio)).toBe('70.00 USDC in the wallet.')
    expect(available(ticket, null, null)).toBe('')
  })

  it('in a portfolio that is not open is not known', () => {
    const ticket = { side: 'SELL', symbol: 'AAPL', payFrom: 'wallet' } as const
    expect(available(ticket, funds, null)).toBe('Open your portfolio to see how much is available.')
  })
})
