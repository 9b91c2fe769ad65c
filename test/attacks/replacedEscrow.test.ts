// Actor: a cleared employee who can cause a reorganization of a few blocks, or only waits for one.
// Cost: the gas of two transactions, and one base unit of USDC.
// Effect: the broker filled her buy of 5,000 USDC. A reorganization put an order of one base unit under the same id, and included the
// relayer's transactions again, as a real pool does. The settlement named neither account nor amount, so it credited the whole fill. An
// opening that was only delayed read as an ended order, and the enclave dropped a buy that the broker had filled.
// Now: every authorization names the order, its account, asset, amount and commit, and the portfolio's history; the contracts refuse it when
// one of them differs. An order that the escrow does not know is never an ended one. The enclave acts at a stated depth.
import { expect, it } from 'vitest'
import { encodeAuthorizationCall, targetOf } from '../../src/chain/authorizationCall.js'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import type { SignedAuthorization } from '../../src/protocol/authorization.js'
import { commitOf } from '../../src/protocol/envelope.js'
import { buy, sell } from '../enclave/support/scenarios.js'
import { useWorld, WALLET } from '../enclave/support/world.js'
import { usd } from '../support/brokerStandIn.js'

const world = useWorld()
const chain = () => world().chain
const height = () => chain().provider.getBlockNumber()

/** Takes back every block from this one on. */
async function reorganize(from: number): Promise<void> {
  await chain().provider.send('anvil_reorg', [(await height()) - from, []])
}

/** Sends what the relayer had sent before, as its node's pool does after a reorganization. */
async function includeAgain(authorization: SignedAuthorization) {
  const to = targetOf(authorization.primaryType, chain().addresses)
  const data = encodeAuthorizationCall(authorization)
  const from = chain().account('relayer')
  const hash: unknown = await chain().provider.send('eth_sendTransaction', [
    { from, to, data, gas: '0xf4240' },
  ])
  return waitForReceipt(chain().provider, String(hash))
}

/** A buy of 5,000 USDC that the broker has filled and the chain has not settled. */
async function filledBuy() {
  const before = await height()
  const order = await world().live(buy(5_000))
  world().broker.control.release({})
  world().broker.control.fill({ mode: 'immediate' })
  const [writeAhead] = world().relay.posted
  if (!writeAhead) throw new Error('nothing was written ahead')
  return { before, order, writeAhead }
}

it('a fill of 5,000 USDC is not settled for an escrow of one base unit', async () => {
  const { before, order, writeAhead } = await filledBuy()
  await reorganize(before)
  const cheap = await world().open({ ...buy(5_000), escrow: 1n, orderId: order.orderId })
  expect((await includeAgain(writeAhead))?.status).toBe(0)

  expect(await world().run(cheap)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  expect(await world().run(order)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  expect(await world().state(cheap)).toBe('OPEN')
  expect(await world().portfolio('alice')).toBeNull()
  expect(await world().usdc('alice')).toBe(WALLET - 1n)
})

it('an order that is still live at the broker is cancelled', async () => {
  const before = await height()
  const order = await world().live(buy(5_000))
  await reorganize(before)
  const cheap = await world().open({ ...buy(5_000), escrow: 1n, orderId: order.orderId })
  expect(await world().run(cheap)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  expect(
    world()
      .broker.control.orders()
      .map(({ status }) => status),
  ).toEqual(['canceled'])
})

it('an opening that comes again later is settled with its fill, and dropped at no time', async () => {
  const { before, order, writeAhead } = await filledBuy()
  await reorganize(before)
  // The operator has to know: if nothing opens it again, the platform has traded for itself.
  expect(await world().run(order)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  const { message } = writeAhead
  if (!('commit' in message)) throw new Error('not a write-ahead')
  await chain().send('alice', 'escrow', 'openBuy', order.orderId, message.commit, usd(5_000), order.deadline)

  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  expect(world().broker.control.orders()).toHaveLength(1)
  expect((await world().portfolio('alice'))?.positions.AAPL?.qty).toBeGreaterThan(0n)
  await world().checkInvariants()
})

it('an opening that is taken back before anything was done for it holds nothing, and runs once it comes again', async () => {
  const before = await height()
  const order = await world().open(buy(250))
  await reorganize(before)
  expect(await world().run(order)).toEqual({ outcome: 'failed', code: 'order-unknown' })
  expect(await world().usdc('alice')).toBe(WALLET)
  expect(world().relay.posted).toEqual([])
  const commit = commitOf(order.envelope)
  await chain().send('alice', 'escrow', 'openBuy', order.orderId, commit, usd(250), order.deadline)
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  await world().checkInvariants()
})

it('a withdrawal in the place of a filled sale pays nothing out', async () => {
  await world().settled(buy(1_000))
  await world().reconcile()
  const all = (await world().portfolio('alice'))?.positions.AAPL?.qty ?? 0n
  const before = await height()
  const sale = await world().live(sell(800))
  world().broker.control.release({})
  await reorganize(before)
  const wish = { who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: all } as const
  const withdrawal = await world().open({ ...wish, orderId: sale.orderId })
  expect(await world().run(withdrawal)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  expect(await world().tokens('alice', 'AAPL')).toBe(0n)
})

it('an order that is given up is refunded only once its mark lies at the stated depth', async () => {
  const deps = { depth: 3 } as const
  const order = await world().open(buy(250))
  await chain().provider.send('anvil_mine', ['0x3'])
  expect(await world().run(order, { deps })).toMatchObject({ outcome: 'queued' })
  await chain().provider.send('anvil_mine', ['0x3'])
  const before = await height()
  world().broker.control.asset({ symbol: 'AAPL', tradable: false })
  expect(await world().run(order, { deps })).toMatchObject({ outcome: 'queued' })
  const [, mark, ...others] = world().relay.posted
  if (mark === undefined) throw new Error('nothing was marked')
  expect(others).toEqual([])

  // Had the refund been signed, the pool would include it again behind the mark, beside the fill.
  await reorganize(before)
  world().broker.control.asset({ symbol: 'AAPL', tradable: true })
  world().broker.control.fill({ mode: 'hold' })
  expect(await world().run(order, { deps })).toMatchObject({ outcome: 'placed' })
  expect((await includeAgain(mark))?.status).toBe(1)
  world().broker.control.release({})
  await chain().provider.send('anvil_mine', ['0x3'])
  expect(await world().run(order, { deps })).toMatchObject({ outcome: 'settled' })
  expect(await world().usdc('alice')).toBe(WALLET - usd(250))
  await world().checkInvariants()
})

it('nothing is written or placed before it lies at the stated depth', async () => {
  const order = await world().open(buy(250))
  const deps = { depth: 3 } as const
  expect(await world().run(order, { deps })).toMatchObject({ outcome: 'queued', code: 'chain-depth' })
  expect(world().relay.posted).toEqual([])

  await chain().provider.send('anvil_mine', ['0x3'])
  expect(await world().run(order, { deps })).toMatchObject({ outcome: 'queued' })
  expect(world().relay.posted.map(({ primaryType }) => primaryType)).toEqual(['PortfolioUpdate'])
  expect(world().broker.control.orders()).toEqual([])

  await chain().provider.send('anvil_mine', ['0x3'])
  expect(await world().run(order, { deps })).toMatchObject({ outcome: 'settled' })
})
