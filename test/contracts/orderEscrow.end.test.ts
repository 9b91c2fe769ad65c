import { describe, expect, it } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import {
  batchMint,
  ENCLAVE_BLOB,
  portfolioUpdate,
  refund,
  settlement,
  signedCall,
  USER_BLOB,
} from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import {
  AAPL,
  bytes32,
  DAY,
  FUNDS,
  ORG,
  openBuy,
  openRequest,
  setUpInstitution,
  shares,
  soon,
  USDC,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import type { Role } from '../support/roles.js'

const EMPTY = { enclaveBlob: '0x', userBlob: '0x' } as const
const STATE = { OPEN: 1n, SETTLED: 2n, REFUNDED: 3n }

const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await set.send('relayer', ...signedCall(set, batchMint(AAPL, shares(100))))
})

const account = (role: Role): Hex => chain().account(role)
const relay = (authorization: Authorization) => chain().send('relayer', ...signedCall(chain(), authorization))
const relayRevert = (authorization: Authorization) =>
  chain().revert('relayer', ...signedCall(chain(), authorization))
const reclaimRevert = (from: Role, orderId: Hex) => chain().revert(from, 'escrow', 'reclaim', orderId)
const usdcOf = (address: Hex) => chain().read('usdc', 'balanceOf', address)
const sharesOf = (address: Hex) => chain().read('token', 'balanceOf', address, BigInt(AAPL))
const versionOf = (role: Role) => chain().read('ledger', 'portfolioVersion', accountIdOf(account(role)))

async function stateOf(orderId: Hex): Promise<unknown> {
  const order = await chain().read('escrow', 'orders', orderId)
  return Array.isArray(order) ? order.at(-1) : undefined
}
async function ourEvents(sent: ReturnType<typeof relay>) {
  const declared = ['OrderSettled', 'OrderRefunded', 'PortfolioUpdated']
  return chain()
    .events(await sent)
    .filter(({ name }) => declared.includes(name))
    .map(({ name, args }) => [name, ...args])
}
/** Every order in the escrow has ended. */
async function expectNothingOpen(role: Role): Promise<void> {
  expect(await chain().read('escrow', 'openOrders')).toBe(0n)
  expect(await chain().read('escrow', 'openOrdersOf', ORG)).toBe(0n)
  expect(await chain().read('escrow', 'openOrdersBy', account(role))).toBe(0n)
  expect(await usdcOf(chain().addressOf('escrow'))).toBe(0n)
}

describe('settle', () => {
  it('moves all of the escrowed USDC to the pool and writes the account’s portfolio', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    expect(await ourEvents(relay(settlement(orderId)))).toEqual([
      ['OrderSettled', orderId, usd(1_000), ZERO_BYTES32, 0n],
      ['PortfolioUpdated', accountIdOf(account('alice')), 1n],
    ])
    expect(await stateOf(orderId)).toBe(STATE.SETTLED)
    expect(await usdcOf(chain().addressOf('pool'))).toBe(usd(1_000))
    expect(await usdcOf(account('alice'))).toBe(FUNDS - usd(1_000))
    expect(await chain().read('ledger', 'enclaveBlob', accountIdOf(account('alice')))).toBe(ENCLAVE_BLOB)
    expect(await chain().read('ledger', 'userBlob', accountIdOf(account('alice')))).toBe(USER_BLOB)
    await expectNothingOpen('alice')
  })

  it('pays USDC of the pool to the account, of which the order’s own may be a part', async () => {
    await relay(settlement(await openBuy(chain(), 'bob', 'another’s buy', usd(50))))
    const orderId = await openRequest(chain(), 'alice', 'withdrawal')
    expect(
      await ourEvents(relay(settlement(orderId, { payoutAsset: USDC, payout: usd(50) }))),
    ).toContainEqual(['OrderSettled', orderId, 0n, USDC, usd(50)])
    expect(await usdcOf(account('alice'))).toBe(FUNDS + usd(50))
    const buy = await openBuy(chain(), 'alice', 'buy', usd(7))
    await relay(settlement(buy, { payoutAsset: USDC, payout: usd(7), version: 2n }))
    expect(await usdcOf(account('alice'))).toBe(FUNDS + usd(50))
  })

  it('pays shares of the pool to the account', async () => {
    const orderId = await openRequest(chain(), 'alice', 'withdrawal')
    await relay(settlement(orderId, { payoutAsset: AAPL, payout: shares(3) }))
    expect(await sharesOf(account('alice'))).toBe(shares(3))
    expect(await sharesOf(chain().addressOf('pool'))).toBe(shares(97))
  })

  it('may come after the deadline, as long as the order is open', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(10))
    await chain().mineAt((await soon(chain())) + 30 * DAY)
    await relay(settlement(orderId))
    expect(await stateOf(orderId)).toBe(STATE.SETTLED)
  })

  it('refuses an asset without an amount, and an amount without an asset', async () => {
    const orderId = await openRequest(chain(), 'alice', 'withdrawal')
    expect(await relayRevert(settlement(orderId, { payoutAsset: AAPL }))).toEqual({
      name: 'InvalidPayout',
      args: { asset: AAPL, amount: '0' },
    })
    expect(await relayRevert(settlement(orderId, { payout: 1n }))).toEqual({
      name: 'InvalidPayout',
      args: { asset: ZERO_BYTES32, amount: '1' },
    })
  })

  it('refuses what the pool does not hold, and then nothing has happened', async () => {
    const orderId = await openRequest(chain(), 'alice', 'withdrawal')
    const short = (payoutAsset: Hex, payout: bigint) =>
      relayRevert(settlement(orderId, { payoutAsset, payout }))
    expect(await short(USDC, 1n)).toEqual({
      name: 'PoolShort',
      args: { asset: USDC, available: '0', needed: '1' },
    })
    expect(await short(AAPL, shares(100) + 1n)).toEqual({
      name: 'PoolShort',
      args: { asset: AAPL, available: `${shares(100)}`, needed: `${shares(100) + 1n}` },
    })
    expect(await stateOf(orderId)).toBe(STATE.OPEN)
    expect(await versionOf('alice')).toBe(0n)
  })

  it('refuses shares to a wallet without KYC or frozen in the symbol, while USDC is paid', async () => {
    const orderId = await openRequest(chain(), 'alice', 'withdrawal')
    const toAlice = settlement(orderId, { payoutAsset: AAPL, payout: 1n })
    await chain().send('owner', 'token', 'setFrozen', AAPL, account('alice'), true)
    expect(await relayRevert(toAlice)).toEqual({
      name: 'WalletFrozen',
      args: { symbol: AAPL, wallet: account('alice') },
    })
    await chain().send('owner', 'token', 'setKyc', account('alice'), false)
    expect(await relayRevert(toAlice)).toEqual({ name: 'NotCleared', args: { wallet: account('alice') } })
    await relay(settlement(await openBuy(chain(), 'bob', 'another’s buy', usd(1))))
    expect(await relayRevert(settlement(orderId, { payoutAsset: USDC, payout: usd(1) }))).toBeNull()
  })

  it('refuses any version but the next, and empty blobs', async () => {
    const orderId = await openRequest(chain(), 'alice', 'sale')
    for (const version of [0n, 2n]) {
      expect(await relayRevert(settlement(orderId, { version }))).toEqual({
        name: 'VersionConflict',
        args: { expected: '1', got: `${version}` },
      })
    }
    const empties: Partial<typeof EMPTY>[] = [EMPTY, { enclaveBlob: '0x' }, { userBlob: '0x' }]
    for (const empty of empties) {
      expect(await relayRevert(settlement(orderId, empty))).toEqual({ name: 'EmptyBlob', args: {} })
    }
  })
})

describe('refund', () => {
  it('gives the USDC back and writes the portfolio', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    expect(await ourEvents(relay(refund(orderId)))).toEqual([
      ['OrderRefunded', orderId, account('alice'), usd(1_000)],
      ['PortfolioUpdated', accountIdOf(account('alice')), 1n],
    ])
    expect(await stateOf(orderId)).toBe(STATE.REFUNDED)
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
    await expectNothingOpen('alice')
  })

  it('writes no portfolio with empty blobs', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    expect(await ourEvents(relay(refund(orderId, { version: 0n, ...EMPTY })))).toEqual([
      ['OrderRefunded', orderId, account('alice'), usd(1_000)],
    ])
    expect(await versionOf('alice')).toBe(0n)
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
  })

  it('with empty blobs is void once the portfolio was written', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    await relay(portfolioUpdate(account('alice')))
    expect(await relayRevert(refund(orderId, { version: 0n, ...EMPTY }))).toEqual({
      name: 'VersionConflict',
      args: { expected: '1', got: '0' },
    })
    expect(await relayRevert(refund(orderId, { version: 1n, ...EMPTY }))).toBeNull()
  })

  it('with blobs refuses any version but the next; one blob alone is refused', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    expect(await relayRevert(refund(orderId, { version: 0n }))).toEqual({
      name: 'VersionConflict',
      args: { expected: '1', got: '0' },
    })
    expect(await relayRevert(refund(orderId, { enclaveBlob: '0x' }))).toEqual({ name: 'EmptyBlob', args: {} })
    expect(await relayRevert(refund(orderId, { userBlob: '0x' }))).toEqual({ name: 'EmptyBlob', args: {} })
  })

  it('of a request pays nothing', async () => {
    const orderId = await openRequest(chain(), 'carol', 'sale')
    await relay(refund(orderId))
    expect(await usdcOf(account('carol'))).toBe(FUNDS)
    expect(await chain().read('escrow', 'openOrdersOf', ZERO_BYTES32)).toBe(0n)
  })
})

describe('reclaim', () => {
  it('is the account’s from exactly seven days after the deadline', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    const order = await chain().read('escrow', 'orders', orderId)
    const availableAt = Number(Array.isArray(order) ? order[2] : 0) + 7 * DAY
    await chain().mineAt(availableAt - 1)
    expect(await reclaimRevert('alice', orderId)).toEqual({
      name: 'ReclaimTooEarly',
      args: { availableAt: `${availableAt}`, currentTime: `${availableAt - 1}` },
    })
    await chain().provider.send('evm_setNextBlockTimestamp', [availableAt])
    expect(await ourEvents(chain().send('alice', 'escrow', 'reclaim', orderId))).toEqual([
      ['OrderRefunded', orderId, account('alice'), usd(1_000)],
    ])
    expect(await chain().now()).toBe(availableAt)
    expect(await stateOf(orderId)).toBe(STATE.REFUNDED)
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
    await expectNothingOpen('alice')
  })

  it('is nobody else’s: not the owner’s, not the admin’s', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    await chain().mineAt((await soon(chain())) + 8 * DAY)
    for (const role of ['owner', 'admin', 'bob'] as const) {
      expect(await reclaimRevert(role, orderId)).toEqual({
        name: 'NotOrderAccount',
        args: { expected: account('alice'), caller: account(role) },
      })
    }
  })

  it('needs neither KYC nor membership', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    await chain().send('owner', 'token', 'setKyc', account('alice'), false)
    await chain().send('admin', 'registry', 'setMember', account('alice'), false)
    await chain().mineAt((await soon(chain())) + 8 * DAY)
    await chain().send('alice', 'escrow', 'reclaim', orderId)
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
  })

  it('of a request pays nothing', async () => {
    const orderId = await openRequest(chain(), 'alice', 'sale')
    await chain().mineAt((await soon(chain())) + 8 * DAY)
    await chain().send('alice', 'escrow', 'reclaim', orderId)
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
  })
})

describe('an order that is not open', () => {
  const NONE = bytes32('never opened')
  const late = async () => chain().mineAt((await soon(chain())) + 8 * DAY)

  it.each([
    ['never opened', '0', async () => NONE],
    [
      'settled',
      '2',
      async () => {
        const orderId = await openBuy(chain(), 'alice', 'buy', usd(9))
        await relay(settlement(orderId))
        return orderId
      },
    ],
    [
      'refunded',
      '3',
      async () => {
        const orderId = await openBuy(chain(), 'alice', 'buy', usd(9))
        await relay(refund(orderId))
        return orderId
      },
    ],
    [
      'reclaimed',
      '3',
      async () => {
        const orderId = await openBuy(chain(), 'alice', 'buy', usd(9))
        await late()
        await chain().send('alice', 'escrow', 'reclaim', orderId)
        return orderId
      },
    ],
  ])('(%s) is neither settled, nor refunded, nor reclaimed', async (_, state, prepare) => {
    const orderId = await prepare()
    const refusal = { name: 'OrderNotOpen', args: { orderId, state } }
    expect(await relayRevert(settlement(orderId, { version: 2n }))).toEqual(refusal)
    expect(await relayRevert(refund(orderId, { version: 2n }))).toEqual(refusal)
    expect(await reclaimRevert('alice', orderId)).toEqual(refusal)
  })
})
