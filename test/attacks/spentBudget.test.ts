// Actor: an admin who publishes large rulebooks, and employees who open one order after another.
// Cost: the admin nothing, an employee the gas of her own transactions.
// Effect: 16 kB rulebooks (11.4 M gas each) for a quarter of an hour, or 1,112 small orders, used up the relayer's daily gas. No order was
// settled until midnight: USDC waited in escrow, and the broker's fills stayed on the platform's books.
// Now: each of them uses up a daily quota that holds up only their own orders or rulebooks. The gas of a held order is booked to its end,
// with a reserve besides, so it ends whatever the others have used.
import { toBeHex } from 'ethers'
import { expect, test } from 'vitest'
import { publishRulebook } from '../../src/client/admin.js'
import { checksum } from '../../src/protocol/address.js'
import type { Hex } from '../../src/protocol/hex.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { useDesk } from '../e2e/support/desk.js'
import { brokerOrder } from '../e2e/support/trader.js'
import { eventually } from '../support/eventually.js'
import { useUtcDay } from '../support/utcDay.js'

useUtcDay(180_000)

const desk = useDesk({
  serverSettings: { RELAY_ACCOUNT_DAILY_GAS: '1700000' },
})
const BUY = { side: 'BUY', symbol: 'AAPL', usdc: 100n * ONE_USDC } as const

test('one employee’s orders, and an admin’s rulebooks, use up no gas but their own', async () => {
  const { sandbox, admin, traders } = desk()
  const [alice, bob, carol] = traders
  sandbox.broker.fill({ symbol: 'MSFT', mode: 'hold', times: 1 })
  const held = await alice.send({ ...BUY, symbol: 'MSFT' })
  await alice.reaches(held, 'placed')

  let waiting: Hex | undefined
  for (let placed = 0; waiting === undefined && placed < 10; placed++) {
    const orderId = await alice.send(BUY)
    const status = await eventually('it ends, or has to wait', async () => {
      const seen = await alice.client.getOrder(orderId)
      const isOver = seen.state === 'SETTLED' || seen.triggers.some(({ outcome }) => outcome === 'queued')
      return isOver && seen
    })
    if (status.state === 'OPEN') waiting = orderId
  }
  if (waiting === undefined) throw new Error('ten orders are less than the quota')
  const status = await alice.client.getOrder(waiting)
  expect(status.triggers.at(-1)).toMatchObject({ outcome: 'queued', waitsFor: 'relay-quota-exhausted' })
  const waitsMs = Date.parse(status.nextTriggerAt ?? '') - Date.now()
  expect(waitsMs).toBeGreaterThan(0)
  expect(waitsMs).toBeLessThanOrEqual(3_600_000)
  expect(brokerOrder(sandbox, waiting)).toBeUndefined()
  // Ahead of it, its intent's nonce would have the one that waits refused.
  const later = await alice.send(BUY)

  // The rulebook in force took its share; the largest one would take the budget of thousands of orders.
  const rule = { canBuy: true, canSell: true, restricted: ['AAPL', 'AMZN', 'MSFT', 'NVDA', 'TSLA'] }
  const names = Array.from({ length: 4_000 }, (_, index) => checksum(toBeHex(index + 1_000_000, 20)))
  const large = {
    employees: Object.fromEntries(names.map((name) => [name, rule])),
    maxOrderNotional: ONE_USDC,
    allowWithdrawShares: false,
  }
  await expect(publishRulebook(admin, large)).rejects.toMatchObject({
    code: 'relay-quota-exhausted',
    status: 429,
  })

  expect((await bob.trade(BUY)).state).toBe('SETTLED')
  expect((await carol.trade(BUY)).state).toBe('SETTLED')
  sandbox.broker.release({})
  expect((await alice.ended(held)).state).toBe('SETTLED')
  expect((await alice.client.getOrder(waiting)).state).toBe('OPEN')
  expect((await alice.client.getOrder(later)).triggers).toEqual([])
})
