// What the client makes of a wallet's answers to EIP-5792. ownGas.test.ts has batches that open orders on a chain.
import { expect, it, onTestFinished, vi } from 'vitest'
import { createBatch } from '../../src/client/batch.js'
import { createWallet } from '../../src/client/wallet.js'
import type { Hex } from '../../src/protocol/hex.js'

const ACCOUNT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const txHash: Hex = `0x${'11'.repeat(32)}`
const CALLS = [{ to: txHash, data: '0x' }] as const
const receipt = { transactionHash: txHash, blockNumber: '0x10' }
const never = () => new Promise<never>(() => undefined)

/** A batch of a wallet that answers each request by the next of its kind, and the last of them from then on. */
function batchOf(answers: Readonly<Record<string, readonly (() => unknown)[]>>, signal?: AbortSignal) {
  const asked = new Map<string, number>()
  const own = { eth_chainId: [() => '0x1'], eth_requestAccounts: [() => [ACCOUNT]], ...answers }
  const provider = {
    async request({ method }: { readonly method: string }) {
      const given = own[method as keyof typeof own] ?? []
      const times = asked.get(method) ?? 0
      asked.set(method, times + 1)
      return given[Math.min(times, given.length - 1)]?.()
    },
  }
  return createBatch(createWallet(provider, { miningTimeoutMs: 3_000 }).until(signal))
}

const fail = (error: object) => () => {
  throw error
}
const mined = { status: 200, receipts: [receipt] }
const confirmed = (status: string) => ({ status: 'CONFIRMED', receipts: [{ ...receipt, status }] })

function useFakeTimers(): void {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

it.each<[string, sent: unknown, statuses: (() => unknown)[]]>([
  ['fails once', { id: 'a' }, [fail({ code: 429 }), fail(new TypeError('Failed to fetch')), () => mined]],
  ['has no receipt yet', { id: 'a' }, [() => ({ status: 100, receipts: null }), () => mined]],
  ['speaks version 1.0', 'a', [() => ({ status: 'PENDING' }), () => confirmed('0x1')]],
])('a batch is mined where the wallet %s', async (_how, sent, statuses) => {
  useFakeTimers()
  const batch = batchOf({ wallet_sendCalls: [() => sent], wallet_getCallsStatus: statuses })
  const sending = batch.send(CALLS, 'x')
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await sending).toEqual({ txHash, blockNumber: 16 })
})

it.each<[string, sent: () => unknown, status: () => unknown, failure: object]>([
  ['loses its answer', fail({ code: 4900 }), never, { code: 'transaction-pending', retryable: false }],
  ['answers no id', () => null, never, { code: 'unexpected-answer' }],
  ['confirms without a receipt', () => 'a', () => ({ status: 'CONFIRMED' }), { code: 'unexpected-answer' }],
  ['confirms what has reverted', () => 'a', () => confirmed('0x0'), { name: 'ContractError', isOut: true }],
  ['fails finally', () => 'a', fail({ code: 4900 }), { code: 'transaction-pending', retryable: false }],
])('a batch fails where the wallet %s', async (_how, sent, status, failure) => {
  useFakeTimers()
  const sending = batchOf({ wallet_sendCalls: [sent], wallet_getCallsStatus: [status] }).send(CALLS, 'x')
  const failed = expect(sending).rejects.toMatchObject(failure)
  await vi.advanceTimersByTimeAsync(4_000)
  await failed
})

it('a batch ends with its signal while the person has not answered, or the wallet does not say whether it batches', async () => {
  const ended = new AbortController()
  const batch = batchOf({ wallet_sendCalls: [never], wallet_getCapabilities: [never] }, ended.signal)
  const failed = [batch.send(CALLS, 'x'), batch.isOffered()].map((call) =>
    expect(call).rejects.toThrow('the page is gone'),
  )
  setTimeout(() => ended.abort(new Error('the page is gone')))
  await Promise.all(failed)
})

it('a wallet that never says whether it batches gets no batch', async () => {
  useFakeTimers()
  const offered = batchOf({ wallet_getCapabilities: [never] }).isOffered()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await offered).toBe(false)
})
