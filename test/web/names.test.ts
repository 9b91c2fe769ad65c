import { describe, expect, it } from 'vitest'
import { isName } from '../../src/client/admin.js'
import type { Hex } from '../../src/client/index.js'
import type { Ordered } from '../../web/orders/orderMemory.js'
import { createKeptRequests } from '../../web/state/keptRequests.js'
import { createNames, NotStoredError, UnreadableNamesError } from '../../web/state/names.js'
import { createMemoryDevice, NO_DEVICE } from '../support/memoryDevice.js'

const ada = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const ben = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'

/** Seals with a letter that the same key alone takes away. */
function clientOf(key = 'k') {
  return {
    sealForDevice: async (purpose: string, value: unknown) =>
      new TextEncoder().encode(`${key}${purpose}${JSON.stringify(value)}`),
    async openFromDevice(purpose: string, bytes: Uint8Array): Promise<unknown> {
      const text = new TextDecoder().decode(bytes)
      return text.startsWith(key + purpose) ? JSON.parse(text.slice(key.length + purpose.length)) : undefined
    },
  }
}

function namesOf(store = createMemoryDevice(), key?: string) {
  return createNames({ client: clientOf(key), store, chainId: 1, account: ada })
}

describe('the names', () => {
  it('change one by one, and an empty one is taken back; what is sealed is opened first', async () => {
    const store = createMemoryDevice()
    await namesOf(store).give([[ada, 'Ada']])
    const next = namesOf(store)
    await next.give([[ben, 'Ben']])
    await next.give([[ada, '']])
    expect(Object.fromEntries(next.state.value.given)).toEqual({ [ben]: 'Ben' })
  })

  it('are not overwritten where no key opens them, until they are forgotten', async () => {
    const store = createMemoryDevice()
    await namesOf(store, 'a').give([[ada, 'Ada']])
    const other = namesOf(store, 'b')
    await expect(other.give([[ben, 'Ben']])).rejects.toBeInstanceOf(UnreadableNamesError)
    expect(other.state.value.kept).toBe('unreadable')
    const again = namesOf(store, 'a')
    await again.open()
    expect([...again.state.value.given.values()]).toEqual(['Ada'])
    await other.forget()
    await other.give([[ben, 'Ben']])
    expect([...other.state.value.given.values()]).toEqual(['Ben'])
  })

  it('last as long as the session in a browser that stores nothing, which is reported', async () => {
    const names = createNames({ client: clientOf(), store: NO_DEVICE, chainId: 1, account: ada })
    await expect(names.give([[ada, 'Ada']])).rejects.toBeInstanceOf(NotStoredError)
    await expect(names.give([[ben, 'Ben']])).rejects.toBeInstanceOf(NotStoredError)
    expect([...names.state.value.given.values()]).toEqual(['Ada', 'Ben'])
  })
})

it('a name has 1 to 60 visible characters, and none at its ends that is blank', () => {
  for (const text of ['Ångström, José-María 2', 'x'.repeat(60)]) expect(isName(text)).toBe(true)
  for (const text of ['x'.repeat(61), '', ' Ada', 'Ada\nBen', 'Ada\u202eneB'])
    expect(isName(text)).toBe(false)
})

const idOf = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`
const request: Ordered = { side: 'BUY', symbol: 'AAPL', usdc: 30_000_000_000n }
const moved: Ordered = { side: 'WITHDRAW', symbol: 'MSFT', shares: 5_000_000_000n }

function requestsOf(store = createMemoryDevice(), key?: string) {
  return createKeptRequests({ client: clientOf(key), store, chainId: 1, account: ada })
}

it('the content of orders is there at the next visit, by its wallet’s key alone; all that are placed at once, and of many the newest', async () => {
  const store = createMemoryDevice()
  await requestsOf(store).keep(idOf(0), moved)
  expect([...store.kept.keys()]).toEqual([`orders/1/${ada.toLowerCase()}`])
  expect([...(await requestsOf(store).open())]).toEqual([[idOf(0), moved]])
  expect(await requestsOf(store, 'another key').open()).toEqual(new Map())
  const requests = requestsOf(store)
  const ids = Array.from({ length: 202 }, (_, index) => idOf(index + 1))
  await Promise.all(ids.map((id) => requests.keep(id, request)))
  expect([...(await requests.open()).keys()]).toEqual(ids.slice(2))
})

it('a browser that keeps nothing stops no order', async () => {
  const requests = createKeptRequests({ client: clientOf(), store: NO_DEVICE, chainId: 1, account: ada })
  await requests.keep(idOf(1), request)
  expect(await requests.open()).toEqual(new Map())
})
