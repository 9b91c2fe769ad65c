// Actor: a thief of the owner's key, with an accomplice among the employees; or the owner himself.
// Cost: the rotation's delay in public, and the gas of two transactions for each action.
// Effect: a false split multiplies the accomplice's shares, a false dividend credits USDC of the pool, and both are sold or paid out; a false
// removal, or a false change of symbol, takes the shares of all others.
// Now: the enclave opens no portfolio over an action that the broker has not booked, and makes no batch: nobody gets or loses anything, and all
// orders wait in public (`actions-unknown`). The doctor names the proposal while it can still be withdrawn. What it costs: an entry never leaves
// the list, so the platform stands until the broker books it, or begins anew (docs/operations/on-fire.md).
import { expect, it, onTestFinished } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { actionFindings } from '../enclave/support/actionFindings.js'
import { reclaim } from '../enclave/support/scenarios.js'
import { createWorld, SYMBOLS, setUpWorld, type World } from '../enclave/support/world.js'
import { shares, startStandIn, usd } from '../support/brokerStandIn.js'
import { useChain } from '../support/chain.js'
import { propose } from '../support/corporateActions.js'
import { DAY } from '../support/institution.js'

const ROTATION = 2 * DAY
const chain = useChain(setUpWorld, { delays: { rotation: ROTATION } })

/** A world whose broker, enclave and chain go on together. */
async function begin() {
  let ahead = 0
  const broker = await startStandIn({ symbols: SYMBOLS, now: () => new Date(Date.now() + ahead) })
  onTestFinished(() => broker.stop())
  const world = createWorld(chain(), broker)
  /** Seconds go by. */
  async function pass(seconds: number) {
    ahead += seconds * 1_000
    await world.clock.sleep(seconds * 1_000)
    await chain().mineAt((await chain().now()) + seconds)
  }
  return { world, pass }
}

/** Everything that a false action could give or take. */
async function possessions({ portfolioHash, usdc, broker }: World) {
  const supply = (symbol: string) => chain().read('token', 'totalSupply', nameToBytes32(symbol))
  return {
    portfolios: [await portfolioHash('alice'), await portfolioHash('bob')],
    wallets: [await usdc('alice'), await usdc('bob')],
    pool: await chain().read('usdc', 'balanceOf', chain().addressOf('pool')),
    minted: await supply('MSFT'),
    orders: broker.control.orders().length,
  }
}

it.each([
  ['A split of one share into 10,000', { kind: 'SPLIT', ratio: [10_000n, 1n] }],
  ['The removal of the shares', { kind: 'REMOVAL' }],
  ['Another symbol for the shares', { kind: 'SYMBOL_CHANGE', successor: 'MSFT' }],
  ['A dividend of the whole pool', { kind: 'PAYMENT', ratio: [10n ** 12n, 1n] }],
] as const)(
  '%s, which the broker never booked, credits nobody: every account waits',
  async (_what, wished) => {
    const { world, pass } = await begin()
    await world.settled({ who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(1_000), escrow: usd(1_000) })
    await world.settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) })
    await world.settled({ who: 'bob', side: 'BUY', symbol: 'MSFT', amount: usd(100), escrow: usd(100) })
    expect(await actionFindings(world)).toBe('')

    const claim = { kind: 'ENTITLEMENT', symbol: 'AAPL', recordAt: await chain().now() } as const
    if (wished.kind === 'PAYMENT') {
      const action = await propose(chain(), claim)
      await pass(ROTATION)
      await chain().send('dave', 'actions', 'enact', action)
    }
    const action = await propose(chain(), { symbol: 'AAPL', recordAt: await chain().now(), ...wished })
    const digest = String(await chain().read('actions', 'digestOf', action))
    expect(await actionFindings(world)).toContain(`notice: proposed: ${wished.kind} of AAPL (${digest})`)
    const before = await possessions(world)
    await pass(ROTATION)
    await chain().send('dave', 'actions', 'enact', action)

    const tokens = { symbol: 'AAPL', amount: shares(1) } as const
    const orders = [
      await world.open({ who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(100_000) }),
      await world.open({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(10_000) }),
      ...(wished.kind === 'SPLIT'
        ? [await world.open({ who: 'alice', side: 'DEPOSIT', shares: tokens, ...tokens })]
        : []),
      await world.open({ who: 'bob', side: 'SELL', symbol: 'MSFT', amount: usd(50) }),
    ]
    const deposit = {
      who: 'bob',
      side: 'DEPOSIT',
      symbol: 'USDC',
      amount: usd(100),
      escrow: usd(100),
    } as const
    const escrowed = await world.open(deposit)
    for (const order of [...orders, escrowed])
      expect(await world.run(order)).toMatchObject({ outcome: 'queued', code: 'actions-unknown' })
    expect(await world.reconcile()).toMatchObject({ outcome: 'failed', code: 'actions-unknown' })
    expect(await actionFindings(world)).toContain(
      `fault: in the list, and not booked by the broker: ${wished.kind} of AAPL.`,
    )
    await reclaim(world, escrowed)
    expect(await possessions(world)).toEqual(before)
  },
)
