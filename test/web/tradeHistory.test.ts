import { effect, signal } from '@preact/signals'
import { expect, it, vi } from 'vitest'
import { type Client, ClientError, type HistoryEntry } from '../../src/client/index.js'
import { createQuery } from '../../web/query.js'
import { createTradeHistory } from '../../web/state/tradeHistory.js'

const store = { get: async () => null, set: async () => undefined }
const settings = {
  chain: { id: 1, name: 'Chain', rpcUrl: null, firstBlock: 7 },
}
const HASH = `0x${'0a'.repeat(32)}` as const
const entry: HistoryEntry = {
  ...{ kind: 'cash-deposited', orderId: HASH, version: 1n, amount: 1n },
  ...{ timestamp: 0, txHash: HASH, isFinal: true },
  cursor: { blockNumber: 7, blockHash: HASH, logIndex: 0, part: 0 },
}

/** The history of a client that fails as often as the test says, and a page that shows it. */
function shown(failures: number, code: 'chain-reorganized' | 'node-unavailable' = 'chain-reorganized') {
  const version = signal<bigint | null>(null)
  let left = failures
  const history = vi.fn<Client['getHistory']>(async function* () {
    yield entry
    if (left-- > 0) throw new ClientError(code, '')
  })
  const ask = createTradeHistory({ client: { getHistory: history }, settings, store, version })
  const query = createQuery({ isSeen: signal(true), question: () => ask, pace: () => null })
  const leave = effect(() => void query.answered)
  return { query, version, history, leave }
}

it('is read from the block of the deployment on, and again with each version', async () => {
  const { query, version, history, leave } = shown(0)
  await expect.poll(() => query.value).toEqual([entry])
  expect(history.mock.calls[0]?.[0]).toMatchObject({ fromBlock: 7, store })
  version.value = 2n
  expect(query.value).toEqual([entry])
  await expect.poll(() => history).toHaveBeenCalledTimes(2)
  leave()
})

it.each([
  [2, 'chain-reorganized', 3, null],
  [3, 'chain-reorganized', 3, { code: 'chain-reorganized' }],
  [1, 'node-unavailable', 1, { code: 'node-unavailable' }],
] as const)('%i times %s: read %i times', async (failures, code, calls, error) => {
  const { query, history, leave } = shown(failures, code)
  const leaveError = effect(() => void query.error)
  await expect.poll(() => query.error ?? query.value).toMatchObject(error ?? [entry])
  expect(history).toHaveBeenCalledTimes(calls)
  leaveError()
  leave()
})
