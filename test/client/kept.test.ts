// What the client keeps of an order, and when it forgets it. killed.test.ts has the visits that end in between.
import { makeError } from 'ethers'
import { expect, it } from 'vitest'
import type { OrderStore, UnfinishedOrder } from '../../src/client/index.js'
import { createMemoryOrderStore } from '../../src/client/store/index.js'
import { problem } from '../support/apiStandIn.js'
import { refundOrder } from '../support/orderEnds.js'
import { answerAsServer, clientOf, enclaveKeyOf, NO_STATUS } from './clientSetting.js'
import { usePlacing } from './placing.js'
import { createTestWallet } from './testWallet.js'

const { chain, api, posted, sent, takeId, setting } = await usePlacing()

/** Alice's client, whose wallet fails when it is asked for a method. */
async function failing(method: string, failure: unknown, orderStore = createMemoryOrderStore()) {
  const wallet = createTestWallet(chain(), {
    prompt: (asked, act) => (asked === method ? Promise.reject(failure) : act()),
  })
  return { ...(await setting({ wallet, orderStore })), orderStore }
}
const DECLINED = Object.assign(new Error('User rejected the request.'), { code: 4001 })

it.each([
  ['refuses the transaction', 'eth_sendTransaction', DECLINED, []],
  ['refuses the signature of the payment', 'eth_signTypedData_v4', DECLINED, []],
  ['falls silent over the transaction', 'eth_sendTransaction', makeError('', 'NETWORK_ERROR'), ['unopened']],
] as const)(
  'an order whose wallet %s is kept, and told as unfinished, only if it may be open',
  async (_why, method, failure, states) => {
    const { client, buy, orderStore } = await failing(method, failure)
    const unfinished: UnfinishedOrder[] = []
    const onUnfinished = (order: UnfinishedOrder) => void unfinished.push(order)
    await expect(client.placeOrder(buy, { onUnfinished })).rejects.toThrow()
    const kept = await orderStore.list()
    expect(unfinished).toEqual(kept.map(({ orderId }, index) => ({ orderId, state: states[index] })))
    expect(kept).toHaveLength(states.length)
  },
)

it('an order is kept whose wallet is short of ether, because it has sent it and its answer was lost', async () => {
  const wallet = createTestWallet(chain(), {
    async prompt(method, act) {
      const answer = await act()
      if (method !== 'eth_sendTransaction') return answer
      await chain().provider.send('anvil_mine', [])
      await chain().provider.send('anvil_setBalance', [chain().account('alice'), '0x1'])
      throw new Error('Extension context invalidated.')
    },
  })
  const { client, sale } = await setting({ wallet })
  await expect(client.placeOrder(sale)).rejects.toMatchObject({ code: 'insufficient-funds' })
  const [kept] = await client.getKeptOrders()
  expect(kept && (await client.resumeOrder(kept.orderId))).toBe('submitted')
})

it('an order whose approval fails is not kept: nothing could have opened it', async () => {
  const { client, buy, orderStore } = await failing('eth_sendTransaction', makeError('', 'NETWORK_ERROR'))
  await chain().provider.send('anvil_setCode', [chain().account('alice'), `0xef0100${'00'.repeat(19)}01`])
  await expect(client.placeOrder(buy)).rejects.toThrow()
  expect(await orderStore.list()).toEqual([])
})

it('an order whose id is taken is kept under its last id alone', async () => {
  const orderStore = createMemoryOrderStore()
  const { client, sale } = await setting({ orderStore })
  let times = 0
  const { order } = await client.placeOrder(sale, {
    beforeOpen: async (sealed) => (times++ === 0 ? takeId(sealed) : undefined),
  })
  expect((await client.getKeptOrders()).map(({ orderId }) => orderId)).toEqual([order.orderId])
})

it('an order that the device cannot keep is not opened', async () => {
  const full: OrderStore = {
    ...createMemoryOrderStore(),
    keep: () => Promise.reject(new DOMException('full', 'QuotaExceededError')),
  }
  const { client, buy } = await setting({ orderStore: full })
  const before = await sent()
  await expect(client.placeOrder(buy)).rejects.toMatchObject({ code: 'order-not-kept' })
  expect([await sent(), posted()]).toEqual([before, []])
})

it('an order is kept with its place, and is no other wallet’s, chain’s or escrow’s', async () => {
  const orderStore = createMemoryOrderStore()
  const { client, buy } = await setting({ orderStore })
  const { order } = await client.placeOrder(buy)
  const [kept] = await client.getKeptOrders()
  const { chainId, escrow } = enclaveKeyOf(chain())
  const { orderId, commit, envelope, opening } = order
  expect(kept).toEqual({
    ...{ chainId, escrow, account: chain().account('alice'), deadline: buy.deadline },
    ...{ orderId, commit, envelope, opening },
  })
  if (kept === undefined) throw new Error('nothing is kept')
  expect(JSON.stringify(kept, (_, value) => String(value))).not.toContain('AAPL')
  expect(await clientOf(chain(), api, 'bob', { orderStore }).getKeptOrders()).toEqual([])
  for (const place of [{ chainId: 1 }, { escrow: chain().account('bob') }]) {
    // Its escrow here has no such order, and its deadline is over.
    const foreign = { ...kept, ...place, deadline: 1, orderId: `0x${'77'.repeat(32)}` } as const
    await orderStore.keep(foreign)
    expect(await client.getKeptOrders()).toEqual([kept])
    await expect(client.resumeOrder(foreign.orderId)).rejects.toMatchObject({ code: 'no-kept-order' })
    expect(await orderStore.find(foreign.orderId)).toEqual(foreign)
  }
})

it('a signed order is posted again only where the caller says so', async () => {
  const { client, buy } = await setting()
  answerAsServer(api, chain(), ({ path }) => (path === '/orders' ? problem(422, 'would-revert') : undefined))
  await expect(client.placeOrder(buy, { sponsored: true })).rejects.toMatchObject({ code: 'would-revert' })
  answerAsServer(api, chain())
  const [kept] = await client.getKeptOrders()
  if (kept === undefined) throw new Error('nothing is kept')
  expect(await client.resumeOrder(kept.orderId)).toBe('signed')
  expect(posted()).toEqual([])
  expect(await client.resumeOrder(kept.orderId, { sendSigned: true })).toBe('submitted')
  expect(posted()[0]?.body).toHaveProperty('opening.sig', kept.opening?.sig)
})

it('an order that the server calls ended is kept until the chain calls it so, too', async () => {
  const orderStore = createMemoryOrderStore()
  const { client, buy } = await setting({ orderStore })
  const { order } = await client.placeOrder(buy)
  const body = { ...NO_STATUS, orderId: order.orderId, state: 'REFUNDED' }
  answerAsServer(api, chain(), ({ path }) => (path === `/orders/${order.orderId}` ? { body } : undefined))
  expect((await client.getOrder(order.orderId)).state).toBe('REFUNDED')
  expect(await client.getKeptOrders()).toHaveLength(1)
  await refundOrder(chain(), order.orderId)
  await client.getOrder(order.orderId)
  expect(await client.getKeptOrders()).toEqual([])
})
