import { expect, it } from 'vitest'
import { usd } from '../support/brokerStandIn.js'
import { useWorld, WALLET } from './support/world.js'

const world = useWorld()

it('settles a buy: shares and what was left over are in the portfolio, the escrow is in the pool', async () => {
  const order = await world().open({
    who: 'alice',
    side: 'BUY',
    symbol: 'AAPL',
    amount: usd(250.005),
    escrow: usd(250.005),
  })
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  expect(await world().state(order)).toBe('SETTLED')
  expect(await world().usdc('alice')).toBe(WALLET - usd(250.005))
  // 250.00 buys 1.249937503 shares at 200.01, which cost 249.99999997503: rounded up, and the half cent is back.
  expect(await world().portfolio('alice')).toMatchObject({
    cash: usd(0.005),
    positions: { AAPL: { qty: 1_249_937_503n, locked: 0n } },
    openOrders: {},
  })
  await world().checkInvariants()
})
