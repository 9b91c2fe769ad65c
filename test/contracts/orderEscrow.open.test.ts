// What the invariants (contracts/test) do not ask of openings: bounds, counts, who pays, and what a signature is good for.
import { describe, expect, it } from 'vitest'
import type { OrderOpening } from '../../src/protocol/opening.js'
import { useChain } from '../support/chain.js'
import { AAPL, bytes32, DAY, MSFT, ORG, shares, soon, USDC, usd } from '../support/institution.js'
import { keyOf, openingCall, signOpening } from '../support/openings.js'
import { orderActions } from '../support/orderActions.js'
import { callsOf } from './fixtures/calls.js'
import { deployForwarder } from './fixtures/forwarder.js'
import { setUpShares } from './fixtures/shares.js'

const chain = useChain(setUpShares)
const { account, usdcOf, sharesOf } = orderActions(chain)
const { read, revert } = callsOf(chain, 'escrow')

const ID = bytes32('an order')
const COMMIT = bytes32('its sealed intent')
const MAX_LIFETIME = 30 * DAY
const escrow = () => chain().addressOf('escrow')
const opens = (method: string, ...args: unknown[]) => revert('alice', method, ...args)

it('openings by a contract that calls are its own: it pays with its USDC and its shares, not with those of the transaction’s signer', async () => {
  const { address, call } = await deployForwarder(chain())
  await chain().send('owner', 'token', 'setKyc', address, true)
  await chain().send('admin', 'registry', 'setMember', address, true)
  await call('registry', 'join', ORG)
  await chain().send('bob', 'usdc', 'transfer', address, usd(5))
  await call('usdc', 'approve', escrow(), usd(5))
  await chain().send('alice', 'aapl', 'transfer', address, shares(4))
  await call('aapl', 'approve', escrow(), shares(4))
  const deadline = await soon(chain())
  await call('escrow', 'openBuy', ID, COMMIT, usd(5), deadline)
  await call('escrow', 'openRequest', bytes32('a request'), COMMIT, deadline)
  await call('escrow', 'openDeposit', bytes32('a deposit'), COMMIT, AAPL, shares(4), deadline)
  expect(await read('orders', ID)).toEqual(
    expect.arrayContaining([address, usd(5), BigInt(deadline), COMMIT]),
  )
  expect([await usdcOf(address), await sharesOf(address)]).toEqual([0n, 0n])
  expect([await read('openOrdersBy', address), await read('openOrdersOf', ORG)]).toEqual([3n, 3n])
})

it('openBuy refuses more than the escrow can count, whatever the wallet holds', async () => {
  const amount = 2n ** 128n
  await chain().send('alice', 'usdc', 'mint', account('alice'), amount)
  await chain().send('alice', 'usdc', 'approve', escrow(), amount)
  expect(await opens('openBuy', ID, COMMIT, amount, await soon(chain()))).toEqual({
    name: 'SafeCastOverflowedUintDowncast',
    args: { bits: '128', value: `${amount}` },
  })
  expect(await opens('openBuy', ID, COMMIT, amount - 1n, await soon(chain()))).toBeNull()
})

it('openDeposit takes no USDC under its name, which the escrow would not count, and no symbol without shares', async () => {
  for (const symbol of [USDC, MSFT, bytes32('nothing')]) {
    expect(await opens('openDeposit', ID, COMMIT, symbol, 1n, await soon(chain()))).not.toBeNull()
  }
})

it('an opening has a deadline from the next second to 30 days, no other', async () => {
  // Calls run in a block of the time of the last one.
  const now = await chain().now()
  for (const deadline of [0n, BigInt(now), BigInt(now + MAX_LIFETIME + 1), 2n ** 64n - 1n]) {
    expect(await opens('openRequest', ID, COMMIT, deadline)).toEqual({
      name: 'DeadlineOutOfRange',
      args: { deadline: `${deadline}`, currentTime: `${now}`, latest: `${now + MAX_LIFETIME}` },
    })
  }
  expect(await opens('openRequest', ID, COMMIT, now + 1)).toBeNull()
  expect(await opens('openRequest', ID, COMMIT, now + MAX_LIFETIME)).toBeNull()
})

/** An opening by alice, for some minutes. */
async function opening(changes: Partial<OrderOpening>): Promise<OrderOpening> {
  return {
    ...{ account: account('alice'), orderId: ID, commit: COMMIT, amount: usd(1_000) },
    ...{ deadline: await soon(chain()), validBefore: (await chain().now()) + 600, ...changes },
  }
}

const sign = (order: OrderOpening) => signOpening(chain(), order, { key: keyOf(chain(), 'alice') })
/** The revert of a call with this signature, which dave sends; null when it would succeed. */
const signedRevert = (order: OrderOpening, signature = sign(order)) =>
  chain().revert('dave', ...openingCall(order, signature))

describe.each([
  ['openBuyFor', usd(1_000)],
  ['openRequestFor', 0n],
] as const)('%s', (_kind, amount) => {
  it('opens nothing other than what was signed', async () => {
    const order = await opening({ amount })
    const signature = sign(order)
    const others: OrderOpening[] = [
      { ...order, account: account('bob') },
      { ...order, orderId: bytes32('another order') },
      { ...order, commit: bytes32('another sealed intent') },
      { ...order, deadline: order.deadline + 1 },
      { ...order, validBefore: order.validBefore + 1 },
    ]
    if (amount > 0n) others.push({ ...order, amount: amount + 1n }, { ...order, amount: amount - 1n })
    const name = amount > 0n ? 'ERC3009InvalidSignature' : 'NotSignedByAccount'
    for (const other of others) expect(await signedRevert(other, signature)).toMatchObject({ name })
    expect(await signedRevert(order)).toBeNull()
  })

  it('opens until the second before `validBefore`', async () => {
    const now = await chain().now()
    const expired = { name: 'OpeningExpired', args: { validBefore: `${now}`, currentTime: `${now}` } }
    expect(await signedRevert(await opening({ amount, validBefore: now }))).toEqual(expired)
    expect(await signedRevert(await opening({ amount, validBefore: now + 1 }))).toBeNull()
  })
})
