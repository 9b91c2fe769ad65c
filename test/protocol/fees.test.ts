import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  ceilFee,
  DOCUMENTED_FEES,
  exactFee,
  type FeeSchedule,
  feeScheduleText,
  feesOfSale,
  formatFees,
} from '../../src/protocol/fees.js'
import { shares, usd } from '../support/brokerStandIn.js'

const documented = feeScheduleText.parse(DOCUMENTED_FEES)

it('a schedule as text is read and written the same', () => {
  expect(documented).toEqual([
    { name: 'SEC', per: 'usd', rate: 0n, max: null, on: 'sale' },
    { name: 'TAF', per: 'share', rate: 166_000_000n, max: usd(8.3), on: 'sale' },
    { name: 'CAT', per: 'share', rate: 26_500_000n, max: null, on: 'both' },
  ])
  expect(feeScheduleText.parse(formatFees(documented))).toEqual(documented)
  expect(feeScheduleText.parse('none')).toEqual([])
  expect(formatFees([])).toBe('none')
  expect(feeScheduleText.parse('SEC:0.0000278/usd')).toHaveLength(1)
})

it.each([
  '',
  'TAF',
  'TAF:0.1',
  'TAF:0.1/order',
  'TAF:-0.1/share',
  'taf:0.1/share',
  'TAF:0.1/share,TAF:0.2/share',
  'TAF:0.1/share,',
  'TAF:0.1/share:max=0.001',
  'TAF:0.1/share:both:max=1',
  'TAF:0.0000000000001/share',
])('a schedule is refused as text: %s', (text) => {
  expect(feeScheduleText.safeParse(text).success).toBe(false)
})

it('the fees of a sale are each rounded up to the cent, per share, per dollar and capped', () => {
  const fees = feeScheduleText.parse('SEC:0.0000278/usd,TAF:0.000166/share:max=8.30,CAT:0.000046/share:both')
  // TAF 0.0166, SEC 0.556, CAT twice 0.0046: two, fifty-six and one cents.
  expect(feesOfSale(fees, shares(100), usd(20_000))).toBe(usd(0.59))
  // Above 50,000 shares TAF is capped: 8.30, SEC 27.80, CAT 9.20.
  expect(feesOfSale(fees, shares(100_000), usd(1_000_000))).toBe(usd(45.3))
  expect(feesOfSale(documented, 1n, 0n)).toBe(usd(0.02))
  expect(feesOfSale(documented, 0n, 0n)).toBe(0n)
  expect(feesOfSale([], shares(5), usd(500))).toBe(0n)
})

it('the fees of a sale are never less than what the broker charges at the end of a day for its sales', () => {
  const schedule: FeeSchedule = documented.filter(({ on }) => on === 'sale')
  const sale = fc.record({
    qty: fc.bigInt({ min: 1n, max: shares(60_000) }),
    value: fc.bigInt({ min: 0n, max: usd(1_000_000) }),
  })
  fc.assert(
    fc.property(fc.array(sale, { maxLength: 20 }), (sales) => {
      const paid = sales.reduce((sum, { qty, value }) => sum + feesOfSale(schedule, qty, value), 0n)
      const charged = schedule.reduce(
        (sum, fee) =>
          sum + ceilFee(sales.reduce((day, { qty, value }) => day + exactFee(fee, qty, value), 0n)),
        0n,
      )
      expect(paid >= charged).toBe(true)
    }),
  )
})
