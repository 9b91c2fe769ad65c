import { describe, expect, test } from 'vitest'
import {
  byPosition,
  createOrderQueue,
  nextRunnable,
  type TrackedOrder,
} from '../../../src/server/trigger/orderQueue.js'
import { bytes32 } from '../../support/institution.js'

const ALICE = `0x${'aa'.repeat(20)}` as const
const BOB = `0x${'bb'.repeat(20)}` as const
const NOW = 1_000_000

function opened(name: string, block: number, account: typeof ALICE | typeof BOB = ALICE) {
  return { orderId: bytes32(name), account, commit: bytes32('sealed'), position: { block, logIndex: 0 } }
}

function order(name: string, more: Partial<TrackedOrder> = {}): TrackedOrder {
  return { ...createOrderQueue().track(opened(name, 1)), ...more }
}

describe('the next run of an account', () => {
  const due = order('due', { dueAt: NOW })

  test('is the first that is due, in the order of opening', () => {
    expect(nextRunnable([order('a'), due, order('b', { dueAt: NOW })], NOW)).toBe(due)
    expect(nextRunnable([order('a'), order('b', { dueAt: NOW + 1 })], NOW)).toBeUndefined()
  })

  test.each([1, 2, 3, 4])('waits for an earlier one that has failed %d times', (failures) => {
    expect(nextRunnable([order('a', { dueAt: NOW + 1, failures }), due], NOW)).toBeUndefined()
  })

  test('no longer waits after five failures', () => {
    expect(nextRunnable([order('a', { dueAt: NOW + 1, failures: 5 }), due], NOW)).toBe(due)
  })

  test('waits for an earlier one that waits for its quota, unless the enclave has been given it', () => {
    const waiting = order('a', {
      dueAt: NOW + 1,
      lastOutcome: 'queued',
      waitsFor: 'relay-quota-exhausted',
      mayBeHeld: true,
    })
    const held = { ...due, mayBeHeld: true }
    expect(nextRunnable([waiting, due], NOW)).toBeUndefined()
    expect(nextRunnable([waiting, due, held], NOW)).toBe(held)
    expect(nextRunnable([due, waiting], NOW)).toBe(due)
    expect(nextRunnable([waiting, due], NOW + 1)).toBe(waiting)
    expect(nextRunnable([{ ...waiting, dueAt: null }, due], NOW)).toBe(due)
  })

  test('passes all that wait once it is cancelled, and none that has failed', () => {
    const waiting = order('a', { dueAt: NOW + 1, lastOutcome: 'queued', waitsFor: 'paused', mayBeHeld: true })
    const cancelled = { ...due, cancelCommit: '0xc0' } as const
    expect(nextRunnable([waiting, cancelled], NOW)).toBe(cancelled)
    const closed = { ...waiting, waitsFor: 'market-closed' } as const
    const held = { ...cancelled, mayBeHeld: true, lastOutcome: 'queued' } as const
    expect(nextRunnable([closed, held], NOW)).toBe(held)
    expect(nextRunnable([{ ...waiting, failures: 1 }, cancelled], NOW)).toBeUndefined()
  })

  const REASONS = ['market-closed', 'broker-rate-limit'] as const
  test.each(REASONS)(
    'waits for an earlier one that waits (%s), unless it is at the broker already',
    (waitsFor) => {
      const waiting = order('a', { dueAt: NOW + 1, lastOutcome: 'queued', waitsFor })
      const held = { ...due, mayBeHeld: true, lastOutcome: 'queued' } as const
      const live = { ...due, mayBeHeld: true, lastOutcome: 'placed' } as const
      expect(nextRunnable([waiting, held], NOW)).toBeUndefined()
      expect(nextRunnable([waiting, held, live], NOW)).toBe(live)
      expect(nextRunnable([waiting, held], NOW + 1)).toBe(waiting)
    },
  )

  test('is written ahead while an earlier one waits for the market', () => {
    const waiting = order('a', { dueAt: NOW + 1, lastOutcome: 'queued', waitsFor: 'market-closed' })
    expect(nextRunnable([waiting, due], NOW)).toBe(due)
    const paused = order('b', { dueAt: NOW + 1, lastOutcome: 'queued', waitsFor: 'paused' })
    expect(nextRunnable([waiting, paused, due], NOW)).toBeUndefined()
  })

  test('does not wait for one that is queued or placed, nor for a later one that has failed', () => {
    expect(nextRunnable([order('a', { dueAt: NOW + 1, lastOutcome: 'queued' }), due], NOW)).toBe(due)
    expect(nextRunnable([due, order('b', { dueAt: NOW + 1, failures: 1 })], NOW)).toBe(due)
  })
})

test('positions are by block, then by log', () => {
  const positions = [
    { block: 10, logIndex: 2 },
    { block: 9, logIndex: 11 },
    { block: 10, logIndex: 0 },
  ]
  expect(positions.sort(byPosition)).toEqual([
    { block: 9, logIndex: 11 },
    { block: 10, logIndex: 0 },
    { block: 10, logIndex: 2 },
  ])
})

describe('the queue', () => {
  function fill(queue: ReturnType<typeof createOrderQueue>, ...orders: ReturnType<typeof opened>[]) {
    for (const each of orders) {
      queue.track(each).dueAt = NOW
      queue.wake(each.account)
    }
  }

  test('gives an account one run at a time, the first opened first', () => {
    const queue = createOrderQueue()
    fill(queue, opened('second', 2), opened('first', 1))
    expect(queue.next(NOW)?.orderId).toBe(bytes32('first'))
    queue.occupy(ALICE)
    queue.wake(ALICE)
    expect(queue.next(NOW)).toBeUndefined()
    queue.forget(bytes32('first'))
    queue.release(ALICE)
    expect(queue.next(NOW)?.orderId).toBe(bytes32('second'))
  })

  test('lets accounts take turns', () => {
    const queue = createOrderQueue()
    fill(queue, opened('a1', 1), opened('a2', 2), opened('a3', 3), opened('b1', 4, BOB))
    const first = queue.next(NOW)
    expect(first?.account).toBe(ALICE)
    queue.occupy(ALICE)
    queue.release(ALICE)
    expect(queue.next(NOW)?.account).toBe(BOB)
  })

  test('gives the turn to the oldest escrow, of accounts that woke between the same two turns', () => {
    const queue = createOrderQueue()
    const CAROL = `0x${'cc'.repeat(20)}` as const
    fill(queue, opened('b', 2, BOB), opened('a', 1))
    expect(queue.next(NOW)?.account).toBe(ALICE)
    fill(queue, { ...opened('c', 0), account: CAROL })
    expect([queue.next(NOW)?.account, queue.next(NOW)?.account]).toEqual([BOB, CAROL])
  })

  test('keeps an order that is tracked again, at its new place', () => {
    const queue = createOrderQueue()
    fill(queue, opened('a', 1), opened('b', 2))
    const known = queue.get(bytes32('a'))
    expect(queue.track(opened('a', 3))).toBe(known)
    expect(queue.next(NOW)?.orderId).toBe(bytes32('b'))
  })
})
