// USDC can blacklist an account. What it then cannot receive becomes a claim of it, so that its order ends all the same.

import { beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { type BoundOrder, refund, settlement } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, DAY, FUNDS, setUpInstitution, soon, USDC, usd } from '../support/institution.js'
import { EMPTY, orderActions, STATE } from '../support/orderActions.js'
import type { Role } from '../support/roles.js'
import { usdcFixture } from './fixtures/usdc.js'

const POOLED = usd(9_000)
const usdc = await usdcFixture('BlacklistingUsdc')
const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await set.send('carol', 'usdc', 'approve', set.addressOf('pool'), POOLED)
  await set.send('carol', 'pool', 'fund', POOLED)
}, usdc)
const {
  account,
  buy,
  expectNothingOpen,
  orderEvents,
  presentOf,
  relay,
  relayRevert,
  request,
  stateOf,
  usdcOf,
} = orderActions(chain)

const blacklist = (address: Hex, on = true) => usdc.turn(chain(), 'setBlacklisted', address, on)
const escrow = () => chain().addressOf('escrow')
const pool = () => chain().addressOf('pool')
const claimOf = (role: Role) => chain().read('escrow', 'claims', account(role), USDC)
const claimed = () => chain().read('escrow', 'claimed', USDC)
const claimRevert = (from: Role, to: Hex) => chain().revert(from, 'escrow', 'claim', USDC, to)
const claims = async (from: Role, to: Hex) =>
  chain()
    .events(await chain().send(from, 'escrow', 'claim', USDC, to))
    .filter(({ contract }) => contract === 'escrow')
    .map(({ name, args }) => [name, ...args])
const late = async () => chain().mineAt((await soon(chain())) + 8 * DAY)
const paid = { payoutAsset: USDC, payout: usd(300) }

describe('an account that USDC has blacklisted', () => {
  let order: BoundOrder
  beforeEach(async () => {
    order = await buy('alice', 'buy', usd(1_000))
    await blacklist(account('alice'))
  })

  it('has a payout as a claim, which leaves the pool', async () => {
    const withdrawal = await request('alice', 'withdrawal')
    expect(await orderEvents(relay(settlement(withdrawal, paid)))).toEqual([
      ['OrderSettled', withdrawal.orderId, 0n, USDC, usd(300)],
      ['PortfolioUpdated', accountIdOf(account('alice')), 1n],
      ['ClaimMade', account('alice'), USDC, usd(300)],
    ])
    expect(await stateOf(withdrawal.orderId)).toBe(STATE.SETTLED)
    expect(await usdcOf(pool())).toBe(POOLED - usd(300))
    expect(await claimOf('alice')).toBe(usd(300))
    expect(await claimed()).toBe(usd(300))
    expect(await usdcOf(escrow())).toBe(usd(1_300))
  })

  it('adds up its claims, and is paid all of them in one call once USDC lets it', async () => {
    const withdrawal = await request('alice', 'withdrawal')
    await relay(settlement(withdrawal, paid))
    await relay(refund(order, { ...(await presentOf('alice')), ...EMPTY }))
    expect(await claimOf('alice')).toBe(usd(1_300))
    expect(await claimed()).toBe(usd(1_300))
    expect(await claimRevert('alice', account('alice'))).toEqual({
      name: 'Error',
      args: { 0: 'Blacklistable: account is blacklisted' },
    })
    await blacklist(account('alice'), false)
    expect(await claims('alice', account('alice'))).toEqual([
      ['ClaimPaid', account('alice'), USDC, account('alice'), usd(1_300)],
    ])
    expect(await usdcOf(account('alice'))).toBe(FUNDS + usd(300))
    expect(await claimOf('alice')).toBe(0n)
    expect(await claimed()).toBe(0n)
    await expectNothingOpen('alice')
    expect(await claimRevert('alice', account('alice'))).toEqual({
      name: 'NoClaim',
      args: { account: account('alice'), asset: USDC },
    })
  })

  it('claims during a pause', async () => {
    await relay(refund(order))
    await blacklist(account('alice'), false)
    await chain().send('guardian', 'authority', 'pause')
    await chain().send('alice', 'escrow', 'claim', USDC, account('alice'))
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
  })
})

describe('the recipient of a claim', () => {
  beforeEach(async () => {
    const order = await buy('alice', 'buy', usd(1_000))
    await blacklist(account('alice'))
    await relay(refund(order))
  })
  const approve = (to: Hex, asset = USDC) =>
    chain().send('owner', 'escrow', 'approveClaimRecipient', account('alice'), asset, to)
  const refused = (from: Role, to: Hex) => ({
    name: 'NotClaimRecipient',
    args: { account: account(from), asset: USDC, to },
  })

  it('is another wallet only if the owner approved it', async () => {
    expect(await claimRevert('alice', account('carol'))).toEqual(refused('alice', account('carol')))
    const receipt = await approve(account('carol'))
    expect(chain().events(receipt)).toEqual([
      {
        contract: 'escrow',
        name: 'ClaimRecipientApproved',
        args: [account('alice'), USDC, account('carol')],
      },
    ])
    expect(await claims('alice', account('carol'))).toEqual([
      ['ClaimPaid', account('alice'), USDC, account('carol'), usd(1_000)],
    ])
    expect(await usdcOf(account('carol'))).toBe(FUNDS - POOLED + usd(1_000))
  })

  it('is approved for one account and one asset', async () => {
    await approve(account('carol'), AAPL)
    expect(await claimRevert('alice', account('carol'))).toEqual(refused('alice', account('carol')))
    await approve(account('carol'))
    expect(await claimRevert('alice', account('bob'))).toEqual(refused('alice', account('bob')))
    const bobs = await buy('bob', 'bob’s', usd(1))
    await blacklist(account('bob'))
    await relay(refund(bobs))
    expect(await claimRevert('bob', account('carol'))).toEqual(refused('bob', account('carol')))
  })

  it('must have passed KYC when it is paid', async () => {
    await approve(account('dave'))
    expect(await claimRevert('alice', account('dave'))).toEqual(refused('alice', account('dave')))
    await chain().send('owner', 'token', 'setKyc', account('dave'), true)
    expect(await claimRevert('alice', account('dave'))).toBeNull()
  })

  it('is approved by the owner alone', async () => {
    for (const role of ['alice', 'guardian', 'admin'] as const) {
      expect(
        await chain().revert(role, 'escrow', 'approveClaimRecipient', account('alice'), USDC, account(role)),
      ).toEqual({ name: 'NotOwner', args: { expected: account('owner'), caller: account(role) } })
    }
  })
})

it.each([
  ['USDC is paused', 'Pausable: paused', () => usdc.turn(chain(), 'setPaused', true)],
  ['USDC has blacklisted the escrow', 'Blacklistable: account is blacklisted', () => blacklist(escrow())],
])(
  'a failure that is not the recipient’s own makes no claim, and everything reverts: %s',
  async (_, message, fail) => {
    const order = await buy('alice', 'buy', usd(1_000))
    const withdrawal = await request('alice', 'withdrawal')
    await late()
    await blacklist(account('alice'))
    await fail()
    const reverted = { name: 'Error', args: { 0: message } }
    expect(await relayRevert(refund(order))).toEqual(reverted)
    expect(await relayRevert(settlement(withdrawal, paid))).toEqual(reverted)
    expect(await chain().revert('alice', 'escrow', 'reclaim', order.orderId)).toEqual(reverted)
    expect(await stateOf(order.orderId)).toBe(STATE.OPEN)
  },
)
