import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createNonces } from '../../src/client/nonces.js'

describe('nonces', () => {
  it('are above the stored one, never below the clock, and never repeat', () => {
    const step = fc.record({ stored: fc.nat(2 ** 50), now: fc.nat(2 ** 50) })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1 }), (steps) => {
        let clock = 0
        const next = createNonces(() => clock)
        let last = 0
        for (const { stored, now } of steps) {
          clock = now
          const nonce = next(stored)
          expect(nonce).toBeGreaterThan(Math.max(stored, last))
          expect(nonce).toBeGreaterThanOrEqual(now)
          expect(nonce).toBe(Math.max(stored + 1, last + 1, now))
          last = nonce
        }
      }),
    )
  })

  it('end at 2^53 − 1', () => {
    const next = createNonces(() => 5)
    expect(next(Number.MAX_SAFE_INTEGER - 1)).toBe(2 ** 53 - 1)
    expect(() => next(0)).toThrow(expect.objectContaining({ code: 'invalid-order' }))
  })
})
