// Shares that come back: the escrow takes them for a deposit, and its end moves them to the pool or to the account again.

import { beforeEach, describe, expect, it } from 'vitest'
import { type BoundOrder, orderOf, portfolioUpdate, refund, settlement } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, bytes32, MSFT, shares, soon, USDC, usd, ZERO_BYTES32 } from '../support/institution.js'
import { orderActions, STATE } from '../support/orderActions.js'
import { deployForwarder } from './fixtures/forwarder.js'
import { setUpShares } from './fixtures/shares.js'

const chain = useChain(setUpShares)
const { account, nextOf, relayRevert, sharesOf } = orderActions(chain)

const ID = bytes32('deposit')
const COMMIT = bytes32('deposit sealed')
const escrow = () => chain().addressOf('escrow')
const own = (method: string, ...args: unknown[]) => chain().send('owner', 'token', method, ...args)
const open = async (symbol = AAPL, amount = shares(4)) =>
  [ID, COMMIT, symbol, amount, await soon(chain())] as const
const openRevert = async (...terms: Parameters<typeof open>) =>
  chain().revert('alice', 'escrow', 'openDeposit', ...(await open(...terms)))

beforeEach(async () => {
  await chain().send('alice', 'aapl', 'approve', escrow(), shares(10))
})

it('openDeposit takes the shares, and shows no amount in its event', async () => {
  const args = await open()
  const events = chain().events(await chain().send('alice', 'escrow', 'openDeposit', ...args))
  expect(events.filter(({ contract }) => contract === 'escrow')).toEqual([
    { contract: 'escrow', name: 'OrderOpened', args: [ID, account('alice'), 0n, BigInt(args[4]), COMMIT] },
  ])
  expect(await sharesOf(escrow())).toBe(shares(4))
  expect(await sharesOf(account('alice'))).toBe(shares(6))
  expect(await chain().read('escrow', 'escrowed')).toBe(0n)
  expect(await chain().read('escrow', 'orders', ID)).toEqual([
    ...[account('alice'), 0n, BigInt(args[4]), COMMIT, expect.anything(), STATE.OPEN, AAPL, shares(4)],
  ])
})

it('openDeposit opens for a contract that calls it, and takes that contract’s shares, not those of the transaction’s signer', async () => {
  const { address, call } = await deployForwarder(chain())
  await own('setKyc', address, true)
  await chain().send('alice', 'aapl', 'transfer', address, shares(4))
  await call('aapl', 'approve', escrow(), shares(4))
  const args = await open()
  await call('escrow', 'openDeposit', ...args)
  expect(await chain().read('escrow', 'orders', ID)).toEqual([
    ...[address, 0n, BigInt(args[4]), COMMIT, ZERO_BYTES32, STATE.OPEN, AAPL, shares(4)],
  ])
  expect(await sharesOf(address)).toBe(0n)
})

it('openDeposit is open to a wallet in no institution, and to shares that are no longer listed', async () => {
  await chain().send('admin', 'registry', 'setMember', account('alice'), false)
  await own('setListed', AAPL, false)
  expect(await openRevert()).toBeNull()
})

it('openDeposit refuses an amount of zero, more than is approved, and a wallet that is frozen or not cleared', async () => {
  expect(await openRevert(AAPL, 0n)).toEqual({ name: 'ZeroAmount', args: {} })
  expect(await openRevert(AAPL, shares(10) + 1n)).toMatchObject({ name: 'ERC20InsufficientAllowance' })
  await own('setFrozen', AAPL, account('alice'), true)
  expect(await openRevert()).toMatchObject({ name: 'WalletFrozen' })
  await own('setFrozen', AAPL, account('alice'), false)
  await own('setKyc', account('alice'), false)
  expect(await openRevert()).toEqual({ name: 'NotCleared', args: { wallet: account('alice') } })
})

it('openDeposit takes no USDC under its name, which the escrow would not count, and no symbol without shares', async () => {
  await chain().send('alice', 'usdc', 'approve', escrow(), usd(100))
  for (const symbol of [USDC, MSFT, ZERO_BYTES32]) {
    expect(await openRevert(symbol, 1n)).toMatchObject({ name: 'SafeERC20FailedOperation' })
  }
})

it('shares come into the escrow by no other way than its own', async () => {
  await chain().send('alice', 'aapl', 'approve', account('carol'), 1n)
  const refusal = { name: 'NotCleared', args: { wallet: escrow() } }
  expect(await chain().revert('alice', 'aapl', 'transfer', escrow(), 1n)).toEqual(refusal)
  const moved = [account('alice'), escrow(), 1n]
  expect(await chain().revert('carol', 'aapl', 'transferFrom', ...moved)).toEqual(refusal)
})

describe('a deposit of shares', () => {
  let order: BoundOrder
  beforeEach(async () => {
    await chain().send('alice', 'escrow', 'openDeposit', ...(await open()))
    order = await orderOf(chain(), ID)
  })

  it('is ended only by what names its symbol and amount', async () => {
    const next = await nextOf('alice')
    const others = [
      { asset: USDC },
      { asset: MSFT },
      { asset: ZERO_BYTES32 },
      { amount: shares(4) - 1n },
      { asset: ZERO_BYTES32, amount: 0n },
    ]
    for (const other of others) {
      const wrong = { ...order, ...other }
      const mismatch = { name: 'OrderMismatch', args: { orderId: ID } }
      expect(await relayRevert(settlement(wrong, next))).toEqual(mismatch)
      expect(await relayRevert(refund(wrong, next))).toEqual(mismatch)
      expect(await relayRevert(portfolioUpdate(wrong, next))).toEqual(mismatch)
    }
  })
})
