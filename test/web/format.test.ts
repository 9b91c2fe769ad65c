import { describe, expect, it } from 'vitest'
import { dayChange, ether, gain, money, shares } from '../../web/words/format.js'

describe('amounts in words', () => {
  it.each([
    [0n, '0.00'],
    [1n, '0.00'],
    [999_999n, '0.99'],
    [1_234_567_890n, '1,234.56'],
    [1_000_000_000_000_000n, '1,000,000,000.00'],
  ])('money %s is %s, never more than there is', (units, text) => expect(money(units)).toBe(text))

  it.each([
    [0n, '0'],
    [4_720_543_806n, '4.7205'],
    [12_000_000_000_000n, '12,000'],
  ])('shares %s are %s', (units, text) => expect(shares(units)).toBe(text))

  it.each([
    [0n, '0.00'],
    [999_999_999_999n, '0.00'],
    [81_250_000_000_000_000n, '0.08125'],
    [1_234_500_000_000_000_000_000n, '1,234.50'],
  ])('%s wei are %s ether', (wei, text) => expect(ether(wei)).toBe(text))

  it.each([
    [12_345_678n, '+12.34'],
    [-12_345_678n, '−12.34'],
    [0n, '+0.00'],
  ])('a gain of %s is %s', (units, text) => expect(gain(units)).toBe(text))

  it.each([
    [101_250_000n, 100_000_000n, '+1.25 %'],
    [98_000_000n, 100_000_000n, '−2.00 %'],
    [100_000_000n, 100_000_000n, '0.00 %'],
    [99_950_000n, 100_000_000n, '−0.05 %'],
    [null, 100_000_000n, null],
    [100_000_000n, null, null],
    [100_000_000n, 0n, null],
  ])('the day from %s before %s is %s', (price, before, text) => expect(dayChange(price, before)).toBe(text))
})
