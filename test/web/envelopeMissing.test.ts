import { expect, it } from 'vitest'
import { isEnvelopeMissing } from '../../web/orders/keptOrders.js'
import { serverError } from './support/serverError.js'

const receivedAt = '2026-01-02T03:04:05.000Z'

it('the server lacks an envelope once it says so', () => {
  expect(isEnvelopeMissing(null, serverError(404, 'order-not-found'))).toBe(true)
  expect(isEnvelopeMissing({ state: 'OPEN', receivedAt: null }, null)).toBe(true)
  expect(isEnvelopeMissing({ state: 'NONE', receivedAt: null }, null)).toBe(true)
})

it.each([
  ['has not answered yet', null],
  ['is away', new TypeError('Failed to fetch')],
  ['is asked too often', serverError(429, 'rate-limited')],
  ['does not reach the chain', serverError(503, 'chain-unavailable')],
])('nothing is said of an envelope while the server %s', (_why, error) => {
  expect(isEnvelopeMissing(null, error)).toBe(false)
})

it('the server lacks no envelope that it has, or that is needed no more', () => {
  expect(isEnvelopeMissing({ state: 'OPEN', receivedAt }, null)).toBe(false)
  expect(isEnvelopeMissing({ state: 'SETTLED', receivedAt: null }, null)).toBe(false)
  expect(isEnvelopeMissing({ state: 'REFUNDED', receivedAt: null }, null)).toBe(false)
})
