import { describe, expect, test } from 'vitest'
import { formatDistance, formatShares, formatTime, formatUsdc } from '../../../src/server/narrator/output.js'

describe('an amount', () => {
  test.each([
    [0n, '0.00 USDC'],
    [1n, '0.000001 USDC'],
    [10_000n, '0.01 USDC'],
    [123_456n, '0.123456 USDC'],
    [1_000_000_000n, '1,000.00 USDC'],
    [1_234_567_890_120n, '1,234,567.89012 USDC'],
    [2n ** 128n, '340,282,366,920,938,463,463,374,607,431,768.211456 USDC'],
  ])('of %s USDC base units', (units, text) => {
    expect(formatUsdc(units)).toBe(text)
  })

  test.each([
    [0n, '0.000000000 shares'],
    [1n, '0.000000001 shares'],
    [1_500_000_000n, '1.500000000 shares'],
    [12_345_678_000_000_001n, '12,345,678.000000001 shares'],
  ])('of %s share base units', (units, text) => {
    expect(formatShares(units)).toBe(text)
  })
})

test('a time is UTC to the second, and a number where no calendar reaches', () => {
  expect(formatTime(0n)).toBe('1970-01-01T00:00:00Z')
  expect(formatTime(1_785_751_200n)).toBe('2026-08-03T10:00:00Z')
  expect(formatTime(2n ** 64n - 1n)).toBe('18446744073709551615 s')
})

test.each([
  [0n, 'now'],
  [1n, 'in 1 s'],
  [59n, 'in 59 s'],
  [60n, 'in 1 min'],
  [3_600n, 'in 1 h'],
  [3_599n, 'in 59 min 59 s'],
  [3_605n, 'in 1 h'],
  [90_000n, 'in 1 d 1 h'],
  [30n * 86_400n - 1n, 'in 29 d 23 h'],
  [-300n, '5 min ago'],
  [-86_399n, '23 h 59 min ago'],
])('a time that is %s s away', (seconds, text) => {
  expect(formatDistance(1_785_751_200n + seconds, 1_785_751_200n)).toBe(text)
})
