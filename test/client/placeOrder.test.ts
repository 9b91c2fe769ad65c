import { inspect } from 'node:util'
import { type JsonRpcPayload, JsonRpcProvider, type TransactionRequest, Wallet } from 'ethers'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  NotSubmittedError,
  type OrderRequest,
  type PlanOptions,
  type SealedOrder,
  type TakenId,
} from '../../src/client/index.js'
import { RECLAIM_DELAY } from '../../src/protocol/reclaimDelay.js'
import { problem } from '../support/apiStandIn.js'
import { TEST_DELAYS } from '../support/chain.js'
import { answerAsServer, clientOf, ORG_ID, receive, WALLET_USDC, walletOf } from './clientSetting.js'
import { usePlacing } from './placing.js'
import { createTestWallet } from './testWallet.js'

const { chain, api, posted, balance, sent, takeId, setting } = await usePlacing()

/** A state of the escrow's orders. */
const OPEN = 1n

/** Alice's wallet, whose transactions someone reads, and copies, on their way to the chain. */
class CopiedWallet extends Wallet {
  constructor(readonly copy: (data: string) => Promise<unknown>) {
    super(walletOf(chain(), 'alice').privateKey, chain().provider)
  }

  override async sendTransaction(transaction: TransactionRequest) {
    await this.copy(String(transaction.data))
    return super.sendTransaction(transaction)
  }
}

/** A node that says of a revert only that it was one. */
class DatalessProvider extends JsonRpcProvider {
  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]) {
    const answers = await super._send(payload)
    const error = { code: 3, message: 'execution reverted' }
    return answers.map((answer) => ('error' in answer ? { ...answer, error } : answer))
  }
}

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
  const wallet = new CopiedWallet(async () => steps.push('sent'))
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
  const prompt = <T>(method: string, act: () => Promise<T>) => {
    asked.push(method)
    return act()
  }
  const { client, buy } = await setting({ wallet: createTestWallet(chain(), { prompt }) })
  const [now, symbol] = [await chain().now(), 'AAPL']
  const lasting = { side: 'BUY', symbol, usdc: 1n } as const
  const cases: [object, PlanOptions, string][] = [
    [{ ...lasting, validFor: '1 day' }, {}, 'invalid-order'],
    [{ ...lasting, validFor: '31d' }, {}, 'invalid-order'],
    [{ ...buy, deadline: now }, {}, 'invalid-order'],
    [{ ...buy, deadline: Number.NaN }, {}, 'invalid-order'],
    [{ ...buy, deadline: now + 31 * 86_400 }, { sponsored: true }, 'invalid-order'],
    [{ ...buy, limit: { price: 1_000_001n, timeInForce: 'DAY' } }, {}, 'invalid-order'],
    [{ ...buy, limit: { price: 1_000_000, timeInForce: 'DAY' } }, {}, 'invalid-order'],
    [{ ...buy, usdc: 2n ** 256n }, {}, 'invalid-order'],
    [{ ...buy, usdc: 5 }, {}, 'invalid-order'],
    [{ ...buy, usdc: '5000000' }, {}, 'invalid-order'],
    [{ side: 'DEPOSIT', symbol, shares: 5 }, {}, 'invalid-order'],
    [buy, { approve: 2n ** 256n }, 'invalid-order'],
    [{ ...buy, symbol: 'NOPE' }, {}, 'unlisted-symbol'],
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
  expect(asked).toEqual([])
})

it('placing an order keeps nonces in the order of opening when several are placed at once', async () => {
  const { client, sale } = await setting()
  const placed = await Promise.all([1, 2, 3, 4].map(() => client.placeOrder(sale)))
  const byBlock = placed.sort((a, b) => a.opened.blockNumber - b.opened.blockNumber)
  const nonces = byBlock.map(({ order }) => order.intent.nonce)
  expect(nonces).toEqual([...new Set(nonces)].sort((a, b) => a - b))
})

it('an orderId that is taken is tried again for as long as it takes, and each time says who is in the way', async () => {
  const { client, sale } = await setting()
  const taken: TakenId[] = []
  const seen: SealedOrder[] = []
  const TIMES = 6
  const { order } = await client.placeOrder(sale, {
    async beforeOpen(sealed) {
      seen.push(sealed)
      if (seen.length <= TIMES) await takeId(sealed)
    },
    onIdTaken: (one) => taken.push(one),
  })
  const by = chain().account('bob')
  expect(taken).toEqual(seen.slice(0, TIMES).map(({ orderId }, index) => ({ orderId, by, times: index + 1 })))
  expect(order).toBe(seen[TIMES])
  expect(posted()).toHaveLength(1)
})

it('an orderId that is taken is replaced behind a node that gives no data of a revert', async () => {
  const { chainId, rpcUrl } = chain().anvil
  const provider = new DatalessProvider(rpcUrl, chainId, { staticNetwork: true })
  onTestFinished(() => provider.destroy())
  const { client, sale } = await setting({ wallet: walletOf(chain(), 'alice', provider) })
  const taken: TakenId[] = []
  await client.placeOrder(sale, {
    beforeOpen: async (sealed) => (taken.length === 0 ? takeId(sealed) : undefined),
    onIdTaken: (one) => taken.push(one),
  })
  expect(taken.map(({ by }) => by)).toEqual([chain().account('bob')])
})

it('an orderId that is taken is not tried again once its signal aborts', async () => {
  const { client, sale } = await setting()
  const stop = new AbortController()
  let times = 0
  const placing = client.placeOrder(sale, {
    signal: stop.signal,
    beforeOpen: takeId,
    onIdTaken(taken) {
      times = taken.times
      if (times === 3) stop.abort(new Error('enough'))
    },
  })
  await expect(placing).rejects.toThrow('enough')
  expect(times).toBe(3)
  expect(posted()).toHaveLength(0)
})

it('an orderId that is taken is found too when someone else’s transaction came first in the block', async () => {
  const before = await sent()
  const [from, to] = [chain().account('bob'), chain().addressOf('escrow')]
  let copies = 0
  const wallet = new CopiedWallet(async (data) => {
    if (copies++ === 0) await chain().provider.send('eth_sendTransaction', [{ from, to, data }])
  })
  const { client, sale } = await setting({ wallet })
  const { order } = await client.placeOrder(sale)
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
  answerAsServer(api, chain(), ({ method }) =>
    method === 'POST' ? problem(500, 'internal-error') : undefined,
  )
  const kept: SealedOrder[] = []
  const onUnfinished = vi.fn()
  const failure: unknown = await client
    .placeOrder(buy, { beforeOpen: (order) => void kept.push(order), onUnfinished })
    .catch((error: unknown) => error)
  const cause = { code: 'internal-error' }
  expect(failure).toMatchObject({ name: 'NotSubmittedError', retryable: false, cause })
  if (!(failure instanceof NotSubmittedError)) throw failure
  api.answerWith(({ body }) => receive(body))
  const { order } = failure
  expect(onUnfinished.mock.calls).toEqual([[{ orderId: order.orderId, state: 'open' }]])
  expect(await client.submitOrder(order)).toMatchObject({ commit: order.commit })
  // The wallet has used its signed opening: the server is asked to open nothing.
  expect(kept).toMatchObject([{ orderId: order.orderId, opening: { amount: buy.usdc } }])
  expect(posted().at(-1)?.body).toEqual({ orderId: order.orderId, ...order.envelope })
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
