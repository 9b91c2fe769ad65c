import { describe, expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { usd } from '../support/brokerStandIn.js'
import { rulesFor, sealRulebook, type Wish } from './support/parties.js'
import { useWorld, WALLET, type World } from './support/world.js'

const world = useWorld()
const buy: Wish = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(100), escrow: usd(100) }
const AAPL = nameToBytes32('AAPL')

async function publish(change: Parameters<typeof rulesFor>[1]) {
  const { chain } = world()
  const result = await world().policy(await sealRulebook(chain, rulesFor(chain, change), 2))
  expect(result.outcome).toBe('accepted')
}

function employee(rules: { canBuy?: boolean; canSell?: boolean; restricted?: string[] }) {
  const key = world().chain.account('alice').toLowerCase()
  return { employees: { [key]: { canBuy: true, canSell: true, restricted: [], ...rules } } }
}

interface Case {
  wish?: Partial<Wish>
  /** What changes between the opening and the run. */
  meanwhile?: (world: World) => Promise<unknown> | unknown
  before?: (world: World) => Promise<unknown>
}

const set =
  (method: string, ...args: unknown[]) =>
  (w: World) =>
    w.chain.send(
      'owner',
      'token',
      method,
      ...args.map((arg) => (arg === 'alice' ? w.chain.account('alice') : arg)),
    )

const cases: Record<string, Case> = {
  'escrow-mismatch': { wish: { change: { maxSpend: usd(99) } } },
  'deadline-mismatch': { wish: { change: { expiry: 2_000_000_000 } } },
  'nonce-not-fresh': { wish: { change: { nonce: 0 } } },
  expired: { meanwhile: async ({ chain }) => chain.mineAt((await chain.now()) + 3_601) },
  kyc: { meanwhile: set('setKyc', 'alice', false) },
  frozen: { meanwhile: set('setFrozen', AAPL, 'alice', true) },
  'not-listed': { meanwhile: set('setListed', AAPL, false) },
  'not-tradable': {
    meanwhile: ({ broker }) => broker.control.asset({ symbol: 'AAPL', fractionable: false }),
  },
  'below-minimum': { wish: { amount: usd(0.999999), escrow: usd(0.999999) } },
  'over-limit': { before: () => publish({ maxOrderNotional: usd(99.99) }) },
  'not-permitted': { before: () => publish(employee({ canBuy: false })) },
  'restricted-symbol': { before: () => publish(employee({ restricted: ['AAPL'] })) },
  'closed-until-deadline': { meanwhile: ({ broker }) => broker.control.clock({ open: false }) },
}

describe('a refused buy gets its escrow back, and the reason in a sealed notice alone', () => {
  for (const [code, { wish, meanwhile, before }] of Object.entries(cases)) {
    it(code, async () => {
      await before?.(world())
      const order = await world().open({ ...buy, ...wish })
      await meanwhile?.(world())
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
    })
  }
})

describe('a refused sale', () => {
  it('of an employee who may not sell', async () => {
    await world().settled(buy)
    await publish(employee({ canSell: false }))
    const order = await world().open({ who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(50) })
    expect(await world().noticeCode(order, await world().run(order))).toBe('not-permitted')
  })

  it('of an employee whom the rulebook does not name', async () => {
    await world().settled(buy)
    await publish({ employees: {} })
    const order = await world().open({ who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(50) })
    expect(await world().noticeCode(order, await world().run(order))).toBe('not-permitted')
  })

  it('of shares that nobody knows, without asking for their price', async () => {
    const order = await world().open({ who: 'alice', side: 'SELL', symbol: 'ZZZZ', amount: usd(50) })
    expect(await world().noticeCode(order, await world().run(order))).toBe('insufficient-shares')
  })

  it('that escrowed USDC which it could only lose', async () => {
    await world().settled(buy)
    const order = await world().open({ ...buy, side: 'SELL', amount: usd(50), escrow: usd(50) })
    expect(await world().noticeCode(order, await world().run(order))).toBe('escrow-mismatch')
    expect(await world().usdc('alice')).toBe(WALLET - usd(100))
  })

  it('that is worth less than a dollar at the price of the day', async () => {
    await world().settled(buy)
    const order = await world().open({ who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(0.99) })
    expect(await world().noticeCode(order, await world().run(order))).toBe('below-minimum')
  })
})

describe('a nonce', () => {
  it('is refused when it was accepted before, and the stored one stays', async () => {
    await world().settled({ ...buy, change: { nonce: 5_000_000 } })
    const order = await world().open({ ...buy, change: { nonce: 5_000_000 } })
    expect(await world().noticeCode(order, await world().run(order))).toBe('nonce-not-fresh')
    expect((await world().portfolio('alice'))?.nonce).toBe(5_000_000)
  })

  it('is not used up by a refused order', async () => {
    const order = await world().open({
      ...buy,
      amount: usd(0.5),
      escrow: usd(0.5),
      change: { nonce: 6_000_000 },
    })
    await world().run(order)
    await world().settled({ ...buy, change: { nonce: 6_000_000 } })
  })
})

describe('a refusal whose refund is not through when the run ends', () => {
  it('keeps its reason: the refund may yet take effect', async () => {
    const order = await world().open({ ...buy, amount: usd(0.5), escrow: usd(0.5) })
    world().relay.faults.push(...Array<'withhold'>(5).fill('withhold'))
    const first = await world().run(order, { budget: 3 })
    expect(first).toMatchObject({ outcome: 'failed', code: 'out-of-time' })
    expect(await world().noticeCode(order, first)).toBe('below-minimum')
    await world().relay.land()
    expect(await world().state(order)).toBe('REFUNDED')
    expect(await world().run(order)).toEqual({ outcome: 'done' })
  })
})

describe('a sale of exactly a dollar', () => {
  it('is let in, whatever is lost by rounding its quantity down', async () => {
    world().broker.control.price({ symbol: 'AAPL', price: '3', bid: '3', ask: '3' })
    await world().settled(buy)
    world().broker.control.price({ symbol: 'AAPL', price: '3.1', bid: '3.1', ask: '3.1' })
    world().broker.control.fill({ mode: 'hold', times: 1 })
    const order = await world().open({ who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(1) })
    const result = await world().run(order)
    expect(result.notice).toBeUndefined()
    expect(await world().state(order)).toBe('OPEN')
  })
})
