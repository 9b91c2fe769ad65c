import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BrokerOrder } from '../../src/broker/index.js'
import {
  BooksError,
  overrunOf,
  sizeSale,
  USDC,
  withFill,
  withOrder,
  withoutPayout,
} from '../../src/enclave/money.js'
import { feeScheduleText } from '../../src/protocol/fees.js'
import type { Hex } from '../../src/protocol/hex.js'
import {
  emptyPortfolio,
  freeCash,
  freeShares,
  type OpenOrder,
  type Portfolio,
} from '../../src/protocol/portfolio.js'
import { ONE_CENT } from '../../src/protocol/units.js'
import { shares, usd } from '../support/brokerStandIn.js'
import { USER_PUBKEY } from './support/parties.js'

const ID: Hex = `0x${'01'.repeat(32)}`
const OTHER: Hex = `0x${'02'.repeat(32)}`

function portfolio(change: Partial<Portfolio> = {}): Portfolio {
  return { ...emptyPortfolio(USER_PUBKEY), ...change }
}

function entry(change: Partial<OpenOrder>): OpenOrder {
  const order = { side: 'BUY', symbol: 'AAPL', notional: usd(100), escrow: 0n, locked: 0n } as const
  return { ...order, brokerOrderId: '', placedAt: 1, ...change }
}

function fill(filledQty: bigint, price: string): BrokerOrder {
  return {
    ...{ id: 'id', clientOrderId: 'c', symbol: 'AAPL', side: 'buy', status: 'filled', state: 'filled' },
    ...{ notional: null, qty: null, limitPrice: null, createdAt: new Date(0), endedAt: null, filledQty },
    fills: filledQty === 0n ? [] : [{ qty: filledQty, avgPrice: price }],
  }
}

const held = portfolio({ cash: usd(500), positions: { AAPL: { qty: shares(10), locked: 0n } } })

const TERMS = { credited: 0n, fees: [] }

it('the books never take more than there is', () => {
  const selling = withOrder(held, ID, entry({ side: 'SELL', locked: shares(1) }))
  expect(() => withFill(selling, ID, fill(shares(1) + 1n, '1'), TERMS)).toThrow(BooksError)
  expect(() => withoutPayout(held, USDC, usd(501))).toThrow(BooksError)
  expect(() => withFill(held, ID, fill(1n, '1'), TERMS)).toThrow(BooksError)
  expect(() => withOrder(selling, OTHER, entry({ side: 'SELL', locked: shares(10) }))).toThrow(BooksError)
})

it('the books take the fees of a sale from its proceeds, which become nothing at worst', () => {
  const fees = feeScheduleText.parse('SEC:0.0000278/usd,TAF:0.000166/share:max=8.30,CAT:0.0000265/share:both')
  const sold = (qty: bigint, price: string) => {
    const selling = withOrder(held, ID, entry({ side: 'SELL', locked: qty }))
    return withFill(selling, ID, fill(qty, price), { credited: 0n, fees }).cash - held.cash
  }
  // 1,234.565 is 1,234.56; less 0.04 SEC, 0.01 TAF and 0.01 CAT.
  expect(sold(shares(10), '123.4565')).toBe(usd(1_234.5))
  expect(sold(shares(0.01), '5')).toBe(usd(0.02))
  expect(sold(shares(0.01), '1')).toBe(0n)
  expect(sold(1n, '0.5')).toBe(0n)
})

it('the books size a sale by quantity: at most what is available, worth a dollar or in whole shares', () => {
  const size = (amount: number, price: number, available: number) =>
    sizeSale(usd(amount), usd(price), shares(available))
  expect(size(400, 201, 5)).toEqual({
    qty: 1_990_049_751n,
    value: usd(400),
    isShort: false,
    isTradable: true,
  })
  expect(size(400, 200, 1.5)).toMatchObject({ qty: shares(1.5), value: usd(300), isShort: true })
  // Rounding the quantity down costs less than one unit of the amount, and never makes the sale too small.
  expect(size(1, 3.1, 5)).toMatchObject({ qty: 322_580_645n, value: usd(1), isTradable: true })
  expect(size(0.99, 3.1, 5)).toMatchObject({ isShort: false, isTradable: false })
  expect(size(5, 0.15, 5)).toMatchObject({ qty: shares(5), isTradable: true })
  expect(size(5, 0.15, 5.5)).toMatchObject({ qty: shares(5.5), isTradable: false })
  expect(size(5, 0.15, 0)).toMatchObject({ qty: 0n, isTradable: false })
})

it('the books tolerate that a buy costs half a per cent more than its whole cents, and no more', () => {
  const at = (price: string) => overrunOf(usd(100.009), fill(shares(1), price))
  expect(at('100')).toBe('none')
  expect(at('100.000001')).toBe('tolerated')
  expect(at('100.5')).toBe('tolerated')
  expect(at('100.500001')).toBe('beyond')
})

it('the books neither create nor lose shares or cash in any sequence of orders', () => {
  const order = fc.record({
    sale: fc.boolean(),
    amount: fc.bigInt({ min: 1n, max: usd(200) }),
    filled: fc.bigInt({ min: 0n, max: 1_000n }),
  })
  fc.assert(
    fc.property(fc.array(order, { maxLength: 30 }), (orders) => {
      let books = held
      let bought = shares(10)
      for (const { sale, amount, filled } of orders) {
        const free = sale ? freeShares(books, 'AAPL') : freeCash(books)
        if (amount > free) continue
        const open = entry(sale ? { side: 'SELL', locked: amount } : { notional: amount })
        // At a price of 1,000 a thousandth of a share costs a dollar: quantities of a size with the amounts.
        const qty = (amount * filled) / 1_000n
        books = withOrder(books, ID, open)
        const before = books.cash
        books = withFill(books, ID, fill(qty, '1000'), TERMS)
        bought += sale ? -qty : qty
        const value = books.cash - before
        const off = sale ? qty - value : -value - qty
        expect(off >= 0n && off < ONE_CENT).toBe(true)
        expect(books.positions.AAPL?.qty ?? 0n).toBe(bought)
        expect(books.positions.AAPL?.locked ?? 0n).toBe(0n)
        expect(books.openOrders).toEqual({})
      }
    }),
    { numRuns: 300 },
  )
})
