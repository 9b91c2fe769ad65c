// Actor: employees with KYC and nothing else: no ether, no USDC, no shares.
// Cost: a signature for each order.
// Effect: the platform opened sales of shares that they lacked, and refunded each. Portfolios are ciphertext, so no simulation can tell.
// Forty took 9.36 M of the relayer's gas, an account's quota allows 50 M a day, and as many accounts as have quotas for the whole day (800
// by default) used up the day of all. A wallet in no institution could do the same.
// Now: an account has ten openings at the platform's cost before an order has settled. Each refusal takes one away, down to one a day. A
// wallet in no admitted institution has none.
import { expect, test } from 'vitest'
import { useDesk } from '../e2e/support/desk.js'
import { post, type SignedBody, signedBy } from '../e2e/support/signedBodies.js'
import { eventually } from '../support/eventually.js'
import { gasUsedSince } from './support/actors.js'

const desk = useDesk()
const SALE = { side: 'SELL', symbol: 'AAPL', usdc: 100_000_000n } as const
/** The default of `RELAY_DAILY_GAS`. */
const DAY_GAS = 50_000_000_000n
const WALLETS = 800n

const ended = ({ orderId }: SignedBody) =>
  eventually(
    'it is refunded',
    async () => (await desk().contracts.escrow.orders(orderId)).state === 'REFUNDED',
  )

test('forty sales of shares that the wallet lacks take ten openings, and eight hundred wallets a twentieth of the day’s gas', async () => {
  const [, bob] = desk().traders
  const { provider, accounts } = desk().sandbox
  const from = await provider.getBlockNumber()
  const answers: (string | null)[] = []
  for (let sale = 0; sale < 40; sale++) {
    const body = await signedBy(desk(), bob.account.privateKey, SALE)
    const { code } = await post(desk(), body)
    answers.push(code)
    if (code === null) await ended(body)
  }
  expect(answers.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => null))
  expect(new Set(answers.slice(10))).toEqual(new Set(['relay-quota-exhausted']))
  const gas = await gasUsedSince(provider, accounts.relayer.address, from)
  expect(gas).toBeGreaterThan(0n)
  expect(20n * WALLETS * gas).toBeLessThan(DAY_GAS)
  // The wallet can still trade at its own cost.
  expect((await bob.trade({ side: 'BUY', symbol: 'AAPL', usdc: 100_000_000n })).state).toBe('SETTLED')
})
