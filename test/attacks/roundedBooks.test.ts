// Actor: an employee with ordinary rights. Ordinary trading has the same effect without an attacker.
// Cost: nothing. She sells in small pieces, each worth a little less than half a cent above a whole
// cent.
// Effect: the broker credits whole cents and charges TAF and CAT at the close; the books credited every
// millionth and no fee. Each piece left up to two and a half cents in her cash, at the cost of other accounts.
// Now: a buy's cost rounds up to the cent and a sale's proceeds down, less the broker's fees. The employee
// sees the fees before and after, and the invariants compare the books with the broker's account activities.
import { describe, expect, it } from 'vitest'
import { borneByPlatform, checkMoney } from '../../src/enclave/doctor/invariants.js'
import { readBooks } from '../../src/enclave/doctor/moneyState.js'
import { parseDecimal, USDC_DECIMALS } from '../../src/protocol/units.js'
import { booksOf, NO_MONEY } from '../enclave/support/invariants.js'
import { useWorld } from '../enclave/support/world.js'
import { FEES } from '../support/brokerBooks.js'
import { brokerOf, ENCLAVE_ACCOUNT, usd } from '../support/brokerStandIn.js'

const world = useWorld()
const PIECES = 6

/** USDC base units that the broker has for the platform: what its account shows, and what the pool holds. */
async function behind(): Promise<bigint> {
  const { chain, broker } = world()
  const shown = broker.control.accounts().find(({ name }) => name === 'enclave')?.cash ?? '0'
  const change = parseDecimal(shown, USDC_DECIMALS) - parseDecimal(ENCLAVE_ACCOUNT.cash, USDC_DECIMALS)
  const pool = BigInt(String(await chain.read('usdc', 'balanceOf', chain.addresses.platformPool)))
  return pool + change
}

/** USDC base units that the platform is known to bear. */
function borne(): bigint {
  return borneByPlatform({ broker: booksOf(world().broker.control, ENCLAVE_ACCOUNT.cash) }, FEES)
}

describe('an employee who trades in small pieces', () => {
  it('is credited for sales no more than what the broker credits and charges', async () => {
    await world().settled({ who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(20), escrow: usd(20) })
    // Sold are 0.008333333 shares or so for each: 1.0045 USD at this bid, which the broker credits as 1.00.
    world().broker.control.price({ symbol: 'AAPL', price: '120', bid: '120.54' })
    const before = (await world().portfolio('alice'))?.cash ?? 0n
    for (let piece = 0; piece < PIECES; piece++) {
      await world().settled({ who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(1.0045) })
    }
    const cash = (await world().portfolio('alice'))?.cash ?? 0n
    // A dollar each, less one cent for TAF and one for CAT.
    expect(cash - before).toBe(BigInt(PIECES) * usd(0.98))

    // The day ends: the broker charges its fees, and still has what the books promise.
    world().broker.control.clock({ open: false })
    const activities = world().broker.control.activities()
    expect(activities.filter((activity) => activity.activity_type === 'FEE')).toHaveLength(2)
    expect((await behind()) + borne()).toBeGreaterThanOrEqual(cash)
    await world().checkInvariants()
  })

  it('pays for a purchase that filled in part what the broker took for it', async () => {
    world().broker.control.fill({ mode: 'expire', fraction: '0.3337' })
    for (let piece = 0; piece < PIECES; piece++) {
      await world().settled({ who: 'bob', side: 'BUY', symbol: 'AAPL', amount: usd(10), escrow: usd(10) })
    }
    // 3.337 USD each, for which the broker takes 3.34.
    const cash = (await world().portfolio('bob'))?.cash ?? 0n
    expect(cash).toBe(BigInt(PIECES) * usd(6.66))
    expect((await behind()) + borne()).toBeGreaterThanOrEqual(cash)
  })
})

describe('a fee schedule that is out of date', () => {
  it("is reported by the invariants, from the broker's account activities", async () => {
    const none = { deps: { fees: [] } }
    // TAF of 160 shares is three cents, CAT of 340 one: more than a cent of rounding for each explains.
    world().broker.control.price({ symbol: 'AAPL', price: '50' })
    const [paid, asked] = [usd(9_000), usd(8_000)]
    await world().settled({ who: 'alice', side: 'BUY', symbol: 'AAPL', amount: paid, escrow: paid })
    const sale = await world().open({ who: 'alice', side: 'SELL', symbol: 'AAPL', amount: asked })
    expect(await world().run(sale, none)).toMatchObject({ outcome: 'settled' })
    world().broker.control.clock({ open: false })

    const books = await readBooks(brokerOf(world().broker.url), new Date(0))
    const [charged, ...others] = books.activities.fees
    expect(others).toHaveLength(1)
    const state = { ...NO_MONEY, broker: books }
    expect(checkMoney(state, { fees: FEES })).toEqual([])
    expect(checkMoney(state, { fees: [] })).toEqual([{ rule: 'fees-as-set', day: charged?.day }])
    // Fees on the day of a deployment may belong to the one before it.
    const sinceToday = new Date(Date.now() - 60_000)
    expect((await readBooks(brokerOf(world().broker.url), sinceToday)).activities.fees).toEqual([])
  })
})
