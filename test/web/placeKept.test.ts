import { signal } from '@preact/signals'
import { expect, it, vi } from 'vitest'
import {
  type Client,
  ClientError,
  ContractError,
  type Hex,
  NotSubmittedError,
  type SealedOrder,
} from '../../src/client/index.js'
import { placeKept } from '../../web/orders/placeKept.js'
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
const PLACE = { chainId: 31_337, escrow: account, account, deadline }
const sig: Hex = `0x${'02'.repeat(65)}`
const opening = { account, amount: 0n, deadline, validBefore: deadline - 30, sig }
const silent = new ClientError('server-unreachable', '')

/** A client that seals, then succeeds or fails in this way, and keeps the order or not. */
function clientOf(order: SealedOrder, failure: unknown, isKept: boolean) {
  const { intent: _intent, escrowed: _escrowed, ...sealedOrder } = order
  const client: Pick<Client, 'placeOrder' | 'getKeptOrders'> = {
    getKeptOrders: async () => (isKept ? [{ ...PLACE, ...sealedOrder }] : []),
    async placeOrder(_request, { beforeOpen, onStep } = {}) {
      await beforeOpen?.(order)
      onStep?.('opening')
      if (failure !== null) throw failure
      const opened = { txHash: idOf('f'), blockNumber: 1 }
      const received = { orderId: order.orderId, commit: order.commit, result: 'received' as const }
      return { order, opened, received: { ...received, receivedAt: '2030-01-01T00:00:00.000Z' } }
    },
  }
  return client
}

it.each<[string, failure: unknown, order: { isForgotten?: true; isSponsored?: true }, told: string]>([
  ['is not listed where the client has forgotten it', silent, { isForgotten: true }, 'nothing'],
  ['is open for certain on its way to the server', new NotSubmittedError(ORDER, silent), {}, 'open'],
  ['is open for certain once the platform has opened it', null, { isSponsored: true }, 'open'],
  [
    'can still be opened where the platform has refused it',
    new ContractError('openFor', 'ERC20InsufficientBalance', {}, true),
    { isSponsored: true },
    'signed',
  ],
  ['can still be opened where the server falls silent', silent, { isSponsored: true }, 'signed'],
  ['can still be opened where the page stops', new PlacingStopped(), { isSponsored: true }, 'signed'],
])('an order %s', async (_how, failure, { isForgotten = false, isSponsored = false }, told) => {
  const [onSigned, onOpen] = [vi.fn(), vi.fn()]
  const order = isSponsored ? { ...ORDER, opening } : ORDER
  const options = { sponsored: isSponsored, onStep: () => undefined, onOpen, onSigned }
  const placing = placeKept(clientOf(order, failure, !isForgotten), request, options)
  if (failure === null) await placing
  else await expect(placing).rejects.toBe(failure)
  expect(onOpen.mock.calls).toEqual(told === 'open' ? [[ID, true]] : [])
  expect(onSigned.mock.calls).toEqual(told === 'signed' ? [[ID]] : [])
})

it('an order whose id somebody takes says who it was, and is not listed once its person stops it', async () => {
  const by: Hex = `0x${'0b'.repeat(20)}`
  const onOrder = vi.fn()
  const taken: Pick<Client, 'placeOrder'> = {
    async placeOrder(_placed, { beforeOpen, onStep, onIdTaken, signal } = {}) {
      await beforeOpen?.(ORDER)
      onStep?.('opening')
      onIdTaken?.({ orderId: ID, by, times: 1 })
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    },
  }
  const key = signal<KeyInUse | null>({ publicKey: '0x01', drawnAt: 0 })
  const others = { plan: vi.fn(), canSponsor: vi.fn(), getKeptOrders: vi.fn(async () => []) }
  const deps = { key, isKeyMissing: () => false, unlock: vi.fn(), onOrder }
  const { state, place, stop } = createPlacing({ ...deps, client: { ...others, ...taken } })
  const placing = place(request)
  await vi.waitFor(() => expect(state.value.taken).toMatchObject({ by, times: 1 }))
  stop()
  expect(await placing).toBe(false)
  expect(state.value).toMatchObject({ step: null, taken: null, mayBeOpen: false })
  expect(state.value.error).toBeInstanceOf(PlacingStopped)
  expect(onOrder).not.toHaveBeenCalled()
})
