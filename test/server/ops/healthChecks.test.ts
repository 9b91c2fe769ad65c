import { expect, test } from 'vitest'
import { createHealthChecks } from '../../../src/server/ops/app.js'
import { eventually } from '../../support/eventually.js'

const ADDRESS = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'

function setUp(sharedMs?: number) {
  let looks = 0
  const ask = createHealthChecks({
    async readiness() {
      looks++
      return {
        status: 'degraded',
        checks: {
          chain: { status: 'healthy', reason: null },
          relayer: { status: 'degraded', reason: 'balance-low' },
        },
      }
    },
    accounts: () => [{ address: ADDRESS, balance: 7n, isFunded: true }],
    load: () => ({
      ...{ inFlight: 1, queued: 2, booked: 3n, isKeyShared: false },
      ...{ gasLeft: 60n, reserveLeft: 15n },
    }),
    minBalance: 5n,
    gas: { perDay: 100n, reserve: 20n },
    ...(sharedMs !== undefined && { sharedMs }),
  })
  return { ask, looks: () => looks }
}

test('the checks are those of the readiness, and neither load nor bookings are shown', async () => {
  const { asOf, ...shown } = await setUp().ask()
  expect(Math.abs(Date.parse(asOf) - Date.now())).toBeLessThan(60_000)
  expect(shown).toEqual({
    status: 'degraded',
    checks: [
      { name: 'chain', status: 'healthy', reason: null },
      { name: 'relayer', status: 'degraded', reason: 'balance-low' },
    ],
    relayers: [{ address: ADDRESS, balance: 7n }],
    minBalance: 5n,
    gas: { limit: 100n, left: 60n, reserve: 20n, reserveLeft: 15n },
  })
})

test('however many ask, they share one look and the very same object', async () => {
  const { ask, looks } = setUp()
  const answers = await Promise.all(Array.from({ length: 1_000 }, ask))
  expect(new Set([...answers, await ask()]).size).toBe(1)
  expect(looks()).toBe(1)
})

test('the next look follows when the last one is no longer shared', async () => {
  const { ask, looks } = setUp(20)
  await eventually('a second look', async () => {
    await ask()
    return looks() > 1
  })
})
