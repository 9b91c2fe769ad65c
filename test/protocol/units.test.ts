import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  formatDecimal,
  notionalOf,
  parseDecimal,
  sharesFor,
  toCents,
  uint256Schema,
} from '../../src/protocol/units.js'

it('parseDecimal and formatDecimal are inverse', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
      fc.integer({ min: 0, max: 18 }),
      (units, decimals) => {
        expect(parseDecimal(formatDecimal(units, decimals), decimals)).toBe(units)
      },
    ),
  )
})

it.each([
  ['1.2345678', 'down', 1_234_567n],
  ['1.2345671', 'up', 1_234_568n],
  ['-1.2345678', 'down', -1_234_567n],
  ['-1.2345671', 'up', -1_234_568n],
  ['0.0000001', 'up', 1n],
  ['7', 'exact', 7_000_000n],
] as const)('formatDecimal rounds %s %s', (text, rounding, units) => {
  expect(parseDecimal(text, 6, rounding)).toBe(units)
})

it.each(['', '.', '1.', '.5', '1e3', '1,000', ' 1', '0x1', 'NaN', '--1', '+1'])(
  'a decimal is not %j',
  (text) => expect(() => parseDecimal(text, 6)).toThrow(expect.objectContaining({ code: 'invalid-decimal' })),
)

it('a notional never buys more shares than the notional pays for', () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 15n })
  fc.assert(
    fc.property(amount, amount, (notional, price) => {
      const qty = sharesFor(notional, price)
      expect(notionalOf(qty, price, 'down')).toBeLessThanOrEqual(notional)
      expect(notionalOf(qty + 1n, price, 'up')).toBeGreaterThanOrEqual(notional)
    }),
  )
})

it.each([
  [1_239_999n, 1_230_000n, 1_240_000n],
  [9_999n, 0n, 10_000n],
  [20_000n, 20_000n, 20_000n],
])('whole cents of %d are %d rounded down, %d rounded up', (amount, down, up) => {
  expect(toCents(amount, 'down')).toBe(down)
  expect(toCents(amount, 'up')).toBe(up)
})

it.each(['', '-1', '01', '1.0', '0x1', '1e3', ' 1', `${1n << 256n}`, 1])(
  'an unsigned integer on the wire is not %j',
  (given) => expect(uint256Schema.safeParse(given).success).toBe(false),
)
