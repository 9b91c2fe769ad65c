import { beforeAll, beforeEach, expect, it } from 'vitest'
import { createReader } from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { useApi } from '../support/apiStandIn.js'
import { FAST } from './clientSetting.js'

const orderId: Hex = `0x${'0a'.repeat(32)}`
const txHash: Hex = `0x${'0e'.repeat(32)}`
const settled = { kind: 'settled', event: 'OrderSettled', at: '2030-01-01T00:00:00Z', txHash, blockNumber: 7 }
const clock = { isOpen: false, nextOpen: '2030-01-01T14:30:00Z', nextClose: '2030-01-01T21:00:00Z' }
const status = {
  orderId,
  state: 'SETTLED',
  account: '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2',
  amount: '25000000',
  deadline: '2030-03-17T17:46:40Z',
  commit: txHash,
  receivedAt: null,
  triggers: [],
  nextTriggerAt: null,
  notice: null,
}
const bars = { asOf: '2030-01-01T14:30:00Z', stale: false, barSeconds: 900, symbols: [] }
const ANSWERS: Record<string, object> = {
  '/market/clock': clock,
  '/market/bars': bars,
  [`/orders/${orderId}`]: status,
  [`/orders/${orderId}/timeline`]: { orderId, entries: [settled] },
}

const api = await useApi()

beforeAll(async () => {
  api.answerWith(({ path }) => ({ body: ANSWERS[path] }))
})
beforeEach(() => {
  api.requests.length = 0
})

const reader = () => createReader({ serverUrl: api.url, timing: FAST })

it('a reader follows an order, and its timeline, to the end', async () => {
  const states: string[] = []
  for await (const { state } of reader().followOrder(orderId)) states.push(state)
  const kinds: string[] = []
  for await (const { entries } of reader().followOrderTimeline(orderId))
    kinds.push(...entries.map(({ kind }) => kind))
  expect([states, kinds]).toEqual([['SETTLED'], ['settled']])
  expect(api.requests.map(({ path }) => path)).toEqual([`/orders/${orderId}`, `/orders/${orderId}/timeline`])
})

it('a reader asks with the fetch and the time-out that it is given', async () => {
  const asked: string[] = []
  const slow: typeof fetch = (input, init) => {
    asked.push(String(input))
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    })
  }
  const timing = { ...FAST, attempts: 1 }
  const impatient = createReader({ serverUrl: 'https://server.example', timeoutMs: 5, timing, fetch: slow })
  await expect(impatient.getMarketClock()).rejects.toMatchObject({ code: 'server-timeout' })
  expect(asked).toEqual(['https://server.example/market/clock'])
})
