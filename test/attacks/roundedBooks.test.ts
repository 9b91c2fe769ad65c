// Actor: an employee with ordinary rights. Ordinary trading has the same effect without an attacker.
// Cost: nothing. She sells in small pieces, each worth a little less than half a cent above a whole cent.
// Effect: the broker credits whole cents and charges TAF and CAT at the close; the books credited every millionth and no fee. Each piece
// left up to two and a half cents in her cash, at the cost of other accounts.
// Now: a buy's cost rounds up to the cent and a sale's proceeds down, less the broker's fees. The employee sees the fees before and after,
// and the invariants compare the books with the broker's account activities.
import { expect, it } from 'vitest'
import { useWorld } from '../enclave/support/world.js'
import { usd } from '../support/brokerStandIn.js'

const world = useWorld()
const PIECES = 6
const control = () => world().broker.control
const cashOf = async (who: 'alice' | 'bob') => (await world().portfolio(who))?.cash ?? 0n

it('small sales are credited with no more than what the broker credits and charges', async () => {
  await world().settled({ who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(20), escrow: usd(20) })
  // Sold are 0.008333333 shares or so for each: 1.0045 USD at this bid, which the broker credits as 1.00.
  control().price({ symbol: 'AAPL', price: '120', bid: '120.54' })
  const before = await cashOf('alice')
  for (let piece = 0; piece < PIECES; piece++) {
    await world().settled({ who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(1.0045) })
  }
  // A dollar each, less one cent for TAF and one for CAT.
  expect((await cashOf('alice')) - before).toBe(BigInt(PIECES) * usd(0.98))
  // The day ends: the broker charges its fees, and still has what the books promise.
  control().clock({ open: false })
  const charged = control()
    .activities()
    .filter(({ activity_type: type }) => type === 'FEE')
  expect(charged).toHaveLength(2)
  await world().checkInvariants()
})

it('small purchases that fill in part cost what the broker takes for them', async () => {
  control().fill({ mode: 'expire', fraction: '0.3337' })
  for (let piece = 0; piece < PIECES; piece++) {
    await world().settled({ who: 'bob', side: 'BUY', symbol: 'AAPL', amount: usd(10), escrow: usd(10) })
  }
  // 3.337 USD each, for which the broker takes 3.34.
  expect(await cashOf('bob')).toBe(BigInt(PIECES) * usd(6.66))
  await world().checkInvariants()
})
