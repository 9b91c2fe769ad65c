import { expect, it } from 'vitest'
import { ORDER_PLACE, seal } from '../../src/protocol/envelope.js'
import { usd } from '../support/brokerStandIn.js'
import type { TestChain } from '../support/chain.js'
import { INTENT_PUBKEY, type Wish } from './support/parties.js'
import { useWorld, WALLET, type World } from './support/world.js'

const world = useWorld()
const buy: Wish = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(100), escrow: usd(100) }
/** One that the chain forbids, and one that the broker does. test/enclave/admission.test.ts has every rule. */
const cases: Record<string, (world: World) => Promise<unknown> | unknown> = {
  kyc: ({ chain }) => chain.send('owner', 'token', 'setKyc', chain.account('alice'), false),
  'not-tradable': ({ broker }) => broker.control.asset({ symbol: 'AAPL', fractionable: false }),
}

it.each(Object.entries(cases))(
  'a refused buy gets its escrow back, and the reason in a sealed notice alone: %s',
  async (code, change) => {
    const order = await world().open(buy)
    await change(world())
    const result = await world().run(order)
    expect(result.outcome).toBe('refunded')
    expect(Object.keys(result).sort()).toEqual(['notice', 'outcome'])
    expect(JSON.stringify(result)).not.toContain(code)
    expect(await world().noticeCode(order, result)).toBe(code)
    // The same notice was left before the refund was relayed.
    expect(world().reports.at(-1)).toEqual({ outcome: 'failed', notice: result.notice })
    expect(await world().state(order)).toBe('REFUNDED')
    expect(await world().usdc('alice')).toBe(WALLET)
    expect(await world().portfolio('alice')).toBeNull()
    expect(world().broker.control.orders()).toEqual([])
  },
)

it('a refusal whose refund is not through when the run ends keeps its reason: the refund may yet take effect', async () => {
  const order = await world().open({ ...buy, amount: usd(0.5), escrow: usd(0.5) })
  world().relay.faults.push(...Array<'withhold'>(5).fill('withhold'))
  const first = await world().run(order, { budget: 3 })
  expect(first).toMatchObject({ outcome: 'failed', code: 'out-of-time' })
  expect(await world().noticeCode(order, first)).toBe('below-minimum')
  await world().relay.land()
  expect(await world().state(order)).toBe('REFUNDED')
  expect(await world().run(order)).toEqual({ outcome: 'done' })
})

it('an envelope that is not this order’s, or is lost, is rejected as long as the order is not written ahead', async () => {
  const order = await world().open(buy)
  const other = await seal({ not: 'this' }, INTENT_PUBKEY, ORDER_PLACE)
  for (const envelope of [other, null])
    expect(await world().run(order, { envelope })).toEqual({ outcome: 'rejected' })
  expect([await world().state(order), world().relay.posted]).toEqual(['OPEN', []])
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
})

it('an envelope that is not this order’s fails, to be tried again, when the enclave’s node does not know the order yet', async () => {
  const order = await world().open(buy)
  const unknown = { ...order, orderId: `0x${'ef'.repeat(32)}` as const }
  expect(await world().run(unknown)).toEqual({ outcome: 'failed', code: 'order-unknown' })
})

const untrusted: Record<string, (chain: TestChain) => Partial<Wish>> = {
  'signed by another key, as by a contract wallet': () => ({ signedBy: 'bob' }),
  'of another order': () => ({ change: { orderId: `0x${'ab'.repeat(32)}` } }),
  'of another account': (chain) => ({ change: { account: chain.account('bob') } }),
  'of another version': () => ({ plaintext: { v: 2 } }),
  'in no form of an intent': () => ({ plaintext: 'hello' }),
}

it.each(Object.entries(untrusted))('an intent %s is refunded without a notice', async (_, change) => {
  const order = await world().open({ ...buy, ...change(world().chain) })
  expect(await world().run(order)).toEqual({ outcome: 'refunded' })
  expect(world().reports).toEqual([])
  expect(await world().usdc('alice')).toBe(WALLET)
})
