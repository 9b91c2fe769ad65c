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
const CAROL = `0x${'cc'.repeat(20)}` as const
const NOW = 1_000_000

function opened(name: string, block: number, account: Hex = ALICE) {
  return { orderId: bytes32(name), account, commit: bytes32('sealed'), position: { block, logIndex: 0 } }
}
type Hex = typeof ALICE | typeof BOB | typeof CAROL

function order(name: string, more: Partial<TrackedOrder> = {}): TrackedOrder {
  return { ...createOrderQueue().track(opened(name, 1)), ...more }
}

const due = order('due', { dueAt: NOW })
const held = { ...due, mayBeAtEnclave: true, lastOutcome: 'queued' } as const
const live = { ...due, mayBeAtEnclave: true, lastOutcome: 'placed' } as const
const cancelled = { ...due, cancelCommit: '0xc0' } as const
const failed = (failures: number) => order('failed', { dueAt: NOW + 1, failures })
const waits = (waitsFor: TrackedOrder['waitsFor']) =>
  order('waits', { dueAt: NOW + 1, lastOutcome: 'queued', waitsFor, mayBeAtEnclave: true })
const [quota, market, paused] = [waits('relay-quota-exhausted'), waits('market-closed'), waits('paused')]
const none = undefined

test.each<[string, TrackedOrder[], TrackedOrder | undefined]>([
  ['is the first that is due', [order('idle'), due, { ...due }], due],
  ['waits for its time', [order('idle'), order('later', { dueAt: NOW + 1 })], none],
  ['waits for an earlier one that failed once', [failed(1), due], none],
  ['waits for an earlier one that failed four times', [failed(4), due], none],
  ['passes an earlier one that failed five times', [failed(5), due], due],
  ['passes a later one that failed', [due, failed(1)], due],
  ['passes an earlier one that waits and names no reason', [waits(undefined), due], due],
  ['waits for an earlier one that waits for its quota', [quota, due], none],
  ['passes it once the enclave may hold this one', [quota, { ...due, mayBeAtEnclave: true }], held],
  ['passes one that waits for its quota and is never due again', [{ ...quota, dueAt: null }, due], due],
  ['is written ahead while an earlier one waits for the market', [market, due], due],
  ['is not written ahead past one that waits out a pause', [market, paused, due], none],
  ['is written ahead while an earlier one waits for its turn', [waits('broker-turn'), due], due],
  ['passes one that waits for its turn at the broker', [waits('broker-turn'), held], held],
  ['waits in the queue of the market', [market, held], none],
  ['waits in the queue of the broker’s rate limit', [waits('broker-rate-limit'), held], none],
  ['passes the queue of the market once it is at the broker', [market, held, live], live],
  ['passes one that waits once it is cancelled', [paused, cancelled], cancelled],
  ['passes the queue of the market once it is cancelled', [market, { ...held, ...cancelled }], cancelled],
  ['waits for one that failed, cancelled or not', [{ ...paused, failures: 1 }, cancelled], none],
])('the next run of an account %s', (_what, orders, expected) => {
  expect(nextRunnable(orders, NOW)?.orderId).toBe(expected?.orderId)
})

test('positions are compared as numbers: by block, then by log', () => {
  const [first, second, third] = [
    { block: 9, logIndex: 11 },
    { block: 10, logIndex: 0 },
    { block: 10, logIndex: 2 },
  ]
  expect([third, first, second].sort(byPosition)).toEqual([first, second, third])
})

describe('the queue', () => {
  function fill(...orders: ReturnType<typeof opened>[]) {
    const queue = createOrderQueue()
    const add = (...more: typeof orders) => {
      for (const each of more) queue.track(each).dueAt = NOW
    }
    add(...orders)
    return { queue, add }
  }

  test('gives the turn to the oldest escrow, of accounts that became due between the same two turns', () => {
    const { queue, add } = fill(opened('b', 2, BOB), opened('a', 1))
    expect(queue.next(NOW)?.account).toBe(ALICE)
    add(opened('c', 0, CAROL))
    expect([queue.next(NOW)?.account, queue.next(NOW)?.account]).toEqual([BOB, CAROL])
  })

  test('keeps an order that is tracked again, at its new place and under its new account', () => {
    const { queue } = fill(opened('a', 1), opened('b', 2))
    const known = queue.get(bytes32('a'))
    expect(queue.track(opened('a', 3))).toBe(known)
    expect(queue.next(NOW)?.orderId).toBe(bytes32('b'))
    expect(queue.track(opened('a', 3, BOB))).toBe(known)
    queue.forget(bytes32('b'))
    expect([queue.next(NOW), queue.next(NOW)?.account]).toEqual([known, BOB])
  })

  test('gives an account no turn while a run of it is under way, or while it is suspended', () => {
    const queue = createOrderQueue()
    for (const each of [opened('a', 1), opened('b', 2, BOB)]) queue.track(each).dueAt = NOW
    Object.assign(queue.track(opened('b', 2, BOB)), { deferred: async () => undefined })
    queue.occupy(ALICE)
    expect(queue.next(NOW)).toBeUndefined()
    queue.release(ALICE)
    expect(queue.next(NOW)?.account).toBe(ALICE)
    queue.forget(bytes32('a'))
    expect(queue.next(NOW)).toBeUndefined()
    Object.assign(queue.track(opened('b', 2, BOB)), { deferred: undefined })
    expect(queue.next(NOW)?.account).toBe(BOB)
  })

  test('finds an order due by either clock', () => {
    const queue = createOrderQueue()
    Object.assign(queue.track(opened('a', 1)), { dueAt: NOW + 30, waitsUntil: Date.now() + 3_600_000 })
    Object.assign(queue.track(opened('b', 2, BOB)), { dueAt: NOW + 20, waitsUntil: Date.now() - 1 })
    expect([queue.msUntilDue(NOW), queue.next(NOW)?.account]).toEqual([20, BOB])
    expect(queue.next(NOW + 30)?.account).toBe(ALICE)
  })
})
