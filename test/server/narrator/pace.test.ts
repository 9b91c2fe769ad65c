import { expect, test } from 'vitest'
import { type BlockRange, RangeRefusedError } from '../../../src/chain/logReader.js'
import type { ChainReader } from '../../../src/server/narrator/chainReader.js'
import type { Cursor } from '../../../src/server/narrator/history.js'
import { createNarratorTick, lagOf, type NarratorLook } from '../../../src/server/narrator/poll.js'
import { StorageError } from '../../../src/server/store/engine.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'

const START = 100
const MAX_RANGE = 10
const blockAt = (number: number) => ({ number, hash: `0x${number.toString(16).padStart(64, '0')}` as const })

/** A narrator at the head of a chain without events, which grows by so many blocks with every look. */
async function setUp() {
  let head = START
  let growth = 0
  let saved: Cursor | undefined
  let reading: Promise<void> | undefined
  let diskFault: Error | undefined
  let longest = MAX_RANGE
  const ranges: (BlockRange | undefined)[] = []
  const looks: NarratorLook[] = []
  const chain: ChainReader = {
    async look(number, range) {
      head += growth
      ranges.push(range)
      const last = range && blockAt(range.to)
      return {
        head: blockAt(head),
        before: blockAt(number),
        logs() {
          if (range && range.to - range.from >= longest) throw new RangeRefusedError('too long a range')
          return last && { logs: [], last }
        },
      }
    },
    hashes: async (numbers) => new Map(numbers.map((number) => [number, blockAt(number).hash])),
  }
  const save = async (cursor: Cursor) => {
    if (diskFault !== undefined) throw diskFault
    saved = cursor
  }
  const tick = createNarratorTick({
    chain,
    narrate: () => null,
    cursors: { load: async () => saved, save },
    confirmations: 1,
    maxRange: MAX_RANGE,
    print: async () => reading,
    onLook: (look) => looks.push(look),
    logger: createLogLines().logger,
  })
  /** Looks until there is a pause; how many it took, and what the last of them left. */
  const untilPause = async () => {
    let count = 1
    while ((await tick(new AbortController().signal)) === 'again') {
      count++
      if (count > 100) throw new Error('it never rests')
    }
    const last = looks.at(-1)
    return { count, lag: last && lagOf(last), behindHead: head - (last?.block ?? 0) }
  }
  await untilPause()
  return {
    tick: () => tick(new AbortController().signal),
    untilPause,
    ranges,
    /** The lines are read when the promise resolves. */
    readAfter: (promise: Promise<void>) => {
      reading = promise
    },
    failDisk: (fault: Error | undefined) => {
      diskFault = fault
    },
    refuseLongerThan: (blocks: number) => {
      longest = blocks
    },
    grow: (blocks: number) => {
      head += blocks
    },
    growWithEachLook: (blocks: number) => {
      growth = blocks
    },
  }
}

test('nothing new is one look, and what is new is read by another one at once', async () => {
  const { untilPause, grow } = await setUp()
  expect(await untilPause()).toEqual({ count: 1, lag: 0, behindHead: 0 })
  grow(3)
  expect(await untilPause()).toEqual({ count: 2, lag: 0, behindHead: 0 })
})

test('a long way is read without a pause', async () => {
  const { untilPause, grow, ranges } = await setUp()
  grow(35)
  expect(await untilPause()).toEqual({ count: 5, lag: 0, behindHead: 0 })
  expect(ranges.slice(-4).map((range) => range?.to)).toEqual([110, 120, 130, 135])
})

const ends = (ranges: readonly (BlockRange | undefined)[]) => ranges.map((range) => range?.to)

test('the next look is under way while the lines of the last one are read', async () => {
  const { tick, untilPause, grow, ranges, readAfter } = await setUp()
  grow(35)
  await tick()
  const { promise, resolve: read } = Promise.withResolvers<void>()
  readAfter(promise)
  const told = tick()
  await eventually('two ranges', () => ranges.length === 4)
  expect(ends(ranges.slice(-2))).toEqual([110, 120])
  read()
  expect(await told).toBe('again')
  await untilPause()
  expect(ends(ranges.slice(2))).toEqual([110, 120, 130, 135])
})

test('while a range is read two more are under way', async () => {
  const { tick, untilPause, grow, ranges, readAfter } = await setUp()
  grow(65)
  await tick()
  await tick()
  const { promise, resolve: read } = Promise.withResolvers<void>()
  readAfter(promise)
  const told = tick()
  await eventually('four ranges', () => ranges.length === 6)
  expect(ends(ranges.slice(2))).toEqual([110, 120, 130, 140])
  read()
  expect(await told).toBe('again')
  expect(await untilPause()).toMatchObject({ lag: 0, behindHead: 0 })
  expect(ends(ranges.slice(6))).toEqual([150, 160, 165])
})

test('ranges that were prepared before a refusal are not taken after it', async () => {
  const { tick, untilPause, grow, ranges, refuseLongerThan } = await setUp()
  grow(40)
  await tick()
  await tick()
  refuseLongerThan(5)
  expect(await tick()).toBe('again')
  expect(await untilPause()).toMatchObject({ lag: 0, behindHead: 0 })
  expect(ends(ranges.slice(2))).toEqual([110, 120, 130, 115, 120, 125, 130, 135, 140])
})

test('a look that was prepared is not taken for the one that has to be repeated', async () => {
  const { tick, untilPause, grow, ranges, failDisk } = await setUp()
  grow(35)
  await tick()
  failDisk(new StorageError('full'))
  await expect(tick()).rejects.toThrow(StorageError)
  failDisk(undefined)
  expect(await untilPause()).toMatchObject({ lag: 0, behindHead: 0 })
  expect(ends(ranges.slice(2))).toEqual([110, 120, 110, 120, 130, 135])
})

test('a look that was prepared before a pause is made anew after it', async () => {
  const { tick, grow, ranges } = await setUp()
  grow(3)
  expect(await tick()).toBe('again')
  grow(20)
  expect(await tick()).toBeUndefined()
  expect(await tick()).toBe('again')
  expect(ends(ranges.slice(2))).toEqual([103, 113, 113, 123])
})

test('a chain that has a new block at every look leaves pauses, and is not said to be behind', async () => {
  const { untilPause, growWithEachLook } = await setUp()
  growWithEachLook(1)
  for (let round = 0; round < 5; round++) {
    expect(await untilPause()).toEqual({ count: 2, lag: 0, behindHead: 1 })
  }
})

test('a chain that grows by more than a look may read is behind all the time', async () => {
  const { untilPause, growWithEachLook } = await setUp()
  growWithEachLook(MAX_RANGE + 1)
  await expect(untilPause()).rejects.toThrow('it never rests')
})
