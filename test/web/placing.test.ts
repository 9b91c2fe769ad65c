import { signal } from '@preact/signals'
import { expect, it, vi } from 'vitest'
import {
  type Client,
  ClientError,
  type Hex,
  type SealedOrder,
  type UnfinishedOrder,
} from '../../src/client/index.js'
import type { KeyInUse } from '../../web/orders/portfolioKeys.js'
import { createPlacing, PlacingStopped } from '../../web/state/placing.js'
import { keptOrderOf } from '../client/store/keptOrderOf.js'

const idOf = (digit: string): Hex => `0x${digit.repeat(64)}`
const deadline = 1_800_000_060
const request = { side: 'SELL', symbol: 'AAPL', usdc: 1_000_000n, deadline } as const
const { commit, envelope, account } = keptOrderOf(1)
const ID = idOf('a')
const terms = { v: 1, orderId: ID, account, orgId: idOf('0'), side: 'SELL', symbol: 'AAPL' } as const
const intent = {
  ...terms,
  maxSpend: 1_000_000n,
  expiry: deadline,
  nonce: 1,
  userPubKey: '0x',
  sig: '0x',
} as const
const ORDER: SealedOrder = { orderId: ID, commit, contentKey: idOf('d'), escrowed: 0n, envelope, intent }
const FAILURE = new ClientError('server-unreachable', '')

/** What a page places orders with, where a key is in use. */
function placingBy(client: Pick<Client, 'placeOrder'>) {
  const key = signal<KeyInUse | null>({ publicKey: '0x01', drawnAt: 0 })
  const onOrder = vi.fn()
  const deps = { key, isKeyMissing: () => false, unlock: vi.fn(), onOrder }
  return { onOrder, ...createPlacing({ ...deps, client: { plan: vi.fn(), canSponsor: vi.fn(), ...client } }) }
}

/** A client that succeeds, or fails and says what became of the order. */
function clientOf(failure: ClientError | null, became: UnfinishedOrder['state'] | null) {
  const client: Pick<Client, 'placeOrder'> = {
    async placeOrder(_request, { onUnfinished } = {}) {
      if (became !== null) onUnfinished?.({ orderId: ID, state: became })
      if (failure !== null) throw failure
      const received = {
        orderId: ID,
        commit,
        result: 'received',
        receivedAt: '2030-01-01T00:00:00.000Z',
      } as const
      return { order: ORDER, opened: { txHash: idOf('f'), blockNumber: 1 }, received }
    },
  }
  return client
}

const CERTAIN = { orderId: ID, mayBeOpen: false, isUnsent: false }
it.each([
  ['is not listed where it can never be open', FAILURE, null, [], { mayBeOpen: false, isUnsent: true }],
  ['is open for certain on its way to the server', FAILURE, 'open', [true], CERTAIN],
  ['may be open', FAILURE, 'unopened', [true], { orderId: null, mayBeOpen: true, isUnsent: false }],
  ['can still be opened', FAILURE, 'signed', [false], { orderId: null, mayBeOpen: false, isUnsent: false }],
  ['is open for certain once it is placed', null, null, [true], CERTAIN],
] as const)('an order %s', async (_how, failure, became, listed, shown) => {
  const { state, place, onOrder } = placingBy(clientOf(failure, became))
  expect(await place(request)).toBe(listed.length > 0)
  expect(onOrder.mock.calls).toEqual(listed.map((isSent) => [ID, request, isSent]))
  expect(state.value).toMatchObject({ step: null, error: failure, ...shown })
})

it('an order whose id somebody takes says who it was, and is not listed once its person stops it', async () => {
  const by: Hex = `0x${'0b'.repeat(20)}`
  const { state, place, stop, onOrder } = placingBy({
    async placeOrder(_placed, { beforeOpen, onStep, onIdTaken, signal } = {}) {
      await beforeOpen?.(ORDER)
      onStep?.('opening')
      onIdTaken?.({ orderId: ID, by, times: 1 })
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  const placing = place(request)
  await vi.waitFor(() => expect(state.value.taken).toMatchObject({ by, times: 1 }))
  stop()
  expect(await placing).toBe(false)
  expect(state.value).toMatchObject({ step: null, taken: null, mayBeOpen: false })
  expect(state.value.error).toBeInstanceOf(PlacingStopped)
  expect(onOrder).not.toHaveBeenCalled()
})
