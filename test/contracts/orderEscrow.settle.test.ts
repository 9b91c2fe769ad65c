import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { batchMint, ENCLAVE_BLOB, settlement, signedCall, USER_BLOB } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import {
  AAPL,
  DAY,
  FUNDS,
  setUpInstitution,
  shares,
  soon,
  USDC,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import { EMPTY, orderActions, STATE } from '../support/orderActions.js'

const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await set.send('relayer', ...signedCall(set, batchMint(AAPL, shares(100))))
})
const {
  account,
  buy,
  expectNothingOpen,
  nextOf,
  orderEvents,
  relay,
  relayRevert,
  request,
  sharesOf,
  stateOf,
  usdcOf,
  versionOf,
} = orderActions(chain)

describe('settle', () => {
  it('moves all of the escrowed USDC to the pool and writes the account’s portfolio', async () => {
    const order = await buy('alice', 'buy', usd(1_000))
    expect(await orderEvents(relay(settlement(order)))).toEqual([
      ['OrderSettled', order.orderId, usd(1_000), ZERO_BYTES32, 0n],
      ['PortfolioUpdated', accountIdOf(account('alice')), 1n],
    ])
    expect(await stateOf(order.orderId)).toBe(STATE.SETTLED)
    expect(await usdcOf(chain().addressOf('pool'))).toBe(usd(1_000))
    expect(await usdcOf(account('alice'))).toBe(FUNDS - usd(1_000))
    expect(await chain().read('ledger', 'enclaveBlob', accountIdOf(account('alice')))).toBe(ENCLAVE_BLOB)
    expect(await chain().read('ledger', 'userBlob', accountIdOf(account('alice')))).toBe(USER_BLOB)
    await expectNothingOpen('alice')
  })

  it('pays USDC of the pool to the account, of which the order’s own may be a part', async () => {
    await relay(settlement(await buy('bob', 'another’s buy', usd(50))))
    const withdrawal = await request('alice', 'withdrawal')
    const paid = { payoutAsset: USDC, payout: usd(50) }
    expect(await orderEvents(relay(settlement(withdrawal, paid)))).toContainEqual([
      'OrderSettled',
      withdrawal.orderId,
      0n,
      USDC,
      usd(50),
    ])
    expect(await usdcOf(account('alice'))).toBe(FUNDS + usd(50))
    const bought = await buy('alice', 'buy', usd(7))
    await relay(settlement(bought, { payoutAsset: USDC, payout: usd(7), ...(await nextOf('alice')) }))
    expect(await usdcOf(account('alice'))).toBe(FUNDS + usd(50))
  })

  it('pays shares of the pool to the account', async () => {
    const order = await request('alice', 'withdrawal')
    await relay(settlement(order, { payoutAsset: AAPL, payout: shares(3) }))
    expect(await sharesOf(account('alice'))).toBe(shares(3))
    expect(await sharesOf(chain().addressOf('pool'))).toBe(shares(97))
  })

  it('may come after the deadline, as long as the order is open', async () => {
    const order = await buy('alice', 'buy', usd(10))
    await chain().mineAt((await soon(chain())) + 30 * DAY)
    await relay(settlement(order))
    expect(await stateOf(order.orderId)).toBe(STATE.SETTLED)
  })

  it('refuses an asset without an amount, and an amount without an asset', async () => {
    const order = await request('alice', 'withdrawal')
    expect(await relayRevert(settlement(order, { payoutAsset: AAPL }))).toEqual({
      name: 'InvalidPayout',
      args: { asset: AAPL, amount: '0' },
    })
    expect(await relayRevert(settlement(order, { payout: 1n }))).toEqual({
      name: 'InvalidPayout',
      args: { asset: ZERO_BYTES32, amount: '1' },
    })
  })

  it('refuses what the pool does not hold, and then nothing has happened', async () => {
    const order = await request('alice', 'withdrawal')
    const short = (payoutAsset: Hex, payout: bigint) =>
      relayRevert(settlement(order, { payoutAsset, payout }))
    expect(await short(USDC, 1n)).toEqual({
      name: 'PoolShort',
      args: { asset: USDC, available: '0', needed: '1' },
    })
    expect(await short(AAPL, shares(100) + 1n)).toEqual({
      name: 'PoolShort',
      args: { asset: AAPL, available: `${shares(100)}`, needed: `${shares(100) + 1n}` },
    })
    await expect(relay(settlement(order, { payoutAsset: USDC, payout: 1n }))).rejects.toThrow(/reverted/)
    expect(await stateOf(order.orderId)).toBe(STATE.OPEN)
    expect(await versionOf('alice')).toBe(0n)
    expect(await chain().read('escrow', 'openOrders')).toBe(1n)
  })

  it('refuses any version but the next, another history, and empty blobs', async () => {
    const order = await request('alice', 'sale')
    for (const version of [0n, 2n]) {
      expect(await relayRevert(settlement(order, { version }))).toEqual({
        name: 'VersionConflict',
        args: { expected: '1', got: `${version}` },
      })
    }
    expect(await relayRevert(settlement(order, { previous: order.orderId }))).toEqual({
      name: 'HistoryConflict',
      args: { expected: ZERO_BYTES32, got: order.orderId },
    })
    const empties: Partial<typeof EMPTY>[] = [EMPTY, { enclaveBlob: '0x' }, { userBlob: '0x' }]
    for (const empty of empties) {
      expect(await relayRevert(settlement(order, empty))).toEqual({ name: 'EmptyBlob', args: {} })
    }
  })
})
