import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import type { Narration } from '../../../src/server/narrator/events.js'
import {
  type Cursor,
  extended,
  FINAL_DEPTH,
  judge,
  MAX_KEPT_EVENTS,
  type NarratedBlock,
} from '../../../src/server/narrator/history.js'

const EVENT: Narration = { event: 'KycUpdated', values: [] }
/** The hash of a block in a history. */
const hash = (number: number, history = 0): Hex =>
  `0x${number.toString(16).padStart(62, '0')}${history.toString().padStart(2, '0')}`
const block = (number: number, events = 0): NarratedBlock => ({
  number,
  hash: hash(number),
  told: Array.from({ length: events }, () => EVENT),
})
const cursor = (...blocks: NarratedBlock[]): Cursor => ({
  genesis: hash(0),
  start: { number: 5, hash: hash(5) },
  blocks,
})
/** A node whose history is another one from that block on. */
const forkedAt =
  (fork: number, head = 1_000) =>
  (number: number) =>
    number > head ? undefined : hash(number, number >= fork ? 1 : 0)

const numbers = ({ blocks }: Cursor) => blocks.map(({ number }) => number)
const eventsOf = ({ blocks }: Cursor) => blocks.map(({ told }) => told.length)

describe('the history that is kept for retractions', () => {
  test('is every block that a reorganization may remove, and the highest one that none may', () => {
    const before = cursor(block(100, 1), block(110, 2), block(120, 3))
    expect(numbers(extended(before, [block(130, 4)], 110 + FINAL_DEPTH - 1))).toEqual([100, 110, 120, 130])
    const after = extended(before, [block(130, 4)], 110 + FINAL_DEPTH)
    expect(numbers(after)).toEqual([110, 120, 130])
    // A final block is not taken back any more, so its events need not be kept.
    expect(eventsOf(after)).toEqual([0, 3, 4])
  })

  test('while catching up is no more than where narration is', () => {
    const told = [block(200, 7), block(300, 8)]
    expect(extended(cursor(block(100)), told, 10_000).blocks).toEqual([block(300)])
  })

  test('has a limit', () => {
    const half = MAX_KEPT_EVENTS / 2
    const blocks = [block(101, half), block(102, half), block(103, 1)]
    expect(eventsOf(extended(cursor(block(100)), blocks.slice(0, 2), 102))).toEqual([0, half, half])
    const after = extended(cursor(block(100)), blocks, 103)
    expect(numbers(after)).toEqual([101, 102, 103])
    expect(eventsOf(after)).toEqual([0, half, 1])
    expect(eventsOf(extended(cursor(block(100)), [block(101, MAX_KEPT_EVENTS + 1)], 101))).toEqual([0])
  })
})

describe('a history that seems to have changed', () => {
  const told = cursor(block(100), block(110, 1), block(120, 2))

  test('is unclear as long as no block is another one', () => {
    expect(judge(told, forkedAt(121))).toEqual({ kind: 'unclear' })
    expect(judge(told, forkedAt(1_000, 115))).toEqual({ kind: 'unclear' })
    expect(judge(told, () => undefined)).toEqual({ kind: 'unclear' })
  })

  test.each([
    [120, 1_000, [120]],
    [111, 1_000, [120]],
    [110, 1_000, [110, 120]],
    [101, 1_000, [110, 120]],
    // The new history is shorter: blocks above the replaced one are gone, too.
    [110, 115, [110, 120]],
  ])('at block %i, with head %i, was reorganized', (fork, head, removed) => {
    const verdict = judge(told, forkedAt(fork, head))
    if (verdict.kind !== 'reorganized') throw new Error(verdict.kind)
    expect(verdict.removed.map(({ number }) => number)).toEqual(removed)
    expect([...numbers(verdict.cursor), ...removed]).toEqual(numbers(told))
  })

  test('was reorganized with the block that narration began after, which is then the last one that is left', () => {
    const begun = { ...told, start: { number: 110, hash: hash(110) } }
    expect(judge(begun, forkedAt(101))).toMatchObject({
      kind: 'reorganized',
      cursor: { start: { number: 100, hash: hash(100) } },
    })
    expect(judge(begun, forkedAt(111))).toMatchObject({ cursor: { start: begun.start } })
  })

  test.each([
    ['what was final', 100],
    ['where narration began', 5],
    ['its first block', 0],
  ])('was reset where %s is another block', (_name, fork) => {
    expect(judge(told, forkedAt(fork))).toEqual({ kind: 'reset' })
    expect(judge(told, forkedAt(fork, fork))).toEqual({ kind: 'reset' })
  })

  test('is not judged by a first block that is not known', () => {
    expect(judge({ ...told, genesis: null }, (number) => (number === 0 ? hash(0, 1) : undefined))).toEqual({
      kind: 'unclear',
    })
  })
})
