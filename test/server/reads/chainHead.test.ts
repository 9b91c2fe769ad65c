import { expect, onTestFinished, test, vi } from 'vitest'
import type { BlockId } from '../../../src/chain/logReader.js'
import { createChainHead, createHeadReads } from '../../../src/server/reads/chainHead.js'
import { bytes32 } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'

const block = (number: number): BlockId => ({ number, hash: bytes32(`block ${number}`) })

function setUp(asked: BlockId) {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const head = vi.fn(async () => asked)
  const { logger } = createLogLines()
  return { head, chainHead: createChainHead({ events: { head }, maxAgeMs: 5_000, logger }) }
}

test('a lower head is believed only when the higher one is too old to be shown', async () => {
  const { chainHead } = setUp(block(5))
  chainHead.note(block(7))
  vi.advanceTimersByTime(4_999)
  chainHead.note(block(6))
  expect(await chainHead.current()).toEqual(block(7))
  vi.advanceTimersByTime(1)
  expect(await chainHead.current()).toEqual(block(5))
})

test('after a failure a read fails at once, and the node is not asked for a moment, nor twice while it hangs', async () => {
  const { head, chainHead } = setUp(block(7))
  head.mockRejectedValueOnce(new Error('down'))
  const fails = () => expect(chainHead.current()).rejects.toThrow('down')
  await fails()
  vi.advanceTimersByTime(999)
  await fails()
  expect(head).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1)
  const { promise, resolve: answer } = Promise.withResolvers<BlockId>()
  head.mockReturnValueOnce(promise)
  await Promise.all([fails(), fails()])
  expect(head).toHaveBeenCalledTimes(2)
  answer(block(8))
  await vi.waitFor(async () => expect(await chainHead.current()).toEqual(block(8)))
})

/** Reads of one block by several clients, each answered when the test says so. */
function setUpReads(hasRoom: boolean) {
  const turns: ((value: object) => void)[] = []
  let client = ''
  const get = createHeadReads({
    head: { current: async () => block(1) },
    read: () => new Promise<object>((resolve) => turns.push(resolve)),
    lane: { client: () => client, hasRoom: () => hasRoom },
  })
  const getFor = (name: string) => {
    client = name
    return get('k')
  }
  return { turns, getFor }
}

test('a client waits for its own turn, not for that of another client', async () => {
  const { turns, getFor } = setUpReads(false)
  const greedy = getFor('greedy')
  await vi.waitFor(() => expect(turns).toHaveLength(1))
  const own = getFor('employee')
  await vi.waitFor(() => expect(turns).toHaveLength(2))
  turns[1]?.({ turn: 2 })
  expect(await own).toEqual({ turn: 2 })
  expect(await getFor('third')).toEqual({ turn: 2 })
  turns[0]?.({ turn: 1 })
  expect(await greedy).toEqual({ turn: 1 })
})

test('a read is shared by all clients whose own would go out at once', async () => {
  const { turns, getFor } = setUpReads(true)
  const [first, second] = [getFor('reader'), getFor('employee')]
  await vi.waitFor(() => expect(turns).toHaveLength(1))
  turns[0]?.({ turn: 1 })
  expect(await second).toBe(await first)
  expect(turns).toHaveLength(1)
})
