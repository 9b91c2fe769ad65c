// Actor: a phisher, or a mistaken client, who has an employee sign one order of a dollar with the nonce 2^53 − 1.
// Cost: one dollar.
// Effect: the order was admitted, and no later nonce was above its own: each later sale and withdrawal of the account was refused
// (`nonce-not-fresh`) for ever, and nothing brought its money back.
// Now: a nonce more than a day beyond the stored one and the block's time is refused, and nothing is written. The platform's owner
// gets an account back that has leapt before (`resolve`), and nothing that has ended comes back by that.
import { expect, it } from 'vitest'
import { createChainState } from '../../src/enclave/chainState.js'
import { createPortfolioStore } from '../../src/enclave/stores.js'
import { signAuthorization } from '../../src/protocol/authorization.js'
import { commitOf } from '../../src/protocol/envelope.js'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { type Decision, ENCLAVE_KEYS, KEYS, type OpenedOrder, type Wish } from '../enclave/support/parties.js'
import { buy, sell } from '../enclave/support/scenarios.js'
import { useWorld } from '../enclave/support/world.js'
import { usd } from '../support/brokerStandIn.js'

const world = useWorld()
const LAST = 2 ** 53 - 1
const numbered = (wish: Wish, nonce: number): Wish => ({ ...wish, change: { nonce } })
const withdrawal: Wish = { who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(100) }

async function refusedWith(wish: Wish): Promise<{ order: OpenedOrder; code: string | null }> {
  const order = await world().open(wish)
  const result = await world().run(order)
  expect(result).toMatchObject({ outcome: 'refunded' })
  return { order, code: await world().noticeCode(order, result) }
}

/** Writes the account's portfolio with the last nonce, as an enclave of before did when it admitted one. */
async function leap({ orderId, envelope }: OpenedOrder): Promise<void> {
  const { chain, relay } = world()
  const deps = world().deps()
  const state = createChainState(deps)
  const portfolios = createPortfolioStore(state, ENCLAVE_KEYS)
  const account = chain.account('alice')
  const { portfolio, ...stored } = await portfolios.load(account, (await state.look()).head)
  if (!portfolio) throw new Error('the account has no portfolio')
  const message = {
    ...{ orderId, account, asset: ZERO_BYTES32, amount: 0n, commit: commitOf(envelope), state: 3n },
    ...(await portfolios.seal(account, { ...portfolio, nonce: LAST }, stored)),
  }
  const domain = { chainId: deps.chainId, verifyingContract: chain.addresses.confidentialLedger }
  const signed = signAuthorization({ primaryType: 'PortfolioUpdate', message }, domain, KEYS.signing)
  expect(await relay.post(signed)).toEqual({ kind: 'taken' })
  await deps.broker.close()
}

async function ownersWord(orderId: Hex) {
  const portfolioHash = await world().portfolioHash('alice')
  return { resolves: 'nonce', v: 1, orderId, portfolioHash } satisfies Decision
}

it('an account that has leapt gets back by the owner’s word, and nothing that ended comes back', async () => {
  const filled = await world().settled(buy(1_000))
  await world().settled(sell(400))
  const refused = (await refusedWith(numbered(sell(100), 0))).order
  await leap(refused)
  const stuck = [
    await refusedWith(numbered(sell(200), Date.now())),
    await refusedWith(numbered(withdrawal, LAST)),
  ]
  expect(stuck.map(({ code }) => code)).toEqual(['nonce-not-fresh', 'nonce-not-fresh'])
  // Signed and opened while the account was closed, and not looked at yet.
  const pending = await world().open(numbered(sell(100), LAST - 1))

  const signed = await ownersWord(refused.orderId)
  expect(await world().resolve(signed, { signedBy: 'alice' })).toEqual({
    outcome: 'rejected',
    code: 'not-owner',
  })
  // Only a refunded order of the account carries it.
  expect(await world().resolve({ ...signed, orderId: filled.orderId })).toEqual({
    outcome: 'rejected',
    code: 'order-not-refunded',
  })
  expect(await world().resolve(signed)).toEqual({ outcome: 'done' })
  const now = (await world().chain.now()) * 1_000
  const { nonce, ...books } = { nonce: 0, ...(await world().portfolio('alice')) }
  expect(Math.abs(nonce - now)).toBeLessThan(60_000)
  expect(await world().resolve(signed)).toEqual({ outcome: 'rejected', code: 'portfolio-changed' })

  // Ended orders are done with, whatever their nonces are now.
  for (const { orderId, envelope } of [filled, refused, ...stuck.map(({ order }) => order)]) {
    expect(await world().run({ ...filled, orderId, envelope })).toEqual({ outcome: 'done' })
    const open = ['openRequest', orderId, commitOf(envelope), now / 1_000 + 3_600] as const
    expect(await world().chain.revert('alice', 'escrow', ...open)).toMatchObject({ name: 'OrderIdTaken' })
  }
  // Her sale of before in a fresh escrow: an intent is for one order.
  const again = await world().open(numbered(sell(200), nonce + 1))
  const borrowed = stuck[0]?.order.envelope ?? null
  expect(await world().run(again, { envelope: borrowed })).toEqual({ outcome: 'rejected' })
  // Nor does what she signed with a nonce that leaps count now.
  expect(await world().noticeCode(pending, await world().run(pending))).toBe('nonce-too-far-ahead')
  expect(await world().portfolio('alice')).toEqual({ nonce, ...books })

  await world().settled(numbered(sell(200), nonce + 2))
  await world().settled(numbered(withdrawal, nonce + 3))
  await world().checkInvariants()
})
