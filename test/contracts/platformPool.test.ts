import { describe, expect, it } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { batchBurn, batchMint, digestOf, orderOf, settlement, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import {
  AAPL,
  FUNDS,
  MSFT,
  openRequest,
  setUpInstitution,
  shares,
  USDC,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import type { Role } from '../support/roles.js'

const chain = useChain(setUpInstitution)

const account = (role: Role): Hex => chain().account(role)
const pool = () => chain().addressOf('pool')
const relay = (authorization: Authorization) => chain().send('relayer', ...signedCall(chain(), authorization))
const relayRevert = (authorization: Authorization) =>
  chain().revert('relayer', ...signedCall(chain(), authorization))
const revert = (from: Role, method: string, ...args: unknown[]) =>
  chain().revert(from, 'pool', method, ...args)
const usdcOf = (address: Hex) => chain().read('usdc', 'balanceOf', address)
const supplyOf = (symbol: Hex) => chain().read('token', 'totalSupply', symbol)
const heldOf = (symbol: Hex, address = pool()) => chain().read('token', 'balanceOf', address, symbol)
async function poolEvents(sent: ReturnType<typeof relay>) {
  return chain()
    .events(await sent)
    .filter(({ contract }) => contract === 'pool')
    .map(({ name, args }) => [name, ...args])
}
async function fundPool(amount: bigint): Promise<void> {
  await chain().send('bob', 'usdc', 'approve', pool(), amount)
  await chain().send('bob', 'pool', 'fund', amount)
}

describe('mintBatch', () => {
  it('mints to the pool and tells the supply after it', async () => {
    expect(await chain().read('pool', 'nextBatch', AAPL)).toBe(1n)
    expect(await poolEvents(relay(batchMint(AAPL, shares(5))))).toEqual([
      ['BatchMinted', AAPL, shares(5), shares(5)],
    ])
    expect(
      await poolEvents(relay(batchMint(AAPL, shares(2), { expectedSupply: shares(5), batch: 2n }))),
    ).toEqual([['BatchMinted', AAPL, shares(2), shares(7)]])
    expect(await chain().read('pool', 'nextBatch', AAPL)).toBe(3n)
    expect(await chain().read('pool', 'nextBatch', MSFT)).toBe(1n)
    expect(await supplyOf(AAPL)).toBe(shares(7))
    expect(await heldOf(AAPL)).toBe(shares(7))
  })

  it('mints what is not listed, but no USDC and nothing without a name', async () => {
    expect(await relayRevert(batchMint(MSFT, 1n))).toBeNull()
    expect(await relayRevert(batchMint(USDC, 1n))).toEqual({ name: 'ReservedSymbol', args: { symbol: USDC } })
    expect(await relayRevert(batchMint(ZERO_BYTES32, 1n))).toEqual({
      name: 'InvalidName',
      args: { name: ZERO_BYTES32 },
    })
  })
})

describe('burnBatch', () => {
  it('burns of the pool and tells the supply after it', async () => {
    await relay(batchMint(AAPL, shares(5)))
    expect(
      await poolEvents(relay(batchBurn(AAPL, shares(2), { expectedSupply: shares(5), batch: 2n }))),
    ).toEqual([['BatchBurned', AAPL, shares(2), shares(3)]])
    expect(await supplyOf(AAPL)).toBe(shares(3))
    expect(await heldOf(AAPL)).toBe(shares(3))
  })

  it('works on what is delisted', async () => {
    await relay(batchMint(AAPL, shares(5)))
    await chain().send('owner', 'token', 'setListed', AAPL, false)
    expect(await relayRevert(batchBurn(AAPL, shares(5), { expectedSupply: shares(5), batch: 2n }))).toBeNull()
  })

  it('does not touch shares that were withdrawn', async () => {
    await relay(batchMint(AAPL, shares(5)))
    const order = await orderOf(chain(), await openRequest(chain(), 'alice', 'withdrawal'))
    await relay(settlement(order, { payoutAsset: AAPL, payout: shares(2) }))
    expect(await relayRevert(batchBurn(AAPL, shares(4), { expectedSupply: shares(5), batch: 2n }))).toEqual({
      name: 'PoolShort',
      args: { asset: AAPL, available: `${shares(3)}`, needed: `${shares(4)}` },
    })
    expect(await heldOf(AAPL, account('alice'))).toBe(shares(2))
  })
})

describe.each([
  ['mintBatch', batchMint],
  ['burnBatch', batchBurn],
] as const)('%s', (_, build) => {
  const minted = () => relay(batchMint(AAPL, shares(5)))

  it('refuses any batch number but the next', async () => {
    await minted()
    for (const batch of [0n, 1n, 3n, 2n ** 64n - 1n]) {
      expect(await relayRevert(build(AAPL, 1n, { expectedSupply: shares(5), batch }))).toEqual({
        name: 'BatchConflict',
        args: { expected: '2', got: `${batch}` },
      })
    }
  })

  it('refuses a supply that is not the one before the batch', async () => {
    await minted()
    for (const expectedSupply of [0n, shares(5) - 1n, shares(5) + 1n, shares(6)]) {
      expect(await relayRevert(build(AAPL, 1n, { expectedSupply, batch: 2n }))).toEqual({
        name: 'SupplyConflict',
        args: { expected: `${shares(5)}`, got: `${expectedSupply}` },
      })
    }
  })

  it('says until when fills are counted, and never goes back', async () => {
    const counted = (countedUntil: bigint) => ({ expectedSupply: shares(5), batch: 2n, countedUntil })
    await relay(batchMint(AAPL, shares(5), { countedUntil: 1_000n }))
    expect(await chain().read('pool', 'countedUntil', AAPL)).toBe(1_000n)
    expect(await chain().read('pool', 'countedUntil', MSFT)).toBe(0n)
    for (const got of [0n, 999n]) {
      expect(await relayRevert(build(AAPL, 1n, counted(got)))).toEqual({
        name: 'CountedAlready',
        args: { countedUntil: '1000', got: `${got}` },
      })
    }
    // A batch for one withdrawal leaves the time as it is.
    expect(await relayRevert(build(AAPL, 1n, counted(1_000n)))).toBeNull()
    await relay(build(AAPL, 1n, counted(2_000n)))
    expect(await chain().read('pool', 'countedUntil', AAPL)).toBe(2_000n)
    expect(await chain().read('pool', 'nextBatch', AAPL)).toBe(3n)
  })

  it('refuses a batch of zero shares', async () => {
    await minted()
    expect(await relayRevert(build(AAPL, 0n, { expectedSupply: shares(5), batch: 2n }))).toEqual({
      name: 'ZeroAmount',
      args: {},
    })
  })
})

it('mints 5, burns 5 and mints 5 again: the batch number keeps the digests apart', async () => {
  const first = batchMint(AAPL, 5n)
  const third = batchMint(AAPL, 5n, { batch: 3n })
  await relay(first)
  await relay(batchBurn(AAPL, 5n, { expectedSupply: 5n, batch: 2n }))
  await relay(third)
  expect(digestOf(chain(), first)).not.toBe(digestOf(chain(), third))
  expect(await supplyOf(AAPL)).toBe(5n)
})

describe('payout', () => {
  it('is the escrow’s alone', async () => {
    for (const role of ['owner', 'relayer'] as const) {
      expect(await revert(role, 'payout', account(role), USDC, 0n)).toEqual({
        name: 'NotEscrow',
        args: { expected: chain().addressOf('escrow'), caller: account(role) },
      })
    }
  })
})

describe('fund', () => {
  it('takes USDC from anyone', async () => {
    await fundPool(usd(3))
    expect(await usdcOf(pool())).toBe(usd(3))
    expect(await usdcOf(account('bob'))).toBe(FUNDS - usd(3))
  })

  it('refuses an amount of zero, and one that is not approved', async () => {
    expect(await revert('bob', 'fund', 0n)).toEqual({ name: 'ZeroAmount', args: {} })
    expect(await revert('bob', 'fund', 1n)).toEqual({
      name: 'ERC20InsufficientAllowance',
      args: { spender: pool(), allowance: '0', needed: '1' },
    })
  })
})

describe('transferTreasury', () => {
  it('moves USDC to the broker’s funding address', async () => {
    await fundPool(usd(3))
    await chain().send('owner', 'pool', 'transferTreasury', usd(2))
    expect(await usdcOf(account('broker'))).toBe(usd(2))
    expect(await usdcOf(pool())).toBe(usd(1))
  })

  it('is the owner’s alone', async () => {
    expect(await revert('broker', 'transferTreasury', 1n)).toEqual({
      name: 'NotOwner',
      args: { expected: account('owner'), caller: account('broker') },
    })
  })

  it('refuses an amount of zero, and more than the pool holds', async () => {
    await fundPool(usd(3))
    expect(await revert('owner', 'transferTreasury', 0n)).toEqual({ name: 'ZeroAmount', args: {} })
    expect(await revert('owner', 'transferTreasury', usd(3) + 1n)).toEqual({
      name: 'PoolShort',
      args: { asset: USDC, available: `${usd(3)}`, needed: `${usd(3) + 1n}` },
    })
  })
})
