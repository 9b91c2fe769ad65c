import { performance } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { createQueueingDelay, idleMs } from '../../../src/server/http/backpressure.js'

/** A process whose turns, work and rest are the test's. */
function setUp() {
  let now = 5_000
  let idle = 1_000
  let ended = () => {}
  const isLate = createQueueingDelay({
    maxWaitMs: 20,
    now: () => now,
    idle: () => idle,
    atTurnEnd: (callback) => {
      ended = callback
    },
  })
  return {
    isLate,
    work(ms: number) {
      now += ms
    },
    endTurn: () => ended(),
    rest(ms: number) {
      now += ms
      idle += ms
    },
  }
}

/** Sets up a process that worked without a rest for as long as an overload takes to count. */
function setUpBusy() {
  const process = setUp()
  process.isLate()
  process.work(101)
  process.endTurn()
  return process
}

test('a request that waited for more of a turn than it may is late', () => {
  const { isLate, work } = setUpBusy()
  expect(isLate()).toBe(false)
  work(20)
  expect(isLate()).toBe(false)
  work(1)
  expect(isLate()).toBe(true)
})

test('the first of a turn is taken, whatever came before', () => {
  const { isLate, work, endTurn } = setUpBusy()
  for (let turn = 0; turn < 3; turn++) {
    work(200)
    expect(isLate()).toBe(false)
    expect(isLate()).toBe(true)
    endTurn()
  }
})

test('work of the turn before its first request is a part of the wait', () => {
  const { isLate, work } = setUpBusy()
  work(15)
  isLate()
  work(6)
  expect(isLate()).toBe(true)
})

test('one long pause is no overload', () => {
  const { isLate, work, rest, endTurn } = setUp()
  for (let times = 0; times < 3; times++) {
    rest(1)
    isLate()
    work(100)
    expect(isLate()).toBe(false)
    endTurn()
  }
})

test('a rest ends it at once', () => {
  const { isLate, work, rest, endTurn } = setUpBusy()
  isLate()
  work(21)
  expect(isLate()).toBe(true)
  endTurn()
  rest(1)
  isLate()
  work(21)
  expect(isLate()).toBe(false)
})

test('by itself it is asked of the real event loop: late is who comes after long work in a turn', async () => {
  const isLate = createQueueingDelay({ maxWaitMs: 5 })
  const work = (ms: number) => {
    const until = performance.now() + ms
    while (performance.now() < until);
  }
  isLate()
  work(60)
  // The next turn, without a rest.
  await new Promise(setImmediate)
  isLate()
  work(60)
  expect(isLate()).toBe(true)
  const idleBefore = idleMs()
  // On a busy machine a timer may be due before the loop gets to wait for it.
  while (idleMs() === idleBefore) await new Promise((resolve) => setTimeout(resolve, 20))
  isLate()
  work(6)
  expect(isLate()).toBe(false)
})
