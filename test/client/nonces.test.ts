import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createNonces } from '../../src/client/nonces.js'

/** Far ahead of every clock below. */
const LATE = 2 ** 50
const HALF_A_DAY = 43_200_000

it('nonces are above the stored one, never below the clock, and never repeat', () => {
  const step = fc.record({ stored: fc.nat(2 ** 50), now: fc.nat(2 ** 50) })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1 }), (steps) => {
      let clock = 0
      const next = createNonces(() => clock)
      let last = 0
      for (const { stored, now } of steps) {
        clock = now
        const nonce = next(stored, LATE)
        expect(nonce).toBe(Math.max(stored + 1, last + 1, now))
        last = nonce
      }
    }),
  )
})

it('nonces follow a clock that is ahead of the chain by half a day at most', () => {
  const blockTime = 1_800_000_000
  const limit = blockTime * 1_000 + HALF_A_DAY
  expect(createNonces(() => limit)(0, blockTime)).toBe(limit)
  const next = createNonces(() => limit + 10 * 365 * 86_400_000)
  const nonces = [next(0, blockTime), next(0, blockTime), next(0, blockTime + 1)]
  expect(nonces).toEqual([limit, limit + 1, limit + 1_000])
})
