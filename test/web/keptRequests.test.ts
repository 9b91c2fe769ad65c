import { expect, it } from 'vitest'
import type { Hex } from '../../src/client/index.js'
import type { Ordered } from '../../web/orders/orderMemory.js'
import { createKeptRequests } from '../../web/state/keptRequests.js'
import { createMemoryDevice, NO_DEVICE } from './memoryDevice.js'
import { clientOf } from './support/sealingClient.js'

const account = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const idOf = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`
const request: Ordered = { side: 'BUY', symbol: 'AAPL', maxSpend: 30_000_000_000n }

function requestsOf(store = createMemoryDevice(), key?: string) {
  return createKeptRequests({ client: clientOf(key), store, chainId: 1, account })
}

it('the content of an order is there at the next visit, by its wallet’s key alone', async () => {
  const store = createMemoryDevice()
  await requestsOf(store).keep(idOf(1), request)
  await requestsOf(store).keep(idOf(2), { ...request, symbol: 'MSFT' })
  expect([...store.kept.keys()]).toEqual([`orders/1/${account.toLowerCase()}`])
  const found = await requestsOf(store).open()
  expect([...found]).toEqual([
    [idOf(1), request],
    [idOf(2), { ...request, symbol: 'MSFT' }],
  ])
  expect(await requestsOf(store, 'another key').open()).toEqual(new Map())
})

it('orders that are placed at once are all kept, and of many the newest', async () => {
  const requests = requestsOf()
  await Promise.all(Array.from({ length: 203 }, (_, index) => requests.keep(idOf(index), request)))
  expect([...(await requests.open()).keys()]).toEqual(
    Array.from({ length: 200 }, (_, index) => idOf(index + 3)),
  )
})

it('a browser that keeps nothing stops no order', async () => {
  const requests = createKeptRequests({ client: clientOf(), store: NO_DEVICE, chainId: 1, account })
  await requests.keep(idOf(1), request)
  expect(await requests.open()).toEqual(new Map())
})
