import { describe, expect, it } from 'vitest'
import { ORDER_PLACE, seal } from '../../src/protocol/envelope.js'
import { usd } from '../support/brokerStandIn.js'
import { INTENT_PUBKEY, USER_PUBKEY, type Wish } from './support/parties.js'
import { useWorld, WALLET } from './support/world.js'

const world = useWorld()
const buy: Wish = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(100), escrow: usd(100) }

describe('an envelope that is not this order’s', () => {
  it('is rejected when its commit is another', async () => {
    const order = await world().open(buy)
    const other = await seal({ not: 'this' }, INTENT_PUBKEY, ORDER_PLACE)
    expect(await world().run(order, { envelope: other })).toEqual({ outcome: 'rejected' })
    expect(await world().state(order)).toBe('OPEN')
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  })

  it('is rejected when it is lost and the order is not held', async () => {
    const order = await world().open(buy)
    expect(await world().run(order, { envelope: null })).toEqual({ outcome: 'rejected' })
    expect(world().relay.posted).toEqual([])
  })

  it('asks neither broker nor relay when the order has ended already', async () => {
    const order = await world().settled(buy)
    const posted = world().relay.posted.length
    expect(await world().run(order)).toEqual({ outcome: 'done' })
    expect(world().relay.posted).toHaveLength(posted)
  })

  it('fails, to be tried again, when the enclave’s node does not know the order yet', async () => {
    const order = await world().open(buy)
    const unknown = { ...order, orderId: `0x${'ef'.repeat(32)}` as const }
    expect(await world().run(unknown)).toEqual({ outcome: 'failed', code: 'order-unknown' })
  })
})

describe('an intent that cannot be trusted is refunded without a notice', () => {
  const cases: Record<string, Partial<Wish>> = {
    'signed by another key, as by a contract wallet': { signedBy: 'bob' },
    'of another order': { change: { orderId: `0x${'ab'.repeat(32)}` } },
    'of another version': { plaintext: { v: 2 } },
    'that is no intent': { plaintext: 'hello' },
  }
  for (const [name, change] of Object.entries(cases)) {
    it(name, async () => {
      const order = await world().open({ ...buy, ...change })
      expect(await world().run(order)).toEqual({ outcome: 'refunded' })
      expect(world().reports).toEqual([])
      expect(await world().usdc('alice')).toBe(WALLET)
    })
  }

  it('of another account', async () => {
    const order = await world().open({ ...buy, change: { account: world().chain.account('bob') } })
    expect(await world().run(order)).toEqual({ outcome: 'refunded' })
  })

  it('sealed to another key', async () => {
    const plain = await world().open(buy)
    const foreign = await seal({ v: 1 }, USER_PUBKEY, ORDER_PLACE)
    // Its commit must be the escrow's, so the test opens it without the client.
    const { commitOf } = await import('../../src/protocol/envelope.js')
    const orderId = `0x${'cd'.repeat(32)}` as const
    const deadline = (await world().chain.now()) + 3_600
    await world().chain.send('alice', 'escrow', 'openBuy', orderId, commitOf(foreign), usd(100), deadline)
    const order = { ...plain, orderId, envelope: foreign }
    expect(await world().run(order)).toEqual({ outcome: 'refunded' })
    expect(await world().state(order)).toBe('REFUNDED')
  })
})
