import { expect, test, vi } from 'vitest'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createHeadReads } from '../../../src/server/reads/chainHead.js'

/** Reads of numbers; the head is in the test's hand. */
function setUp(answer: (key: string, block: unknown) => Promise<object>) {
  let hash: Hex = '0xa'
  const read = vi.fn(answer)
  let [client, hasRoom] = ['one', false]
  const head = { current: async () => ({ number: 1, hash }) }
  const get = createHeadReads({ head, read, lane: { client: () => client, hasRoom: () => hasRoom } })
  return {
    get,
    getFor(other: string, key: string) {
      client = other
      return get(key)
    },
    setRoom: (now: boolean) => {
      hasRoom = now
    },
    read,
    moveTo: (next: Hex) => {
      hash = next
    },
  }
}

test('a client waits for its own turn, not for that of another client', async () => {
  const turns: ((value: object) => void)[] = []
  const { getFor, read } = setUp(() => new Promise((resolve) => turns.push(resolve)))
  const greedy = getFor('greedy', 'k')
  await vi.waitFor(() => expect(turns).toHaveLength(1))
  const own = getFor('employee', 'k')
  await vi.waitFor(() => expect(turns).toHaveLength(2))
  turns[1]?.({ turn: 2 })
  expect(await own).toEqual({ turn: 2 })
  expect(await getFor('third', 'k')).toEqual({ turn: 2 })
  expect(read).toHaveBeenCalledTimes(2)
  turns[0]?.({ turn: 1 })
  expect(await greedy).toEqual({ turn: 1 })
})

test('a read is shared by all clients whose own would go out at once', async () => {
  const turns: ((value: object) => void)[] = []
  const { getFor, setRoom, read } = setUp(() => new Promise((resolve) => turns.push(resolve)))
  setRoom(true)
  const [first, second] = [getFor('reader', 'k'), getFor('employee', 'k')]
  await vi.waitFor(() => expect(turns).toHaveLength(1))
  turns[0]?.({ turn: 1 })
  expect(await second).toBe(await first)
  expect(read).toHaveBeenCalledTimes(1)
})

test('a failure reaches every waiting caller, and none after them', async () => {
  let isDown = true
  const { get, read } = setUp(async () => {
    if (isDown) throw new ChainUnavailableError(1)
    return {}
  })
  const waiting = await Promise.allSettled([get('k'), get('k')])
  expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(read).toHaveBeenCalledTimes(1)
  isDown = false
  expect(await get('k')).toEqual({})
})
