import { EventEmitter } from 'node:events'
import { beforeEach, expect, test, vi } from 'vitest'
import { BODY_TIMEOUT_MS, createUnderWay, MAX_ARRIVING } from '../../../src/server/http/underWay.js'

beforeEach(() => {
  vi.useFakeTimers()
  return () => vi.useRealTimers()
})

/** One place for each client, and begins requests. */
function setUp(maxUnderWay = 1, maxUnderWayPerClient = 1) {
  const underWay = createUnderWay({ maxUnderWay, maxUnderWayPerClient })
  function begin(client: string, hasBody = false) {
    const [body, res, giveUp] = [new EventEmitter(), new EventEmitter(), vi.fn()]
    const bodyOf = hasBody ? body : undefined
    const refusal = underWay.begin({ client, isRead: false, bodyOf, res, giveUp })
    return { refusal, body, res, giveUp }
  }
  return { begin }
}

test('a body that has not arrived in its time ends its request, which held no place', () => {
  const { begin } = setUp()
  const { giveUp } = begin('192.0.2.1', true)
  const other = begin('192.0.2.1')
  expect(other.refusal).toBeUndefined()
  vi.advanceTimersByTime(BODY_TIMEOUT_MS - 1)
  expect(giveUp).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(giveUp).toHaveBeenCalledOnce()
})

test('a request that is answered before its body has come takes no place for what comes later', () => {
  const { begin } = setUp()
  const { body, res, giveUp } = begin('192.0.2.1', true)
  res.emit('close')
  body.emit('end')
  vi.advanceTimersByTime(10 * BODY_TIMEOUT_MS)
  expect(begin('192.0.2.1').refusal).toBeUndefined()
  expect(giveUp).not.toHaveBeenCalled()
})

test('more bodies on their way than there may be end the oldest, and no other', () => {
  const { begin } = setUp()
  const [first, second] = [begin('192.0.2.1', true), begin('192.0.2.1', true)]
  for (let n = 2; n < MAX_ARRIVING; n++) begin('192.0.2.1', true)
  expect(first.giveUp).not.toHaveBeenCalled()
  begin('192.0.2.2', true)
  expect(first.giveUp).toHaveBeenCalledOnce()
  expect(second.giveUp).not.toHaveBeenCalled()
})

test('the bodies on their way of a client whose other request has been answered still count', () => {
  const { begin } = setUp(10, 10)
  const whole = begin('192.0.2.1', true)
  whole.body.emit('end')
  const half = Array.from({ length: MAX_ARRIVING - 1 }, () => begin('192.0.2.1', true))
  whole.res.emit('close')
  const honest = begin('192.0.2.2', true)
  begin('192.0.2.3', true)
  expect(half[0]?.giveUp).toHaveBeenCalledOnce()
  expect(honest.giveUp).not.toHaveBeenCalled()
})

test('a site, an IPv6 /48, has four clients’ places', () => {
  const { begin } = setUp(100)
  // As `clientOf` writes a /56.
  const net = (last: number) => `32.1.13.184.0.1.${last}`
  for (let n = 1; n <= 4; n++) expect(begin(net(n)).refusal).toBeUndefined()
  expect(begin(net(1)).refusal).toBe('too-many-at-once')
  expect(begin(net(5)).refusal).toBe('too-many-at-once')
  expect(begin('32.1.13.184.0.2.1').refusal).toBeUndefined()
})
