import { describe, expect, it } from 'vitest'
import { isName } from '../../src/client/admin.js'
import type { Hex } from '../../src/client/index.js'
import type { Ordered } from '../../web/orders/orderMemory.js'
import { createKeptRequests } from '../../web/state/keptRequests.js'
import { createNames, NotStoredError, UnreadableNamesError } from '../../web/state/names.js'
import { institutionNameFault } from '../../web/words/name.js'
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

it('the registry takes an institution of no name with other than ASCII', () => {
  for (const name of ['', 'Example Capital', "Bob's & Co. (1)"]) expect(institutionNameFault(name)).toBeNull()
  const faults = ['Crédit Nord', 'Bob’s Bank', 'Bank 🏦'].map(institutionNameFault)
  expect(faults).toEqual(['é', '’', '🏦'].map((found) => expect.stringMatching(`^“${found}” cannot be in`)))
})

const idOf = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`
const request: Ordered = { side: 'BUY', symbol: 'AAPL', usdc: 30_000_000_000n }
const moved: Ordered = { side: 'WITHDRAW', symbol: 'MSFT', shares: 5_000_000_000n }

function requestsOf(store = createMemoryDevice(), key?: string) {
  return createKeptRequests({ client: clientOf(key), store, chainId: 1, account: ada })
}

it('the content of an order is there at the next visit, by its wallet’s key alone', async () => {
  const store = createMemoryDevice()
  await requestsOf(store).keep(idOf(1), request)
  await requestsOf(store).keep(idOf(2), moved)
  expect([...store.kept.keys()]).toEqual([`orders/1/${ada.toLowerCase()}`])
  const found = await requestsOf(store).open()
  expect([...found]).toEqual([
    [idOf(1), request],
    [idOf(2), moved],
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
  const requests = createKeptRequests({ client: clientOf(), store: NO_DEVICE, chainId: 1, account: ada })
  await requests.keep(idOf(1), request)
  expect(await requests.open()).toEqual(new Map())
})
