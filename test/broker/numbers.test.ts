import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exactSharesSchema, numberText, priceSchema } from '../../src/broker/numbers.js'

it.each([
  [231.4567, '231.4567'],
  [0.1, '0.1'],
  [1e-7, '0.0000001'],
  [1.25e-8, '0.0000000125'],
  [-1.5e-9, '-0.0000000015'],
  [1e21, '1000000000000000000000'],
  [1.5e21, '1500000000000000000000'],
  [0, '0'],
])('numberText writes %d without an exponent', (value, text) => {
  expect(numberText(value)).toBe(text)
})

it('numberText gives back every price with four decimals exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 9_999_999_999n }), (tenThousandths) => {
      const text = `${tenThousandths / 10_000n}.${(tenThousandths % 10_000n).toString().padStart(4, '0')}`
      expect(priceSchema('exact').parse(JSON.parse(text))).toBe(tenThousandths * 100n)
    }),
  )
})

it('priceSchema rounds as told', () => {
  expect(priceSchema('down').parse(1.2345678)).toBe(1_234_567n)
  expect(priceSchema('up').parse(1.2345678)).toBe(1_234_568n)
})

it.each([0, null, undefined])('priceSchema takes %s for an absent price', (value) => {
  expect(priceSchema('down').parse(value)).toBeNull()
})

it.each([-1, '1.5', Number.NaN, {}])('priceSchema refuses %s', (value) => {
  expect(priceSchema('down').safeParse(value).success).toBe(false)
})

it('exactSharesSchema takes nine decimals, and zeros after them', () => {
  expect(exactSharesSchema.parse('1.123456789')).toBe(1_123_456_789n)
  expect(exactSharesSchema.parse('3')).toBe(3_000_000_000n)
  expect(exactSharesSchema.parse('0.50000000000')).toBe(500_000_000n)
})

it.each(['1.1234567891', '-1', '1e3', '', '.5', '1.', ' 1', '0x10', '1'.repeat(40)])(
  'exactSharesSchema refuses %j',
  (text) => {
    expect(exactSharesSchema.safeParse(text).success).toBe(false)
  },
)
