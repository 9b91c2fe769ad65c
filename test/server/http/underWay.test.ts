import { EventEmitter } from 'node:events'
import { beforeEach, expect, test, vi } from 'vitest'
import { BODY_TIMEOUT_MS, createUnderWay } from '../../../src/server/http/underWay.js'

beforeEach(() => {
  vi.useFakeTimers()
  return () => vi.useRealTimers()
})

function begin() {
  const underWay = createUnderWay({ maxUnderWay: 1, maxUnderWayPerClient: 1 })
  const bodyOf = new EventEmitter()
  const giveUp = vi.fn()
  const request = { client: '192.0.2.1', isRead: false, bodyOf, res: new EventEmitter(), giveUp }
  expect(underWay.begin(request)).toBeUndefined()
  const isFull = () =>
    underWay.begin({ ...request, client: '192.0.2.2', bodyOf: undefined, res: new EventEmitter() }) !==
    undefined
  return { bodyOf, giveUp, isFull }
}

test('a body that has not arrived in its time ends its request', () => {
  const { giveUp, isFull } = begin()
  vi.advanceTimersByTime(BODY_TIMEOUT_MS - 1)
  expect(giveUp).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(giveUp).toHaveBeenCalledOnce()
  expect(isFull()).toBe(false)
})

test('a request whose body has arrived has its place for as long as its answer takes', () => {
  const { bodyOf, giveUp, isFull } = begin()
  bodyOf.emit('end')
  vi.advanceTimersByTime(10 * BODY_TIMEOUT_MS)
  expect(isFull()).toBe(true)
  expect(giveUp).not.toHaveBeenCalled()
})
