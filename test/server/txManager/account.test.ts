import { expect, test } from 'vitest'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { createAccountView } from '../../../src/server/txManager/account.js'
import { standStill } from './txManagerUnderTest.js'

test('a poll waits half the time between two blocks, and 25 ms at least, whatever a node says that is behind', async () => {
  const clock = standStill()
  let head = 100
  const account = createAccountView({
    rpc: {
      doubt: () => undefined,
      send: async (calls) =>
        calls.map(({ method, params: [tag] }) => {
          if (method === 'eth_getTransactionCount') return { result: '0x0' }
          const number = tag === 'latest' ? toQuantity(head) : String(tag)
          const hash = `0x${number.slice(2).padStart(64, '0')}`
          return { result: { number, hash, timestamp: '0x1', gasLimit: '0x1c9c380' } }
        }),
    },
    address: `0x${'00'.repeat(20)}`,
  })
  const pauses: number[] = []
  const polls = [
    [0, 0],
    [300, 0],
    [900, 1],
    [250, 1],
    [250, -1],
    [250, 1],
    [250, 3],
    [10, 1],
  ] as const
  for (const [ms, blocks] of polls) {
    clock.pass(ms)
    head += blocks
    await account.poll()
    pauses.push(account.pauseMs())
  }
  const never = Number.POSITIVE_INFINITY
  expect(pauses).toEqual([never, never, 600, 125, 125, 125, 125, 25])
})
