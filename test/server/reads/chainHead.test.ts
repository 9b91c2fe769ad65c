import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BlockId } from '../../../src/chain/logReader.js'
import { type ChainHead, createChainHead } from '../../../src/server/reads/chainHead.js'
import { bytes32 } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'

const block = (number: number, name = `block ${number}`): BlockId => ({ number, hash: bytes32(name) })

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function setUp(asked = block(7)) {
  const head = vi.fn(async () => asked)
  return {
    head,
    chainHead: createChainHead({ events: { head }, maxAgeMs: 5_000, logger: createLogLines().logger }),
  }
}

test('the head is asked for only when it has not been reported lately', async () => {
  const { head, chainHead } = setUp(block(8, 'asked'))
  const told = block(8, 'told')
  expect(await Promise.all([chainHead.current(), chainHead.current()])).toEqual([
    block(8, 'asked'),
    block(8, 'asked'),
  ])
  chainHead.note(told)
  vi.advanceTimersByTime(4_000)
  expect(await chainHead.current()).toBe(told)
  expect(head).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1_000)
  expect(await chainHead.current()).toEqual(block(8, 'asked'))
  expect(head).toHaveBeenCalledTimes(2)
})

test('a lower head is believed only when the higher one is too old to be shown', async () => {
  const { chainHead } = setUp(block(5))
  chainHead.note(block(7))
  chainHead.note(block(6))
  expect(await chainHead.current()).toEqual(block(7))
  vi.advanceTimersByTime(4_999)
  chainHead.note(block(6))
  expect(await chainHead.current()).toEqual(block(7))
  vi.advanceTimersByTime(1)
  expect(await chainHead.current()).toEqual(block(5))
})

test('an answer is as old as its question, and no caller joins one that is too old', async () => {
  let answer = (_head: BlockId) => {}
  const head = vi.fn(() => new Promise<BlockId>((resolve) => (answer = resolve)))
  const chainHead = createChainHead({ events: { head }, maxAgeMs: 5_000, logger: createLogLines().logger })
  const slow = chainHead.current()
  const answerSlow = answer
  vi.advanceTimersByTime(4_999)
  const joined = chainHead.current()
  expect(head).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1)
  const other = chainHead.current()
  expect(head).toHaveBeenCalledTimes(2)
  answerSlow(block(1))
  expect(await Promise.all([slow, joined])).toEqual([block(1), block(1)])
  answer(block(2))
  expect(await other).toEqual(block(2))
  expect(await chainHead.current()).toEqual(block(2))
})

test('an expired head is asked for once more, and an answer to an earlier question does not count', async () => {
  const answers: ((head: BlockId) => void)[] = []
  const head = vi.fn(() => new Promise<BlockId>((resolve) => answers.push(resolve)))
  const chainHead = createChainHead({ events: { head }, maxAgeMs: 5_000, logger: createLogLines().logger })
  const before = chainHead.current()
  chainHead.expire()
  expect(head).toHaveBeenCalledTimes(1)
  answers[0]?.(block(1))
  await before
  const after = [chainHead.current(), chainHead.current()]
  expect(head).toHaveBeenCalledTimes(2)
  answers[1]?.(block(2))
  expect(await Promise.all(after)).toEqual([block(2), block(2)])
  expect(await chainHead.current()).toEqual(block(2))
  expect(head).toHaveBeenCalledTimes(2)
})

describe('after a failure', () => {
  /** A node that failed once, and answers from now on. */
  async function failed() {
    const { head, chainHead } = setUp()
    head.mockRejectedValueOnce(new Error('down'))
    await expect(chainHead.current()).rejects.toThrow('down')
    return { head, chainHead }
  }

  test('a read fails at once, and the node is not asked for a moment', async () => {
    const { head, chainHead } = await failed()
    vi.advanceTimersByTime(999)
    await expect(chainHead.current()).rejects.toThrow('down')
    expect(head).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(1)
    expect(await chainHead.current()).toEqual(block(7))
    expect(head).toHaveBeenCalledTimes(2)
  })

  test('no read waits long for a node that hangs, and one question is asked for all', async () => {
    const { head, chainHead } = await failed()
    vi.advanceTimersByTime(1_000)
    let answer = (_head: BlockId) => {}
    head.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)))
    const waiting = [chainHead.current(), chainHead.current()]
    await Promise.all(waiting.map((current) => expect(current).rejects.toThrow('down')))
    await expect(chainHead.current()).rejects.toThrow('down')
    expect(head).toHaveBeenCalledTimes(2)
    answer(block(8))
    await vi.waitFor(async () => expect(await chainHead.current()).toEqual(block(8)))
  })

  test.each([
    [
      'a head that somebody else has read counts',
      (chainHead: ChainHead) => chainHead.note(block(9)),
      block(9),
    ],
    [
      'a block in which something is known to be is asked for',
      (chainHead: ChainHead) => chainHead.expire(),
      block(7),
    ],
  ])('%s', async (_case, happens, expected) => {
    const { chainHead } = await failed()
    happens(chainHead)
    expect(await chainHead.current()).toEqual(expected)
  })
})
