import { effect, signal } from '@preact/signals'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { HistoryEntry, HistoryOptions } from '../../src/client/history.js'
import { ClientError } from '../../src/client/index.js'
import { createTradeHistory } from '../../web/state/tradeHistory.js'

const HASH = `0x${'0a'.repeat(32)}` as const
const entry: HistoryEntry = {
  ...{ kind: 'cash-deposited', orderId: HASH, version: 1n, amount: 1n },
  ...{ timestamp: 0, txHash: HASH, isFinal: true },
  cursor: { blockNumber: 7, blockHash: HASH, logIndex: 0, part: 0 },
}

/** The history of a client that fails as often as the test says. */
function historyOf(failures: number, code: 'chain-reorganized' | 'node-unavailable' = 'chain-reorganized') {
  let left = failures
  const listHistory = vi.fn(async function* (options: HistoryOptions): AsyncGenerator<HistoryEntry> {
    yield entry
    options.onFinal?.(8)
    if (left-- > 0) throw new ClientError(code, '')
  })
  const store = { get: async () => null, set: async () => undefined }
  const settings = { chain: { id: 1, name: 'Chain', rpcUrl: null, firstBlock: 7 } }
  const version = signal<string | null>(null)
  const finalUntil = signal(0)
  const ask = createTradeHistory({ list: listHistory, settings, store, version, finalUntil })
  return {
    read: () => ask(new AbortController().signal, () => undefined),
    version,
    finalUntil,
    store,
    listHistory,
  }
}

it('the trades are read from the block of the deployment on, and again with each version, with the time up to which they are final', async () => {
  const { read, version, finalUntil, store, listHistory } = historyOf(0)
  expect(await read()).toEqual([entry])
  expect(finalUntil.value).toBe(8)
  expect(listHistory.mock.calls[0]?.[0]).toMatchObject({ fromBlock: 7, store })
  const reading = vi.fn(read)
  onTestFinished(effect(() => void reading()))
  version.value = '2 0'
  expect(reading).toHaveBeenCalledTimes(2)
})

it.each([
  [2, 'chain-reorganized', 3, [entry]],
  [3, 'chain-reorganized', 3, { code: 'chain-reorganized' }],
  [1, 'node-unavailable', 1, { code: 'node-unavailable' }],
] as const)('after %i times %s the trades were read %i times', async (failures, code, calls, outcome) => {
  const { read, listHistory } = historyOf(failures, code)
  expect(await read().catch((error: unknown) => error)).toMatchObject(outcome)
  expect(listHistory).toHaveBeenCalledTimes(calls)
})
