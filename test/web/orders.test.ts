import { effect, signal } from '@preact/signals'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Client, OrderStatus } from '../../src/client/index.js'
import type { OrderHistory } from '../../web/chain/orderHistory.js'
import { createOrders } from '../../web/state/orders.js'
import { createQuery } from '../../web/state/query.js'
import { keptOrder } from '../../web/trade/keptOrders.js'
import { withPlaced } from '../../web/trade/orderMemory.js'
import type { KeyInUse } from '../../web/trade/portfolioKeys.js'
import { MemoryStorage } from './memoryStorage.js'

const ID = `0x${'0a'.repeat(32)}` as const
const OTHER = `0x${'0b'.repeat(32)}` as const
const notice = { orderId: ID, code: 'over-limit', message: 'Too much.' }
const status: OrderStatus = {
  ...{ orderId: ID, state: 'OPEN', account: null, amount: null, deadline: null, commit: null },
  ...{ receivedAt: null, triggers: [], nextTriggerAt: null, notice: null },
}
const refunded: OrderStatus = { ...status, state: 'REFUNDED' }
const isSeen = signal(true)

beforeEach(() => {
  vi.stubGlobal('localStorage', new MemoryStorage())
})
afterEach(() => {
  vi.unstubAllGlobals()
})

/** The orders of an account whose status changes as the test says. */
function ordersOf(statuses: readonly OrderStatus[], openNotice = vi.fn<Client['openNotice']>()) {
  const key = signal<KeyInUse | null>(null)
  const onEnd = vi.fn()
  const asked: number[] = []
  const client = {
    openNotice,
    async *followOrder(_orderId: unknown, { pollMs }: { pollMs?: number | undefined } = {}) {
      asked.push(pollMs ?? 0)
      yield* statuses
    },
    async *followTimeline() {
      yield* []
    },
  }
  const readHistory = async () => ({ ids: [ID], complete: true })
  const history = createQuery<OrderHistory>({ isSeen, question: () => readHistory, pace: () => null })
  return { orders: createOrders({ client, isSeen, history, key, onEnd }), key, onEnd, asked }
}

it('an order that was seen open has ended once, and its envelope is dropped then', async () => {
  localStorage.setItem(`desk:order:${ID}`, '{}')
  const { orders, onEnd } = ordersOf([status, status, refunded, refunded])
  const leave = effect(() => void orders.of(ID).status.value)
  await vi.waitFor(() => expect(orders.of(ID).status.value).toBe(refunded))
  expect(onEnd.mock.calls).toEqual([[refunded]])
  expect(keptOrder(ID)).toBeNull()
  expect(localStorage.length).toBe(0)
  leave()
})

it('an order that was placed here and has ended before it was first read has ended, too', async () => {
  const { orders, onEnd } = ordersOf([refunded])
  orders.memory.value = withPlaced(orders.memory.value, ID, { side: 'BUY', symbol: 'AAPL', maxSpend: 1n })
  const leave = effect(() => void orders.of(ID).status.value)
  await vi.waitFor(() => expect(onEnd.mock.calls).toEqual([[refunded]]))
  leave()
})

it('an order that had ended before is no news', async () => {
  const { orders, onEnd } = ordersOf([refunded])
  const leave = effect(() => void orders.of(ID).status.value)
  await vi.waitFor(() => expect(orders.of(ID).status.value).toBe(refunded))
  expect(onEnd).not.toHaveBeenCalled()
  leave()
})

it('a notice is opened once a key is in use, and again with a newer one', async () => {
  const failure = new Error('the key is an older one')
  const openNotice = vi.fn<Client['openNotice']>().mockRejectedValueOnce(failure).mockResolvedValue(notice)
  const { orders, key } = ordersOf([status, refunded], openNotice)
  const query = orders.of(ID).notice
  const leave = effect(() => void [query.value, orders.of(ID).status.value])
  await vi.waitFor(() => expect(orders.of(ID).status.value).toBe(refunded))
  expect(openNotice).not.toHaveBeenCalled()
  key.value = { publicKey: '0x01', drawnAt: 0 }
  await vi.waitFor(() => expect(query.error).toBe(failure))
  key.value = { publicKey: '0x02', drawnAt: 1 }
  await vi.waitFor(() => expect(query.value).toBe(notice))
  expect(query.error).toBeNull()
  leave()
})

it('an order that the chain does not show yet is listed before the others, once', async () => {
  const { orders } = ordersOf([])
  const leave = effect(() => void orders.history.value)
  await vi.waitFor(() => expect(orders.history.value).not.toBeNull())
  const request = { side: 'BUY', symbol: 'AAPL', maxSpend: 1n } as const
  orders.memory.value = withPlaced(orders.memory.value, ID, request)
  orders.memory.value = withPlaced(orders.memory.value, OTHER, request)
  expect(orders.listed.value).toEqual([
    { orderId: OTHER, request },
    { orderId: ID, request },
  ])
  leave()
})

it('orders are asked about more slowly while more are shown', async () => {
  const { orders, asked } = ordersOf([status])
  const leave = effect(() => void orders.of(ID).status.value)
  expect(asked).toHaveLength(1)
  const request = { side: 'BUY', symbol: 'AAPL', maxSpend: 1n } as const
  orders.most.value = 20
  for (let index = 0; index < 20; index++) {
    const orderId = `0x${index.toString(16).padStart(64, '0')}` as const
    orders.memory.value = withPlaced(orders.memory.value, orderId, request)
  }
  await vi.waitFor(() => expect(asked.at(-1)).toBeGreaterThan(asked[0] ?? 0))
  leave()
})
