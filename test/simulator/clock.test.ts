import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMarketClock, newYorkTime } from '../../src/simulator/marketClock.js'

it.each([
  ['2022-04-28T18:07:04.451Z', 9, '2022-04-28T14:07:04.451000000-04:00'],
  ['2022-01-03T14:30:00Z', 0, '2022-01-03T09:30:00-05:00'],
  ['2022-03-13T06:59:59Z', 0, '2022-03-13T01:59:59-05:00'],
  ['2022-03-13T07:00:00Z', 0, '2022-03-13T03:00:00-04:00'],
  ['2022-01-01T03:00:00Z', 0, '2021-12-31T22:00:00-05:00'],
] as const)('newYorkTime %s is %s', (utc, digits, expected) => {
  expect(newYorkTime(new Date(utc), digits)).toBe(expected)
})

describe('a closed market', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date('2030-01-02T14:30:00Z') })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([
    ['in an hour', 3_600_000],
    ['later than one timer reaches', 60 * 86_400_000],
  ])('opens by itself at its time and no sooner: %s', (_when, delayMs) => {
    let opened = 0
    const clock = createMarketClock({ now: () => new Date(), onOpen: () => opened++ })
    clock.set({ open: false, nextOpen: new Date(Date.now() + delayMs) })
    vi.advanceTimersByTime(delayMs - 1)
    expect([clock.isOpen(), opened]).toEqual([false, 0])
    vi.advanceTimersByTime(2)
    expect([clock.isOpen(), opened]).toEqual([true, 1])
    clock.stop()
  })
})
