import { expect, test } from 'vitest'
import { createOrderQueue } from '../../../src/server/trigger/orderQueue.js'
import { bytes32 } from '../../support/institution.js'

const [ALICE, BOB] = [`0x${'a1'.repeat(20)}`, `0x${'b0'.repeat(20)}`] as const

test('an order that is opened anew, by another account, is that account’s from then on', () => {
  const queue = createOrderQueue()
  const orderId = bytes32('A')
  const first = { orderId, account: ALICE, commit: bytes32('1'), position: { block: 5, logIndex: 0 } }
  const second = { orderId, account: BOB, commit: bytes32('2'), position: { block: 4, logIndex: 1 } }
  const order = queue.track(first)
  order.dueAt = 0
  expect(queue.track(second)).toBe(order)
  expect(order).toMatchObject(second)
  queue.wake(ALICE)
  expect(queue.hasNext(1)).toBe(false)
  expect(queue.next(1)).toBeUndefined()
  queue.wake(BOB)
  expect(queue.hasNext(1)).toBe(true)
  expect(queue.next(1)).toBe(order)
})

test('tells how many orders wait for a run, and how long the first of them has', () => {
  const queue = createOrderQueue()
  const track = (name: string, dueAt: number | null, running = false) => {
    const opened = { account: ALICE, commit: bytes32('1'), position: { block: 5, logIndex: 0 } }
    Object.assign(queue.track({ orderId: bytes32(name), ...opened }), { dueAt, running })
  }
  expect(queue.depth(100)).toEqual({ watched: 0, due: 0, longestWaitMs: 0 })
  track('running', 10, true)
  track('never', null)
  track('later', 101)
  expect(queue.depth(100)).toEqual({ watched: 3, due: 0, longestWaitMs: 0 })
  track('now', 100)
  track('earlier', 70)
  expect(queue.depth(100)).toEqual({ watched: 5, due: 2, longestWaitMs: 30 })
})

test('an account of which two runs are under way has no turn before both have ended', () => {
  const queue = createOrderQueue()
  const order = queue.track({
    orderId: bytes32('A'),
    account: ALICE,
    commit: bytes32('1'),
    position: { block: 5, logIndex: 0 },
  })
  order.dueAt = 0
  queue.occupy(ALICE)
  queue.occupy(ALICE)
  queue.release(ALICE)
  expect(queue.next(1)).toBeUndefined()
  queue.release(ALICE)
  expect(queue.next(1)).toBe(order)
})
