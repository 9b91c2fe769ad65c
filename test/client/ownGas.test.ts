// Orders that the wallet opens at its own cost. prompts.test.ts has each kind of wallet.
import { expect, it } from 'vitest'
import { isSignedOrder, type PlaceStep, type SealedOrder } from '../../src/client/index.js'
import { createMemoryOrderStore } from '../../src/client/store/index.js'
import { problem } from '../support/apiStandIn.js'
import { openingCall } from '../support/openings.js'
import { refundOrder } from '../support/orderEnds.js'
import { answerAsServer, enclaveKeyOf, WALLET_USDC } from './clientSetting.js'
import { ONE, usePlacing } from './placing.js'
import { createTestWallet, type TestWalletOptions } from './testWallet.js'

const { chain, api, posted, balance, sent, takeId, setting: placing } = await usePlacing()
async function setting(options: TestWalletOptions = {}, orderStore = createMemoryOrderStore()) {
  const asked: string[] = []
  const wallet = createTestWallet(chain(), { asked, ...options })
  const steps: PlaceStep[] = []
  const onStep = (step: PlaceStep) => void steps.push(step)
  const batches = () => asked.filter((method) => method === 'wallet_sendCalls').length
  return { ...(await placing({ wallet, orderStore })), batches, steps, onStep, orderStore }
}

it('a buy at the wallet’s own cost is one batch where the wallet offers it, without a signature of the opening', async () => {
  const { client, batches, buy, steps, onStep } = await setting({ atomic: 'supported' })
  const { order, opened } = await client.placeOrder(buy, { onStep })
  expect([batches(), steps]).toEqual([1, ['unlocking', 'signing', 'opening', 'submitting']])
  expect(order.opening).toBeUndefined()
  expect(await chain().read('escrow', 'orders', order.orderId)).toContain(order.commit)
  expect((await chain().provider.getTransactionReceipt(opened.txHash))?.blockNumber).toBe(opened.blockNumber)
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

const decline: TestWalletOptions['prompt'] = (method, act) =>
  method === 'wallet_sendCalls' ? Promise.reject(Object.assign(new Error('no'), { code: 4001 })) : act()

it.each([
  ['declined', { prompt: decline }, { code: 'transaction-refused' }],
  ['reverted', { reverts: true }, { name: 'ContractError', method: 'openBuy', code: 'unknown' }],
] as const)(
  'a buy at the wallet’s own cost in a batch that is %s is not open',
  async (_how, options, failure) => {
    const { client, buy } = await setting({ atomic: 'supported', ...options })
    await expect(client.placeOrder(buy)).rejects.toMatchObject(failure)
    expect(posted()).toEqual([])
    expect(await balance()).toBe(WALLET_USDC)
  },
)

it('a buy at the wallet’s own cost is open too when someone who saw its transaction has sent the signature first', async () => {
  const { client, buy } = await setting()
  const before = await sent()
  const { order, opened } = await client.placeOrder(buy, {
    async beforeOpen({ orderId, commit, opening }) {
      if (opening === undefined) throw new Error('not signed')
      const { sig, ...signed } = opening
      await chain().send('bob', ...openingCall({ ...signed, orderId, commit }, sig))
    },
  })
  expect((await chain().provider.getTransactionReceipt(opened.txHash))?.from).toBe(chain().account('bob'))
  expect(await sent()).toBe(before)
  expect(posted()).toMatchObject([{ body: { orderId: order.orderId } }])
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it.each<[string, 'BUY' | 'SELL', bigint]>([
  ['a sale', 'SELL', 0n],
  ['a buy by its signature', 'BUY', 0n],
  ['a buy that was approved', 'BUY', 25n * ONE],
])('%s has enough gas although the last other order ends before it', async (_, side, approved) => {
  const { client, buy } = await setting()
  const { order: last } = await client.placeOrder(buy)
  await chain().send('alice', 'usdc', 'approve', chain().addressOf('escrow'), approved)
  const next = await setting({
    async prompt(method, act) {
      // Each total that it leaves at zero costs the next one more.
      if (method === 'eth_sendTransaction') await refundOrder(chain(), last.orderId)
      return act()
    },
  })
  const { order } = await next.client.placeOrder({ ...buy, side })
  expect(await chain().read('escrow', 'orders', order.orderId)).toContain(order.commit)
  expect(await chain().read('escrow', 'openOrders')).toBe(1n)
})

async function refused() {
  const one = await setting()
  const kept: SealedOrder[] = []
  answerAsServer(api, chain(), ({ method }) =>
    method === 'POST' ? problem(500, 'internal-error') : undefined,
  )
  const beforeOpen = (sealed: SealedOrder) => void kept.push(sealed)
  const placed = one.client.placeOrder(one.buy, { sponsored: true, beforeOpen })
  await expect(placed).rejects.toMatchObject({ code: 'internal-error' })
  answerAsServer(api, chain())
  const [order] = kept
  if (order === undefined || !isSignedOrder(order)) throw new Error('nothing was signed')
  return { ...one, order }
}

it('an order that was signed for the platform, and not opened keeps another client from signing a second one, which approves in its place', async () => {
  const { buy, order, orderStore } = await refused()
  const next = await setting({}, orderStore)
  expect(await next.client.getKeptOrders()).toMatchObject([
    { orderId: order.orderId, opening: order.opening },
  ])
  const second = next.client.placeOrder(buy, { sponsored: true })
  await expect(second).rejects.toMatchObject({ code: 'opening-outstanding' })
  await next.client.placeOrder(buy, { onStep: next.onStep })
  expect(next.steps).toEqual(['unlocking', 'signing', 'approving', 'opening', 'submitting'])
})

it('an order that was signed for the platform, and not opened is void once another wallet has its id, and expires at its last second', async () => {
  const { client, order } = await refused()
  const before = await chain().provider.send('evm_snapshot', [])
  await takeId(order)
  expect(await client.getOpeningState(order)).toBe('taken')
  await chain().provider.send('evm_revert', [before])
  await chain().mineAt(order.opening.validBefore)
  expect(await client.getOpeningState(order)).toBe('expired')
  await expect(client.openOrder(order)).rejects.toMatchObject({ code: 'OpeningExpired' })
  expect(await balance()).toBe(WALLET_USDC)
})

it('a server that does not know openings is sent none, and nothing is signed for it', async () => {
  const { client, buy } = await setting()
  expect(await client.canSponsor()).toBe(true)
  const { takesOpenings: _, ...older } = enclaveKeyOf(chain())
  answerAsServer(api, chain(), ({ path }) => (path === '/enclave-key' ? { body: older } : undefined))
  expect(await client.canSponsor()).toBe(false)
  await expect(client.placeOrder(buy, { sponsored: true })).rejects.toMatchObject({
    code: 'opening-unsupported',
  })
  expect(posted()).toEqual([])
})
