// Shares that an account cannot receive, because its KYC has lapsed or its holding is frozen, wait as its claim too.

import { beforeEach, describe, expect, it } from 'vitest'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { type BoundOrder, batchMint, settlement, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, MSFT, setUpInstitution, shares, USDC } from '../support/institution.js'
import { orderActions, STATE } from '../support/orderActions.js'
import type { Role } from '../support/roles.js'

const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await set.send('relayer', ...signedCall(set, batchMint(AAPL, shares(100))))
})
const { account, orderEvents, relay, request, sharesOf, stateOf } = orderActions(chain)

const own = (method: string, ...args: unknown[]) => chain().send('owner', 'token', method, ...args)
const freeze = (on: boolean) => own('setFrozen', AAPL, account('alice'), on)
const escrow = () => chain().addressOf('escrow')
const pool = () => chain().addressOf('pool')
const claimRevert = (from: Role, to = account(from)) => chain().revert(from, 'escrow', 'claim', AAPL, to)
const claimed = () => chain().read('escrow', 'claimed', AAPL)
const withdraws = { payoutAsset: AAPL, payout: shares(3) }
const frozen = (role: Role) => ({ name: 'WalletFrozen', args: { symbol: AAPL, wallet: account(role) } })

describe('shares that the account cannot receive', () => {
  let order: BoundOrder
  beforeEach(async () => {
    order = await request('alice', 'withdrawal')
  })

  it.each([
    ['frozen', () => freeze(true)],
    ['without KYC', () => own('setKyc', account('alice'), false)],
  ])('(%s) become its claim, outside the pool; the supply stays', async (_, prevent) => {
    await prevent()
    expect(await orderEvents(relay(settlement(order, withdraws)))).toEqual([
      ['OrderSettled', order.orderId, 0n, AAPL, shares(3)],
      ['PortfolioUpdated', accountIdOf(account('alice')), 1n],
      ['ClaimMade', account('alice'), AAPL, shares(3)],
    ])
    expect(await stateOf(order.orderId)).toBe(STATE.SETTLED)
    expect(await sharesOf(account('alice'))).toBe(0n)
    expect(await sharesOf(escrow())).toBe(shares(3))
    expect(await sharesOf(pool())).toBe(shares(97))
    expect(await claimed()).toBe(shares(3))
    expect(await chain().read('token', 'totalSupply', AAPL)).toBe(shares(100))
  })

  it('are not made a claim by a freeze of another symbol, or by a delisting', async () => {
    await own('setFrozen', MSFT, account('alice'), true)
    await own('setListed', AAPL, false)
    await relay(settlement(order, withdraws))
    expect(await sharesOf(account('alice'))).toBe(shares(3))
    expect(await claimed()).toBe(0n)
  })
})

describe('a claim on shares', () => {
  beforeEach(async () => {
    const order = await request('alice', 'withdrawal')
    await freeze(true)
    await relay(settlement(order, withdraws))
  })

  it('is paid once the flags let it, of a delisted symbol too', async () => {
    expect(await claimRevert('alice')).toEqual(frozen('alice'))
    await freeze(false)
    await own('setKyc', account('alice'), false)
    expect(await claimRevert('alice')).toEqual({ name: 'NotCleared', args: { wallet: account('alice') } })
    await own('setKyc', account('alice'), true)
    await own('setListed', AAPL, false)
    await chain().send('alice', 'escrow', 'claim', AAPL, account('alice'))
    expect(await sharesOf(account('alice'))).toBe(shares(3))
    expect(await sharesOf(escrow())).toBe(0n)
    expect(await claimed()).toBe(0n)
  })

  it('a frozen holder’s goes nowhere else, unless the owner approves a wallet for this asset', async () => {
    const refusal = {
      name: 'NotClaimRecipient',
      args: { account: account('alice'), asset: AAPL, to: account('carol') },
    }
    const approve = (asset: string) =>
      chain().send('owner', 'escrow', 'approveClaimRecipient', account('alice'), asset, account('carol'))
    expect(await claimRevert('alice', account('carol'))).toEqual(refusal)
    // An approval for USDC that was blacklisted lets no frozen share out.
    await approve(USDC)
    expect(await claimRevert('alice', account('carol'))).toEqual(refusal)
    await approve(AAPL)
    await own('setFrozen', AAPL, account('carol'), true)
    expect(await claimRevert('alice', account('carol'))).toEqual(frozen('carol'))
    await own('setFrozen', AAPL, account('carol'), false)
    await chain().send('alice', 'escrow', 'claim', AAPL, account('carol'))
    expect(await sharesOf(account('carol'))).toBe(shares(3))
  })
})
