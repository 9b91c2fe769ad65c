import { describe, expect, it } from 'vitest'
import type { Portfolio } from '../../src/client/index.js'
import { available } from '../../web/orders/ticketCheck.js'

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
const walletShares = [{ symbol: 'AAPL', balance: shares(2) }]
const facts = { funds, portfolio, walletShares }
const unknown = { funds: null, portfolio: null, walletShares: null }

describe('the available amount', () => {
  it('in cash is less what open buys from cash will take', () => {
    const says = '700.00 USDC available in the portfolio.'
    expect(available({ side: 'BUY', symbol: 'AAPL', payFrom: 'cash' }, facts)).toBe(says)
    expect(available({ side: 'WITHDRAW', symbol: 'USDC', payFrom: 'wallet' }, facts)).toBe(says)
  })

  it('in shares is less the locks of open orders', () => {
    const ticket = { side: 'SELL', symbol: 'AAPL', payFrom: 'wallet' } as const
    expect(available(ticket, facts)).toBe('3 AAPL available in the portfolio.')
    expect(available({ ...ticket, symbol: 'MSFT' }, facts)).toBe('0 MSFT available in the portfolio.')
  })

  it('in the wallet is its balance', () => {
    const ticket = { side: 'BUY', symbol: 'AAPL', payFrom: 'wallet' } as const
    expect(available(ticket, { ...unknown, funds })).toBe('70.00 USDC in the wallet.')
    const deposit = { side: 'DEPOSIT', symbol: 'USDC', payFrom: 'cash' } as const
    expect(available(deposit, facts)).toBe('70.00 USDC in the wallet.')
    expect(available(ticket, unknown)).toBe('')
  })

  it('in the wallet’s shares is their balance', () => {
    const deposit = { side: 'DEPOSIT', symbol: 'AAPL', payFrom: 'wallet' } as const
    expect(available(deposit, facts)).toBe('2 AAPL in the wallet.')
    expect(available({ ...deposit, symbol: 'MSFT' }, facts)).toBe('0 MSFT in the wallet.')
    expect(available(deposit, unknown)).toBe('')
  })

  it('in a portfolio that is not open is not known', () => {
    const ticket = { side: 'SELL', symbol: 'AAPL', payFrom: 'wallet' } as const
    expect(available(ticket, { ...facts, portfolio: null })).toBe(
      'Open your portfolio to see how much is available.',
    )
  })
})
