import { type JsonRpcPayload, JsonRpcProvider, type TransactionRequest, Wallet } from 'ethers'
import { expect, it, onTestFinished } from 'vitest'
import {
  type Client,
  NotSubmittedError,
  type OrderRequest,
  type SealedOrder,
  type TakenId,
} from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { RECLAIM_DELAY } from '../../src/protocol/reclaimDelay.js'
import { problem, useApi } from '../support/apiStandIn.js'
import { TEST_DELAYS, type TestChain, useChain } from '../support/chain.js'
import type { Role } from '../support/roles.js'
import {
  answerAsServer,
  clearForTrading,
  clientOf,
  ORG_ID,
  receive,
  WALLET_USDC,
  walletOf,
} from './clientSetting.js'

const chain = useChain(clearForTrading)
const ONE = 1_000_000n
const api = await useApi()

async function setting(role: Role = 'alice'): Promise<{ client: Client; deadline: number }> {
  answerAsServer(api, chain())
  return { client: clientOf(chain(), api, role), deadline: (await chain().now()) + 3_600 }
}

/** An order as the escrow has it; state 1 is OPEN. */
async function orderOnChain(orderId: Hex) {
  const order = await chain().read('escrow', 'orders', orderId)
  if (!Array.isArray(order)) throw new Error('orders() answers a list')
  const [account, amount, deadline, commit, orgId, state] = order
  return { account, amount, deadline, commit, orgId, state }
}
const balance = (role: Role) => chain().read('usdc', 'balanceOf', chain().account(role))
const allowance = (role: Role) =>
  chain().read('usdc', 'allowance', chain().account(role), chain().addressOf('escrow'))
const sentBy = (role: Role) => chain().provider.getTransactionCount(chain().account(role))
const posted = () => api.requests.filter(({ method }) => method === 'POST')

it('placing an order signs exactly what a buy escrows, opens it by one transaction, then posts it', async () => {
  const { client, deadline } = await setting()
  const before = await sentBy('alice')
  const request: OrderRequest = { side: 'BUY', symbol: 'AAPL', maxSpend: 25n * ONE, deadline }
  const { order, opened, received } = await client.placeOrder(request)
  const { orderId, commit } = order
  expect(await orderOnChain(orderId)).toEqual({
    account: chain().account('alice'),
    amount: 25n * ONE,
    deadline: BigInt(deadline),
    commit,
    orgId: ORG_ID,
    state: 1n,
  })
  expect(await balance('alice')).toBe(WALLET_USDC - 25n * ONE)
  expect(await allowance('alice')).toBe(0n)
  expect((await sentBy('alice')) - before).toBe(1)
  expect((await chain().provider.getTransactionReceipt(opened.txHash))?.blockNumber).toBe(opened.blockNumber)
  expect(received).toMatchObject({ orderId, commit })
  expect(posted().map(({ path, body }) => ({ path, body }))).toEqual([
    { path: '/orders', body: { orderId, ...order.envelope } },
  ])
  expect(order.intent.orgId).toBe(ORG_ID)
})

it.each<[Omit<OrderRequest, 'deadline'>, string[]]>([
  [
    { side: 'BUY', symbol: 'AAPL', maxSpend: ONE },
    ['authorizing', 'sealed', 'opening', 'sent', 'submitting', 'posted'],
  ],
  [{ side: 'SELL', symbol: 'AAPL', maxSpend: ONE }, ['sealed', 'opening', 'sent', 'submitting', 'posted']],
])('placing an order tells each step of %o as it begins', async (request, expected) => {
  const { deadline } = await setting()
  const steps: string[] = []
  answerAsServer(api, chain(), ({ method }) => {
    if (method === 'POST') steps.push('posted')
    return undefined
  })
  const signer = new CopiedWallet(chain(), async () => void steps.push('sent'))
  await clientOf(chain(), api, 'alice', { wallet: signer }).placeOrder(
    { ...request, deadline },
    { beforeOpen: () => void steps.push('sealed'), onStep: (step) => steps.push(step) },
  )
  expect(steps).toEqual(expected)
})

it('placing an order keeps nonces in the order of opening when several are placed at once', async () => {
  const { client, deadline } = await setting()
  const request: OrderRequest = { side: 'SELL', symbol: 'AAPL', maxSpend: ONE, deadline }
  const placed = await Promise.all([1, 2, 3, 4].map(() => client.placeOrder(request)))
  const byBlock = placed.sort((a, b) => a.opened.blockNumber - b.opened.blockNumber)
  const nonces = byBlock.map(({ order }) => order.intent.nonce)
  expect(nonces).toEqual([...new Set(nonces)].sort((a, b) => a - b))
})

/** A node that says of a revert only that it was one. */
class DatalessProvider extends JsonRpcProvider {
  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]) {
    const answers = await super._send(payload)
    const error = { code: 3, message: 'execution reverted' }
    return answers.map((answer) => ('error' in answer ? { ...answer, error } : answer))
  }
}

/** Bob opens an order whose id has the same first 16 bytes. */
const takeId = (deadline: number) => async (order: SealedOrder) => {
  const other = `${order.orderId.slice(0, 34)}${'00'.repeat(16)}`
  await chain().send('bob', 'escrow', 'openRequest', other, order.commit, deadline)
}

it('an orderId that is taken is tried again for as long as it takes, and each time says who is in the way', async () => {
  const { client, deadline } = await setting()
  const taken: TakenId[] = []
  const seen: SealedOrder[] = []
  const TIMES = 6
  const { order } = await client.placeOrder(
    { side: 'SELL', symbol: 'AAPL', maxSpend: ONE, deadline },
    {
      async beforeOpen(sealed) {
        seen.push(sealed)
        if (seen.length <= TIMES) await takeId(deadline)(sealed)
      },
      onIdTaken: (one) => taken.push(one),
    },
  )
  const by = chain().account('bob')
  expect(taken).toEqual(seen.slice(0, TIMES).map(({ orderId }, index) => ({ orderId, by, times: index + 1 })))
  expect(order).toBe(seen[TIMES])
  expect(posted()).toHaveLength(1)
})

it('an orderId that is taken is replaced behind a node that gives no data of a revert', async () => {
  const { deadline } = await setting()
  const { chainId, rpcUrl } = chain().anvil
  const provider = new DatalessProvider(rpcUrl, chainId, { staticNetwork: true })
  onTestFinished(() => provider.destroy())
  const client = clientOf(chain(), api, 'alice', { wallet: walletOf(chain(), 'alice', provider) })
  const taken: TakenId[] = []
  await client.placeOrder(
    { side: 'SELL', symbol: 'AAPL', maxSpend: ONE, deadline },
    {
      async beforeOpen(sealed) {
        if (taken.length === 0) await takeId(deadline)(sealed)
      },
      onIdTaken: (one) => taken.push(one),
    },
  )
  expect(taken.map(({ by }) => by)).toEqual([chain().account('bob')])
})

it('an orderId that is taken is not tried again once its signal aborts', async () => {
  const { client, deadline } = await setting()
  const stop = new AbortController()
  let times = 0
  const placing = client.placeOrder(
    { side: 'SELL', symbol: 'AAPL', maxSpend: ONE, deadline },
    {
      signal: stop.signal,
      beforeOpen: takeId(deadline),
      onIdTaken(taken) {
        times = taken.times
        if (times === 3) stop.abort(new Error('enough'))
      },
    },
  )
  await expect(placing).rejects.toThrow('enough')
  expect(times).toBe(3)
  expect(posted()).toHaveLength(0)
})

it('an orderId that is taken is found too when someone else’s transaction came first in the block', async () => {
  const { deadline } = await setting()
  const before = await sentBy('alice')
  let copied = false
  const signer = new CopiedWallet(chain(), async (data) => {
    if (copied) return
    copied = true
    await chain().provider.send('eth_sendTransaction', [
      { from: chain().account('bob'), to: chain().addressOf('escrow'), data },
    ])
  })
  const client = clientOf(chain(), api, 'alice', { wallet: signer })
  const request: OrderRequest = { side: 'SELL', symbol: 'AAPL', maxSpend: ONE, deadline }
  const { order } = await client.placeOrder(request)
  expect(copied).toBe(true)
  expect(await orderOnChain(order.orderId)).toMatchObject({ account: chain().account('alice'), state: 1n })
  // One that reverted in its block, one that opened.
  expect((await sentBy('alice')) - before).toBe(2)
})

/** Alice's wallet, whose transactions someone reads, and copies, on their way to the chain. */
class CopiedWallet extends Wallet {
  constructor(
    on: TestChain,
    readonly copy: (data: string) => Promise<void>,
  ) {
    super(walletOf(on, 'alice').privateKey, on.provider)
  }

  override async sendTransaction(transaction: TransactionRequest) {
    await this.copy(String(transaction.data))
    return super.sendTransaction(transaction)
  }
}

it('refusals of contracts behind the escrow have their names', async () => {
  const { client, deadline } = await setting()
  const request: OrderRequest = { side: 'SELL', symbol: 'AAPL', maxSpend: ONE, deadline }
  await chain().send('guardian', 'authority', 'pause')
  const until = (await chain().now()) + TEST_DELAYS.pause
  await expect(client.placeOrder(request)).rejects.toMatchObject({
    name: 'ContractError',
    code: 'PlatformPaused',
    args: { until: String(until) },
  })
  await chain().send('owner', 'authority', 'liftPause')
  await chain().send('owner', 'registry', 'setAdmitted', ORG_ID, chain().account('admin'), false)
  await expect(client.placeOrder({ ...request, side: 'BUY' })).rejects.toMatchObject({
    code: 'NotAdmitted',
    args: { orgId: ORG_ID },
  })
  await client.placeOrder(request)
})

it('refusals of a server keep the order, which can be submitted again', async () => {
  const { client, deadline } = await setting()
  answerAsServer(api, chain(), ({ method }) =>
    method === 'POST' ? problem(500, 'internal-error') : undefined,
  )
  const request: OrderRequest = { side: 'BUY', symbol: 'AAPL', maxSpend: ONE, deadline }
  const kept: SealedOrder[] = []
  const failure: unknown = await client
    .placeOrder(request, { beforeOpen: (order) => void kept.push(order) })
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: 'NotSubmittedError', cause: { code: 'internal-error' } })
  if (!(failure instanceof NotSubmittedError)) throw failure
  api.answerWith(({ body }) => receive(body))
  const { order } = failure
  expect(await client.submitOrder(order)).toMatchObject({ commit: order.commit })
  // The wallet has used its signed opening: the server is asked to open nothing.
  expect(kept).toMatchObject([{ orderId: order.orderId, opening: { amount: ONE } }])
  expect(posted().at(-1)?.body).toEqual({ orderId: order.orderId, ...order.envelope })
})

it('reclaiming needs no server when the escrow is pinned, and neither does reading the portfolio', async () => {
  const { client, deadline } = await setting()
  const { order } = await client.placeOrder({ side: 'BUY', symbol: 'AAPL', maxSpend: ONE, deadline })
  await chain().mineAt(deadline + RECLAIM_DELAY)
  const serverUrl = 'http://127.0.0.1:9'
  const alone = clientOf(chain(), api, 'alice', {
    serverUrl,
    pins: { escrow: chain().addressOf('escrow') },
  })
  await alone.reclaimOrder(order.orderId)
  expect(await balance('alice')).toBe(WALLET_USDC)
  expect(await alone.getPortfolio()).toBeNull()
  const unpinned = clientOf(chain(), api, 'alice', { serverUrl })
  await expect(unpinned.reclaimOrder(order.orderId)).rejects.toMatchObject({ code: 'server-unreachable' })
})
