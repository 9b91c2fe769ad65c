import { effect, signal } from '@preact/signals'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { AccountHistory, OrderList } from '../../src/client/history.js'
import type { Client, Hex, KeptOrder, OrderStatus, Portfolio } from '../../src/client/index.js'
import { NO_ORDERS, type Ordered, withOpenOrders, withPlaced } from '../../web/orders/orderMemory.js'
import type { KeyInUse } from '../../web/orders/portfolioKeys.js'
import { createQuery } from '../../web/query.js'
import { createOrders } from '../../web/state/orders.js'
import { keptOrderOf } from '../client/store/keptOrderOf.js'

const ID = `0x${'0a'.repeat(32)}` as const
const OTHER = `0x${'0b'.repeat(32)}` as const
const notice = { orderId: ID, code: 'over-limit', message: 'Too much.' }
const status: OrderStatus = {
  ...{ orderId: ID, state: 'OPEN', account: null, amount: null, deadline: null, commit: null },
  ...{ receivedAt: null, triggers: [], nextTriggerAt: null, notice: null },
}
const refunded: OrderStatus = { ...status, state: 'REFUNDED' }
const ACCOUNT: Hex = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'
const isSeen = signal(true)
const request: Ordered = { side: 'BUY', symbol: 'AAPL', usdc: 5n }

/** Reads a value as a component does, until the test ends. */
const shows = (read: () => unknown) => onTestFinished(effect(() => void read()))

function queryOf<T>(read: () => T) {
  const ask = async () => read()
  return createQuery<T>({ isSeen, question: () => ask, pace: () => null })
}

/** The orders of an account whose status changes as the test says. */
function ordersOf(
  statuses: readonly OrderStatus[],
  openNotice = vi.fn<Client['openNotice']>(),
  signed: readonly KeptOrder[] = [],
) {
  const getOpeningState = vi.fn<Client['getOpeningState']>(async () => 'expired')
  const key = signal<KeyInUse | null>(null)
  const [onChange, onMoved, onEnd] = [vi.fn(), vi.fn(), vi.fn()]
  const asked: number[] = []
  let inStore = signed
  const client = {
    openNotice,
    getOpeningState,
    async resumeOrder() {
      inStore = []
      return 'void' as const
    },
    async *listOrderStatuses(_orderId: unknown, { pollMs }: { pollMs?: number | undefined } = {}) {
      asked.push(pollMs ?? 0)
      yield* statuses
    },
    async *listOrderTimelines() {
      yield* []
    },
  }
  const terms = { orderId: ID, account: ACCOUNT, escrowed: 1n, deadline: 1 }
  const orders = [{ ...terms, txHash: ID, blockNumber: 1, logIndex: 0 }]
  const span = { from: 0, to: 1 }
  const history = queryOf<OrderList>(() => ({ orders, read: span, span, checkpoint: null, isComplete: true }))
  const trades = queryOf<AccountHistory>(() => ({ entries: [], finalUntil: 0 }))
  const kept = signal<ReadonlyMap<Hex, Ordered>>(new Map())
  const sealed = queryOf<readonly KeptOrder[]>(() => inStore)
  const told = { key, onChange, onMoved, onEnd }
  return {
    orders: createOrders({ ...{ client, isSeen, history, sealed, trades, kept }, ...told }),
    asked,
    ...told,
  }
}

it('an order that was seen open has ended once', async () => {
  const { orders, onChange, onEnd } = ordersOf([status, status, refunded, refunded])
  shows(() => orders.of(ID).status.value)
  await expect.poll(() => orders.of(ID).status.value).toBe(refunded)
  expect(onChange.mock.calls.length).toBeGreaterThanOrEqual(4)
  expect(onEnd.mock.calls).toEqual([[refunded]])
})

it('an order that had ended before is no news, but one that was placed here', async () => {
  const { orders, onEnd } = ordersOf([refunded])
  shows(() => orders.of(ID).status.value)
  await expect.poll(() => orders.of(ID).status.value).toBe(refunded)
  expect(onEnd).not.toHaveBeenCalled()
  const here = ordersOf([refunded])
  here.orders.memory.value = withPlaced(here.orders.memory.value, ID, request)
  shows(() => here.orders.of(ID).status.value)
  await expect.poll(() => here.onEnd.mock.calls).toEqual([[refunded]])
})

it('a refund that the chain has before the server has the run’s end is reported with its reason, if one comes', async () => {
  const running = { attempt: 1, reason: 'received', startedAt: '2026-01-05T15:00:00.000Z' } as const
  const due: OrderStatus = { ...refunded, triggers: [{ ...running, finishedAt: null, outcome: null }] }
  const { orders, onMoved, onEnd } = ordersOf([status, due, due, refunded])
  shows(() => orders.of(ID).status.value)
  await expect.poll(() => onEnd.mock.calls).toEqual([[refunded]])
  // The money is looked at before the reason is there.
  expect(onMoved.mock.invocationCallOrder[0]).toBeLessThan(onEnd.mock.invocationCallOrder[0] ?? 0)
  const without = ordersOf([status, due])
  shows(() => without.orders.of(ID).status.value)
  await expect.poll(() => without.onEnd.mock.calls).toEqual([[due]])
})

it('a notice is opened once a key is in use, and again with a newer one', async () => {
  const failure = new Error('the key is an older one')
  const openNotice = vi.fn<Client['openNotice']>().mockRejectedValueOnce(failure).mockResolvedValue(notice)
  const { orders, key } = ordersOf([status, refunded], openNotice)
  const query = orders.of(ID).notice
  shows(() => [query.value, orders.of(ID).status.value])
  await expect.poll(() => orders.of(ID).status.value).toBe(refunded)
  expect(openNotice).not.toHaveBeenCalled()
  key.value = { publicKey: '0x01', drawnAt: 0 }
  await expect.poll(() => query.error).toBe(failure)
  key.value = { publicKey: '0x02', drawnAt: 1 }
  await expect.poll(() => query.value).toBe(notice)
  expect(query.error).toBeNull()
})

it('an order that the chain does not show yet is listed before the others, once', async () => {
  const { orders } = ordersOf([])
  shows(() => orders.history.value)
  await expect.poll(() => orders.history.value).not.toBeNull()
  orders.memory.value = withPlaced(orders.memory.value, ID, request)
  orders.memory.value = withPlaced(orders.memory.value, OTHER, request)
  expect(orders.listed.value).toEqual([
    { orderId: OTHER, request, summary: null },
    { orderId: ID, request, summary: null },
  ])
})

it('orders are asked about more slowly while more are shown', async () => {
  const { orders, asked } = ordersOf([status])
  shows(() => orders.of(ID).status.value)
  expect(asked).toHaveLength(1)
  orders.most.value = 20
  for (let index = 0; index < 20; index++) {
    const orderId = `0x${index.toString(16).padStart(64, '0')}` as const
    orders.memory.value = withPlaced(orders.memory.value, orderId, request)
  }
  await expect.poll(() => asked.at(-1)).toBeGreaterThan(asked[0] ?? 0)
})

it('an order that an earlier visit signed is listed, and forgotten once its signature opens nothing any more', async () => {
  const opening = { account: ACCOUNT, amount: 0n, deadline: 4_000_000_000, validBefore: 2, sig: ID }
  const signed = { ...keptOrderOf(1), orderId: OTHER, account: ACCOUNT, opening }
  const { orders } = ordersOf([], undefined, [signed])
  shows(() => orders.listed.value)
  const listed = () => orders.listed.value.map(({ orderId }) => orderId)
  await expect.poll(listed).toEqual([OTHER, ID])
  expect(orders.keptOf(OTHER)).toMatchObject({ opening })
  shows(() => orders.of(OTHER).opening.value)
  await expect.poll(() => orders.of(OTHER).opening.value).toBe('expired')
  await expect.poll(listed).toEqual([ID])
})

const sale = { side: 'SELL', symbol: 'MSFT', notional: 7n, escrow: 0n, locked: 3n } as const
const openOrders: Portfolio['openOrders'] = { [ID]: { ...sale, brokerOrderId: '', placedAt: 1 } }

it('the portfolio’s open orders are remembered when they have ended, and the page’s own ones are known better', () => {
  const seen = withOpenOrders(NO_ORDERS, openOrders)
  expect(seen.ordered.get(ID)).toEqual({ side: 'SELL', symbol: 'MSFT', usdc: 7n })
  expect(seen.placed).toEqual([])
  expect(withOpenOrders(seen, {})).toBe(seen)
  const placed = withPlaced(NO_ORDERS, ID, request)
  expect(withOpenOrders(placed, openOrders)).toBe(placed)
})
