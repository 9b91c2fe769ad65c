import { signal } from '@preact/signals'
import { describe, expect, it, vi } from 'vitest'
import {
  type Client,
  ClientError,
  ContractError,
  type Hex,
  NotSubmittedError,
  type SealedOrder,
} from '../../src/client/index.js'
import { isEnvelopeMissing } from '../../web/orders/missingEnvelope.js'
import { placeKept } from '../../web/orders/placeKept.js'
import type { KeyInUse } from '../../web/orders/portfolioKeys.js'
import { createPlacing, PlacingStopped } from '../../web/state/placing.js'
import { keptOrderOf } from '../client/store/keptOrderOf.js'
import { serverError } from './support/serverError.js'

const NOW = 1_800_000_000
const request = { side: 'SELL', symbol: 'AAPL', usdc: 1_000_000n, deadline: NOW + 60 } as const
const idOf = (digit: string): Hex => `0x${digit.repeat(64)}`

function sealed(orderId: Hex): SealedOrder {
  const { commit, envelope } = keptOrderOf(1)
  const account: Hex = `0x${'02'.repeat(20)}`
  return {
    ...{ orderId, commit, contentKey: idOf('d'), escrowed: 0n, envelope },
    intent: {
      ...{ v: 1, orderId, account, orgId: idOf('0'), side: 'SELL', symbol: 'AAPL', maxSpend: 1_000_000n },
      ...{ expiry: request.deadline, nonce: 1, userPubKey: '0x', sig: '0x' },
    },
  }
}

const PLACE = { chainId: 31_337, escrow: `0x${'0e'.repeat(20)}`, account: `0x${'02'.repeat(20)}` } as const
type PlacingClient = Pick<Client, 'placeOrder' | 'getKeptOrders'>

/** A client that seals, then succeeds or fails in this way, and keeps the order or not. */
function clientOf(order: SealedOrder, failure: unknown = null, isKept = true): PlacingClient {
  const { intent: _intent, escrowed: _escrowed, ...sealedOrder } = order
  return {
    getKeptOrders: async () => (isKept ? [{ ...PLACE, ...sealedOrder, deadline: request.deadline }] : []),
    async placeOrder(_request, { beforeOpen, onStep } = {}) {
      await beforeOpen?.(order)
      onStep?.('opening')
      if (failure !== null) throw failure
      const opened = { txHash: idOf('f'), blockNumber: 1 }
      const received = { orderId: order.orderId, commit: order.commit, result: 'received' as const }
      return { order, opened, received: { ...received, receivedAt: '2030-01-01T00:00:00.000Z' } }
    },
  }
}

const SILENT = { plan: vi.fn(), canSponsor: vi.fn(), getKeptOrders: vi.fn(async () => []) }

/** What a page places orders with, where a key is in use. */
function placingBy(
  client: Pick<Client, 'placeOrder'> & Partial<PlacingClient & Pick<Client, 'plan'>>,
  options: Partial<Parameters<typeof createPlacing>[0]>,
) {
  const key = signal<KeyInUse | null>({ publicKey: '0x01', drawnAt: 0 })
  const isKeyMissing = () => false
  const all = { key, isKeyMissing, unlock: vi.fn(), onOrder: vi.fn() }
  return createPlacing({ ...all, client: { ...SILENT, ...client }, ...options })
}

it.each<[string, unknown, boolean, [Hex, boolean][]]>([
  ['is not listed where the client has forgotten it', new ClientError('transaction-refused', ''), false, []],
  [
    'is open for certain where it was on its way to the server',
    new NotSubmittedError(sealed(idOf('a')), new ClientError('server-unreachable', '')),
    true,
    [[idOf('a'), true]],
  ],
])('an order that fails %s', async (_how, failure, isKept, listed) => {
  const opened: [Hex, boolean][] = []
  const placing = placeKept(clientOf(sealed(idOf('a')), failure, isKept), request, {
    onStep: () => undefined,
    onOpen: (orderId, isCertain) => opened.push([orderId, isCertain]),
  })
  await expect(placing).rejects.toBe(failure)
  expect(opened).toEqual(listed)
})

it('an order whose id somebody takes says who it was, and is not listed once its person stops it', async () => {
  const by: Hex = `0x${'0b'.repeat(20)}`
  const onOrder = vi.fn()
  const taken: Pick<Client, 'placeOrder'> = {
    async placeOrder(_placed, { beforeOpen, onStep, onIdTaken, signal } = {}) {
      await beforeOpen?.(sealed(idOf('a')))
      onStep?.('opening')
      onIdTaken?.({ orderId: idOf('a'), by, times: 1 })
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    },
  }
  const { state, place, stop } = placingBy(taken, { onOrder })
  const placing = place(request)
  await vi.waitFor(() => expect(state.value.taken).toMatchObject({ by, times: 1 }))
  stop()
  expect(await placing).toBe(false)
  expect(state.value).toMatchObject({ step: null, taken: null, mayBeOpen: false })
  expect(state.value.error).toBeInstanceOf(PlacingStopped)
  expect(onOrder).not.toHaveBeenCalled()
})

describe('an order that the platform opens', () => {
  const opening = {
    ...{ account: `0x${'02'.repeat(20)}` as const, amount: 0n, deadline: NOW + 60, validBefore: NOW + 30 },
    sig: `0x${'02'.repeat(65)}` as const,
  }
  const order = { ...sealed(idOf('a')), opening }
  async function place(failure: unknown) {
    const signed: Hex[] = []
    const onOpen = vi.fn()
    const onSigned = (orderId: Hex) => void signed.push(orderId)
    const options = { sponsored: true, onStep: () => undefined, onOpen, onSigned }
    const placing = placeKept(clientOf(order, failure), request, options)
    if (failure === null) await placing
    else await expect(placing).rejects.toBe(failure)
    return { signed, opened: onOpen.mock.calls }
  }

  it.each([
    ['the server refuses it', new ContractError('openFor', 'ERC20InsufficientBalance', {}, true)],
    ['the server falls silent', new ClientError('server-unreachable', '')],
    ['the page stops', new PlacingStopped()],
  ])('is listed as signed as %s, because it can still be opened', async (_why, failure) => {
    expect(await place(failure)).toEqual({ signed: [order.orderId], opened: [] })
  })

  it('is open for certain once the client says so', async () => {
    expect(await place(null)).toEqual({ signed: [], opened: [[order.orderId, true]] })
  })
})

it.each([
  [true, true],
  [true, false],
  [false, true],
])('an order says who opens it once that is certain: wanted %s, offered %s', async (wanted, offered) => {
  const seen: (boolean | null)[] = []
  const client = { ...clientOf(sealed(idOf('a'))), canSponsor: async () => offered }
  const { state, place } = placingBy(client, { onOrder: () => seen.push(state.value.byPlatform) })
  const placed = place(request, { wantsPlatform: wanted })
  expect(state.value.byPlatform).toBe(wanted ? null : false)
  expect(await placed).toBe(true)
  expect(seen).toEqual([wanted && offered])
})

const PROMPTS = [{ step: 'unlocking', kind: 'signature', why: 'Makes the key.' }] as const

it('an order says what the wallet will be asked before it asks it for the key', async () => {
  const client = { ...clientOf(sealed(idOf('a'))), plan: async () => PROMPTS }
  const seen: unknown[] = []
  const placing = placingBy(client, {
    key: signal(null),
    unlock: async () => void seen.push(placing.state.value.prompts),
  })
  expect(await placing.place(request)).toBe(true)
  expect(seen).toEqual([PROMPTS])
})

it.each([
  ['a server that is not to be trusted', 'untrusted-enclave-key', 0],
  ['a wallet that derives no key, and asks for a file instead', 'contract-wallet', 1],
] as const)('an order stops at %s', async (_why, code, times) => {
  const refused = new ClientError(code, '')
  const unlock = vi.fn(() => Promise.reject(refused))
  const placing = placingBy(
    { placeOrder: vi.fn(), plan: () => Promise.reject(refused) },
    { key: signal(null), unlock },
  )
  expect(await placing.place(request)).toBe(false)
  expect(placing.state.value).toMatchObject({ step: null, error: refused })
  expect(unlock).toHaveBeenCalledTimes(times)
})

it('an order under a key that was given up is not begun, and the wallet not asked', async () => {
  const asked = { ...SILENT, placeOrder: vi.fn() }
  const placing = placingBy(asked, { key: signal(null), isKeyMissing: () => true })
  expect(await placing.place(request)).toBe(false)
  expect(placing.state.value).toMatchObject({ step: null, error: { code: 'portfolio-key-missing' } })
  for (const method of Object.values(asked)) expect(method).not.toHaveBeenCalled()
})

const state = (name: 'NONE' | 'OPEN' | 'SETTLED', receivedAt: string | null = null) => ({
  state: name,
  receivedAt,
})

it.each([
  [null, serverError(404, 'order-not-found'), true],
  [state('OPEN'), null, true],
  [state('NONE'), null, true],
  [null, null, false],
  [null, new TypeError('Failed to fetch'), false],
  [null, serverError(503, 'chain-unavailable'), false],
  [state('OPEN', '2026-01-02T03:04:05.000Z'), null, false],
  [state('SETTLED'), null, false],
])(
  'the server lacks an envelope only once it says so of an order that needs it: %o, %o: %s',
  (status, error, isMissing) => {
    expect(isEnvelopeMissing(status, error)).toBe(isMissing)
  },
)
