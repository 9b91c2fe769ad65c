// Orders that the wallet opens at its own cost: by a signature, in a batch, or after an approval.
import { JsonRpcProvider, makeError, type TransactionRequest, toQuantity, Wallet } from 'ethers'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import {
  createMemoryOrderStore,
  isSignedOrder,
  type PlaceStep,
  type SealedOrder,
} from '../../src/client/index.js'
import { problem } from '../support/apiStandIn.js'
import { openingCall } from '../support/openings.js'
import { refundOrder } from '../support/orderEnds.js'
import { answerAsServer, enclaveKeyOf, WALLET_USDC, walletOf } from './clientSetting.js'
import { ONE, usePlacing } from './placing.js'

const { chain, api, posted, balance, sent, takeId, setting: placing } = await usePlacing()
/** The code of an account that delegates to the zero address (EIP-7702). */
const DELEGATED = `0xef0100${'00'.repeat(19)}01`
const callsSchema = z.array(
  z.object({
    from: z.string(),
    atomicRequired: z.literal(true),
    calls: z.array(z.object({ to: z.string(), data: z.string(), value: z.literal('0x0') })),
  }),
)

type Atomic = 'supported' | 'ready' | 'unsupported'
/** The wallet's reaction to a batch: it sends it, its user declines, or its transaction reverts. */
type Answer = 'mined' | 'declined' | 'reverted'

/** A wallet that offers batches as it says, and sends each as one transaction after another. */
class BatchingProvider extends JsonRpcProvider {
  batches = 0

  constructor(
    readonly atomic: Atomic,
    readonly answer: Answer,
  ) {
    const { chainId, rpcUrl } = chain().anvil
    super(rpcUrl, chainId, { staticNetwork: true, cacheTimeout: -1 })
    onTestFinished(() => this.destroy())
  }

  override async send(method: string, params: unknown[]): Promise<unknown> {
    if (method === 'wallet_getCapabilities') {
      return { [toQuantity(chain().anvil.chainId)]: { atomic: { status: this.atomic } } }
    }
    if (method === 'wallet_sendCalls') return this.sendCalls(params)
    if (method === 'wallet_getCallsStatus') return this.status(String(params[0]))
    return super.send(method, params)
  }

  private async sendCalls(params: unknown[]) {
    if (this.answer === 'declined') {
      throw makeError('no', 'ACTION_REJECTED', { action: 'unknown', reason: 'rejected' })
    }
    this.batches++
    const [batch] = callsSchema.parse(params)
    if (this.answer === 'reverted') return { id: 'reverted' }
    let last = ''
    for (const { to, data } of batch?.calls ?? []) {
      last = (await walletOf(chain(), 'alice').sendTransaction({ to, data })).hash
      await waitForReceipt(chain().provider, last)
    }
    return { id: last }
  }

  private async status(id: string) {
    if (id === 'reverted') return { status: 500 }
    const blockNumber = toQuantity((await this.getTransactionReceipt(id))?.blockNumber ?? 0)
    return { status: 200, receipts: [{ transactionHash: id, blockNumber }] }
  }
}

async function setting(
  atomic: Atomic = 'unsupported',
  answer: Answer = 'mined',
  orderStore = createMemoryOrderStore(),
) {
  const provider = new BatchingProvider(atomic, answer)
  const wallet = new Wallet(walletOf(chain(), 'alice').privateKey, provider)
  const steps: PlaceStep[] = []
  const onStep = (step: PlaceStep) => void steps.push(step)
  return { ...(await placing({ wallet, orderStore })), provider, steps, onStep, orderStore }
}

it('a buy at the wallet’s own cost is one batch where the wallet offers it, without a signature of the opening', async () => {
  const { client, provider, buy, steps, onStep } = await setting('supported')
  const { order, opened } = await client.placeOrder(buy, { onStep })
  expect([provider.batches, steps]).toEqual([1, ['opening', 'submitting']])
  expect(order.opening).toBeUndefined()
  expect(await chain().read('escrow', 'orders', order.orderId)).toContain(order.commit)
  expect((await provider.getTransactionReceipt(opened.txHash))?.blockNumber).toBe(opened.blockNumber)
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it.each(['ready', 'unsupported'] as const)(
  'a buy at the wallet’s own cost is no batch where that is only %s',
  async (atomic) => {
    const { client, provider, buy, steps, onStep } = await setting(atomic)
    await client.placeOrder(buy, { onStep })
    expect([provider.batches, steps]).toEqual([0, ['authorizing', 'opening', 'submitting']])
  },
)

it.each([
  ['declined', { code: 'transaction-refused' }],
  ['reverted', { name: 'ContractError', method: 'openBuy', code: 'unknown' }],
] as const)('a buy at the wallet’s own cost in a batch that is %s is not open', async (answer, failure) => {
  const { client, buy } = await setting('supported', answer)
  await expect(client.placeOrder(buy)).rejects.toMatchObject(failure)
  expect(posted()).toEqual([])
  expect(await balance()).toBe(WALLET_USDC)
})

it('a buy at the wallet’s own cost is approved by a transaction for an account with code, whose signature USDC may refuse', async () => {
  const { client, buy, steps, onStep } = await setting()
  await chain().provider.send('anvil_setCode', [chain().account('alice'), DELEGATED])
  await client.placeOrder(buy, { onStep })
  expect(steps).toEqual(['approving', 'opening', 'submitting'])
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

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

/** Alice's wallet, before whose transactions her other order ends: each total that it leaves at zero costs the next one more. */
class LateWallet extends Wallet {
  constructor(readonly last: SealedOrder) {
    super(walletOf(chain(), 'alice').privateKey, chain().provider)
  }

  override async sendTransaction(transaction: TransactionRequest) {
    await refundOrder(chain(), this.last.orderId)
    return super.sendTransaction(transaction)
  }
}

it.each<[string, 'BUY' | 'SELL', bigint]>([
  ['a sale', 'SELL', 0n],
  ['a buy by its signature', 'BUY', 0n],
  ['a buy that was approved', 'BUY', 25n * ONE],
])('%s has enough gas although the last other order ends before it', async (_, side, approved) => {
  const { client, buy } = await setting()
  const { order: last } = await client.placeOrder(buy)
  await chain().send('alice', 'usdc', 'approve', chain().addressOf('escrow'), approved)
  const next = await placing({ wallet: new LateWallet(last) })
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
  const next = await setting('unsupported', 'mined', orderStore)
  expect(await next.client.getKeptOrders()).toMatchObject([
    { orderId: order.orderId, opening: order.opening },
  ])
  const second = next.client.placeOrder(buy, { sponsored: true })
  await expect(second).rejects.toMatchObject({ code: 'opening-outstanding' })
  await next.client.placeOrder(buy, { onStep: next.onStep })
  expect(next.steps).toEqual(['approving', 'opening', 'submitting'])
})

it('an order that was signed for the platform, and not opened has expired at its last second, and is opened no more', async () => {
  const { client, order } = await refused()
  await chain().mineAt(order.opening.validBefore)
  expect(await client.getOpeningState(order)).toBe('expired')
  await expect(client.openOrder(order)).rejects.toMatchObject({ code: 'OpeningExpired' })
  expect(await balance()).toBe(WALLET_USDC)
})

it('an order that was signed for the platform, and not opened is void once another wallet has its id', async () => {
  const { client, order } = await refused()
  await takeId(order)
  expect(await client.getOpeningState(order)).toBe('taken')
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
