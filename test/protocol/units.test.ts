import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  formatDecimal,
  notionalOf,
  parseDecimal,
  sharesFor,
  toCents,
  uint64Schema,
  uint256Schema,
} from '../../src/protocol/units.js'

describe('parseDecimal and formatDecimal', () => {
  it('are inverse', () => {
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
  ] as const)('rounds %s %s', (text, rounding, units) => {
    expect(parseDecimal(text, 6, rounding)).toBe(units)
  })

  it.each(['', '.', '1.', '.5', '1e3', '1,000', ' 1', '0x1', 'NaN', '--1', '+1'])('refuses %j', (text) => {
    expect(() => parseDecimal(text, 6)).toThrow(expect.objectContaining({ code: 'invalid-decimal' }))
  })

  it('refuses digits that would be lost when exact', () => {
    expect(() => parseDecimal('1.2345678', 6)).toThrow(expect.objectContaining({ code: 'invalid-decimal' }))
  })
})

describe('shares and notional', () => {
  it('never buys more than the notional pays for', () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 15n })
    fc.assert(
      fc.property(amount, amount, (notional, price) => {
        const qty = sharesFor(notional, price)
        expect(notionalOf(qty, price, 'down')).toBeLessThanOrEqual(notional)
        expect(notionalOf(qty + 1n, price, 'up')).toBeGreaterThanOrEqual(notional)
      }),
    )
  })
})

describe('whole cents', () => {
  it.each([
    [1_239_999n, 1_230_000n, 1_240_000n],
    [9_999n, 0n, 10_000n],
    [20_000n, 20_000n, 20_000n],
  ])('of %d are %d rounded down, %d rounded up', (amount, down, up) => {
    expect(toCents(amount, 'down')).toBe(down)
    expect(toCents(amount, 'up')).toBe(up)
  })
})

describe('unsigned integers on the wire', () => {
  it.each(['', '-1', '01', '1.0', '0x1', '1e3', ' 1', `${1n << 256n}`])('refuses %j', (text) => {
    expect(uint256Schema.safeParse(text).success).toBe(false)
  })

  it('refuses a JSON number', () => {
    expect(uint256Schema.safeParse(1).success).toBe(false)
  })

  it('takes the largest value and gives it back', () => {
    const text = `${(1n << 64n) - 1n}`
    expect(z.encode(uint64Schema, uint64Schema.parse(text))).toBe(text)
    expect(uint64Schema.safeParse(`${1n << 64n}`).success).toBe(false)
  })
})
