import { describe, expect, it } from 'vitest'
import { usd } from '../support/brokerStandIn.js'
import type { Wish } from './support/parties.js'
import { useWorld, WALLET, type World } from './support/world.js'

const world = useWorld()
const buy: Wish = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(100), escrow: usd(100) }
/** One that the chain forbids, and one that the broker does. test/enclave/admission.test.ts has every rule. */
const cases: Record<string, (world: World) => Promise<unknown> | unknown> = {
  kyc: ({ chain }) => chain.send('owner', 'token', 'setKyc', chain.account('alice'), false),
  'not-tradable': ({ broker }) => broker.control.asset({ symbol: 'AAPL', fractionable: false }),
}

describe('a refused buy gets its escrow back, and the reason in a sealed notice alone', () => {
  for (const [code, change] of Object.entries(cases)) {
    it(code, async () => {
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
    })
  }
})

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
