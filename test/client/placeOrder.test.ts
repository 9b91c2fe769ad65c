import { inspect } from 'node:util'
import { expect, it, vi } from 'vitest'
import {
  type Eip1193Provider,
  NotSubmittedError,
  type OrderRequest,
  type PlanOptions,
  type SealedOrder,
  type TakenId,
} from '../../src/client/index.js'
import { RECLAIM_DELAY } from '../../src/protocol/reclaimDelay.js'
import { problem } from '../support/apiStandIn.js'
import { TEST_DELAYS } from '../support/chain.js'
import { answerAsServer, clientOf, ORG_ID, WALLET_USDC } from './clientSetting.js'
import { usePlacing } from './placing.js'
import { createTestWallet } from './testWallet.js'

const { chain, api, posted, balance, sent, takeId, setting } = await usePlacing()

/** A state of the escrow's orders. */
const OPEN = 1n

it('placing an order signs exactly what a buy escrows, opens it by one transaction, then posts it', async () => {
  const { client, buy } = await setting()
  const before = await sent()
  const { order, opened, received } = await client.placeOrder(buy)
  const { orderId, commit } = order
  const [account, amount, deadline] = [chain().account('alice'), buy.usdc, BigInt(buy.deadline)]
  const stored = await chain().read('escrow', 'orders', orderId)
  expect(stored).toEqual(expect.arrayContaining([account, amount, deadline, commit, ORG_ID, OPEN]))
  expect(await balance()).toBe(WALLET_USDC - buy.usdc)
  expect(await chain().read('usdc', 'allowance', account, chain().addressOf('escrow'))).toBe(0n)
  expect((await sent()) - before).toBe(1)
  expect((await chain().provider.getTransactionReceipt(opened.txHash))?.blockNumber).toBe(opened.blockNumber)
  expect(received).toMatchObject({ orderId, commit })
  expect(posted()).toMatchObject([{ path: '/orders', body: { orderId, ...order.envelope } }])
  expect(posted()[0]?.body).not.toHaveProperty('opening')
  expect(order.intent.orgId).toBe(ORG_ID)
})

it.each([
  ['buy', ['unlocking', 'signing', 'authorizing', 'sealed', 'opening', 'sent', 'submitting', 'posted']],
  ['sale', ['unlocking', 'signing', 'sealed', 'opening', 'sent', 'submitting', 'posted']],
] as const)('placing an order tells each step of a %s as it begins', async (which, expected) => {
  const steps: string[] = []
  const wallet = createTestWallet(chain(), {
    prompt(method, act) {
      if (method === 'eth_sendTransaction') steps.push('sent')
      return act()
    },
  })
  const { client, [which]: request } = await setting({ wallet })
  answerAsServer(api, chain(), ({ method }) => {
    if (method === 'POST') steps.push('posted')
    return undefined
  })
  const beforeOpen = () => void steps.push('sealed')
  await client.placeOrder(request, { beforeOpen, onStep: (step) => steps.push(step) })
  expect(steps).toEqual(expected)
})

it('a plan and its order fail alike, before the wallet is asked for anything', async () => {
  const asked: string[] = []
  const { client, buy } = await setting({ wallet: createTestWallet(chain(), { asked }) })
  const [now, symbol] = [await chain().now(), 'AAPL']
  const lasting = { side: 'BUY', symbol, usdc: 1n } as const
  const invalid: object[] = [
    { ...lasting, validFor: '1 day' },
    { ...lasting, validFor: '31d' },
    { ...buy, deadline: now },
    { ...buy, deadline: Number.NaN },
    { ...buy, limit: { price: 1_000_001n, timeInForce: 'DAY' } },
    { ...buy, limit: { price: 1_000_000, timeInForce: 'DAY' } },
    { ...buy, usdc: 2n ** 256n },
    { ...buy, usdc: 5 },
    { ...buy, usdc: '5000000' },
    { side: 'DEPOSIT', symbol, shares: 5 },
    { ...buy, usdc: 0n },
    { ...buy, usdc: -1n },
    { ...buy, symbol: 'aapl' },
    { ...buy, symbol: 'USDC' },
    { ...buy, side: 'SELL', symbol: 'USDC' },
    { ...buy, side: 'WITHDRAW', symbol: 'USDC', shares: 1n },
    { ...buy, shares: 1n },
    { ...buy, side: 'WITHDRAW' },
    { ...buy, side: 'DEPOSIT', symbol: 'USDC', payFrom: 'cash' },
    { ...buy, deadline: now + 1.5 },
    { ...buy, validFor: '1d' },
    { ...lasting, validFor: '0h' },
    { side: 'WITHDRAW', usdc: 1n, limit: { price: 1_000_000n, timeInForce: 'DAY' } },
  ]
  const cases: [object, PlanOptions, string][] = [
    ...invalid.map((given): [object, PlanOptions, string] => [given, {}, 'invalid-order']),
    [{ ...buy, deadline: now + 31 * 86_400 }, { sponsored: true }, 'invalid-order'],
    [buy, { approve: 2n ** 256n }, 'invalid-order'],
    [{ ...buy, symbol: 'NOPE' }, {}, 'unlisted-symbol'],
    [{ ...buy, symbol: 'NOPE' }, { sponsored: true }, 'unlisted-symbol'],
    [{ ...buy, side: 'SELL', symbol: 'NOPE' }, {}, 'unlisted-symbol'],
    [{ side: 'DEPOSIT', symbol: 'NOPE', shares: 5n }, {}, 'unlisted-symbol'],
    [{ ...buy, usdc: WALLET_USDC + 1n }, {}, 'insufficient-usdc'],
    [{ ...buy, usdc: WALLET_USDC + 1n }, { sponsored: true }, 'insufficient-usdc'],
    [{ side: 'DEPOSIT', symbol, shares: 5n }, { sponsored: true }, 'opening-unsupported'],
  ]
  for (const [given, options, code] of cases) {
    const request = given as OrderRequest
    for (const attempt of [client.plan(request, options), client.placeOrder(request, options)]) {
      await expect(attempt, inspect(given)).rejects.toMatchObject({ code })
    }
  }
  expect([asked, posted()]).toEqual([[], []])
})

it('placing an order keeps nonces in the order of opening when several are placed at once', async () => {
  const { client, sale } = await setting()
  const placed = await Promise.all([1, 2, 3, 4].map(() => client.placeOrder(sale)))
  const byBlock = placed.sort((a, b) => a.opened.blockNumber - b.opened.blockNumber)
  const nonces = byBlock.map(({ order }) => order.intent.nonce)
  expect(nonces).toEqual([...new Set(nonces)].sort((a, b) => a - b))
})

it.each([
  ['for as long as it takes, and each time says who is in the way', 6, undefined],
  ['behind a node that gives no data of a revert', 1, { code: 3, message: 'execution reverted' }],
])('an orderId that is taken is tried again %s', async (_how, times, failure) => {
  const wallet = createTestWallet(chain())
  const request: Eip1193Provider['request'] = (asked) =>
    wallet.request(asked).catch((error: unknown) => Promise.reject(failure ?? error))
  const { client, sale } = await setting({ wallet: { request } })
  const taken: TakenId[] = []
  const seen: SealedOrder[] = []
  const { order } = await client.placeOrder(sale, {
    async beforeOpen(sealed) {
      seen.push(sealed)
      if (seen.length <= times) await takeId(sealed)
    },
    onIdTaken: (one) => taken.push(one),
  })
  const by = chain().account('bob')
  expect(taken).toEqual(seen.slice(0, times).map(({ orderId }, index) => ({ orderId, by, times: index + 1 })))
  expect(order).toBe(seen[times])
  expect(posted()).toHaveLength(1)
})

it('an orderId that is taken is found too when someone else’s transaction came first in the block', async () => {
  const before = await sent()
  const seen: SealedOrder[] = []
  const wallet = createTestWallet(chain(), {
    async prompt(method, act) {
      const [first, ...others] = seen
      if (method === 'eth_sendTransaction' && first && others.length === 0) await takeId(first)
      return act()
    },
  })
  const { client, sale } = await setting({ wallet })
  const { order } = await client.placeOrder(sale, { beforeOpen: (sealed) => void seen.push(sealed) })
  expect(await chain().read('escrow', 'orders', order.orderId)).toContain(chain().account('alice'))
  // One that reverted in its block, one that opened.
  expect((await sent()) - before).toBe(2)
})

it('refusals of contracts behind the escrow have their names', async () => {
  const { client, buy, sale } = await setting()
  await chain().send('guardian', 'authority', 'pause')
  const until = (await chain().now()) + TEST_DELAYS.pause
  await expect(client.placeOrder(sale)).rejects.toMatchObject({
    ...{ name: 'ContractError', code: 'PlatformPaused', args: { until: String(until) } },
  })
  await chain().send('owner', 'authority', 'liftPause')
  await chain().send('owner', 'registry', 'setAdmitted', ORG_ID, chain().account('admin'), false)
  const refused = { code: 'NotAdmitted', args: { orgId: ORG_ID } }
  await expect(client.placeOrder(buy)).rejects.toMatchObject(refused)
  await client.placeOrder(sale)
})

it('refusals of a server keep the order, which can be submitted again', async () => {
  const { client, buy } = await setting()
  const refusal = problem(500, 'internal-error')
  answerAsServer(api, chain(), ({ method }) => (method === 'POST' ? refusal : undefined))
  const onUnfinished = vi.fn()
  const failure: unknown = await client.placeOrder(buy, { onUnfinished }).catch((error: unknown) => error)
  const cause = { code: 'internal-error' }
  expect(failure).toMatchObject({ name: 'NotSubmittedError', retryable: false, cause })
  if (!(failure instanceof NotSubmittedError)) throw failure
  const { order } = failure
  expect(onUnfinished.mock.calls).toEqual([[{ orderId: order.orderId, state: 'open' }]])
  answerAsServer(api, chain())
  await client.submitOrder(order)
  // The wallet has used its signed opening: the server is asked to open nothing.
  expect(posted()[0]?.body).toEqual({ orderId: order.orderId, ...order.envelope })
})

it('reclaiming needs no server when the escrow is pinned, and neither does reading the portfolio', async () => {
  const { client, buy } = await setting()
  const { order } = await client.placeOrder(buy)
  await chain().mineAt(buy.deadline + RECLAIM_DELAY)
  const serverUrl = 'http://127.0.0.1:9'
  const pins = { escrow: chain().addressOf('escrow') }
  const alone = clientOf(chain(), api, 'alice', { serverUrl, pins })
  await alone.reclaimOrder(order.orderId)
  expect(await balance()).toBe(WALLET_USDC)
  expect(await alone.getPortfolio()).toBeNull()
  const unpinned = clientOf(chain(), api, 'alice', { serverUrl })
  await expect(unpinned.reclaimOrder(order.orderId)).rejects.toMatchObject({ code: 'server-unreachable' })
})
