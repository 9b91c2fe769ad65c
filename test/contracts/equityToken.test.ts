import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { batchMint, orderOf, settlement, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import {
  AAPL,
  MSFT,
  openRequest,
  setUpInstitution,
  shares,
  USDC,
  ZERO_BYTES32,
} from '../support/institution.js'
import type { Role } from '../support/roles.js'

const ID = BigInt(AAPL)

// Alice and Carol hold 10 shares of AAPL each, the pool 80.
const chain = useChain(async (set) => {
  await setUpInstitution(set)
  // They act in their own name here, as their code does.
  for (const contract of ['pool', 'escrow'] as const) {
    await set.provider.send('anvil_impersonateAccount', [set.addressOf(contract)])
    await set.provider.send('anvil_setBalance', [set.addressOf(contract), '0xde0b6b3a7640000'])
  }
  await set.send('relayer', ...signedCall(set, batchMint(AAPL, shares(100))))
  for (const role of ['alice', 'carol'] as const) {
    const order = await orderOf(set, await openRequest(set, role, `${role} withdraws`))
    const payout = { payoutAsset: AAPL, payout: shares(10) }
    await set.send('relayer', ...signedCall(set, settlement(order, payout)))
  }
})

const account = (role: Role): Hex => chain().account(role)
const pool = () => chain().addressOf('pool')
const escrow = () => chain().addressOf('escrow')
const own = (method: string, ...args: unknown[]) => chain().send('owner', 'token', method, ...args)
const read = (method: string, ...args: unknown[]) => chain().read('token', method, ...args)
const revert = (from: Role | Hex, method: string, ...args: unknown[]) =>
  chain().revert(from, 'token', method, ...args)
async function events(sent: ReturnType<typeof own>) {
  return chain()
    .events(await sent)
    .map(({ name, args }) => [name, ...args])
}

describe('the flags', () => {
  it('KYC: is set, told, and cleared; an unchanged flag tells nothing', async () => {
    const dave = account('dave')
    expect(await events(own('setKyc', dave, true))).toEqual([['KycUpdated', dave, true]])
    expect(await read('isKyc', dave)).toBe(true)
    expect(await events(own('setKyc', dave, true))).toEqual([])
    expect(await events(own('setKyc', dave, false))).toEqual([['KycUpdated', dave, false]])
    expect(await read('isKyc', dave)).toBe(false)
  })

  it('freeze: is per symbol and wallet, and needs no listing', async () => {
    const alice = account('alice')
    expect(await events(own('setFrozen', MSFT, alice, true))).toEqual([['FreezeUpdated', MSFT, alice, true]])
    expect(await read('isFrozen', MSFT, alice)).toBe(true)
    expect(await read('isFrozen', AAPL, alice)).toBe(false)
    expect(await read('isFrozen', MSFT, account('bob'))).toBe(false)
    expect(await events(own('setFrozen', MSFT, alice, true))).toEqual([])
    expect(await events(own('setFrozen', MSFT, alice, false))).toEqual([
      ['FreezeUpdated', MSFT, alice, false],
    ])
    expect(await read('isFrozen', MSFT, alice)).toBe(false)
  })

  it('listing: listed, delisted and listed again', async () => {
    expect(await events(own('setListed', MSFT, true))).toEqual([['ListingUpdated', MSFT, true]])
    expect(await read('listedSymbols')).toEqual([AAPL, MSFT])
    expect(await events(own('setListed', MSFT, true))).toEqual([])
    expect(await events(own('setListed', AAPL, false))).toEqual([['ListingUpdated', AAPL, false]])
    expect(await read('listedSymbols')).toEqual([MSFT])
    expect(await read('isListed', AAPL)).toBe(false)
    expect(await events(own('setListed', AAPL, false))).toEqual([])
    await own('setListed', AAPL, true)
    expect(await read('isListed', AAPL)).toBe(true)
    expect(new Set(await listed())).toEqual(new Set([AAPL, MSFT]))
  })

  it('are the owner’s alone', async () => {
    const refusal = { name: 'NotOwner', args: { expected: account('owner'), caller: account('admin') } }
    expect(await revert('admin', 'setKyc', account('admin'), true)).toEqual(refusal)
    expect(await revert('admin', 'setListed', MSFT, true)).toEqual(refusal)
    expect(await revert('admin', 'setFrozen', MSFT, account('alice'), true)).toEqual(refusal)
  })

  it('exist for no equity called USDC, and for none without a well-formed name', async () => {
    const unnamed: Hex[] = [ZERO_BYTES32, `0x${'41'.repeat(32)}`, `0x00${'41'.padEnd(62, '0')}`]
    for (const flag of [true, false]) {
      expect(await revert('owner', 'setListed', USDC, flag)).toEqual({
        name: 'ReservedSymbol',
        args: { symbol: USDC },
      })
      expect(await revert('owner', 'setFrozen', USDC, account('alice'), flag)).toEqual({
        name: 'ReservedSymbol',
        args: { symbol: USDC },
      })
      for (const symbol of unnamed) {
        const refusal = { name: 'InvalidName', args: { name: symbol } }
        expect(await revert('owner', 'setListed', symbol, flag)).toEqual(refusal)
        expect(await revert('owner', 'setFrozen', symbol, account('alice'), flag)).toEqual(refusal)
      }
    }
  })

  async function listed(): Promise<unknown[]> {
    const symbols = await read('listedSymbols')
    return Array.isArray(symbols) ? symbols : []
  }
})

describe('mint and burn', () => {
  it('are the pool’s alone', async () => {
    for (const role of ['owner', 'relayer', 'alice'] as const) {
      const refusal = { name: 'NotPool', args: { expected: pool(), caller: account(role) } }
      expect(await revert(role, 'mint', AAPL, 1n)).toEqual(refusal)
      expect(await revert(role, 'burn', AAPL, 1n)).toEqual(refusal)
    }
  })

  it('work whatever the flags say, on the pool’s own holding', async () => {
    await own('setListed', AAPL, false)
    await own('setFrozen', AAPL, pool(), true)
    expect(await revert(pool(), 'mint', AAPL, 1n)).toBeNull()
    expect(await revert(pool(), 'burn', AAPL, shares(80))).toBeNull()
    expect(await revert(pool(), 'burn', AAPL, shares(80) + 1n)).toEqual({
      name: 'ERC6909InsufficientBalance',
      args: { sender: pool(), balance: `${shares(80)}`, needed: `${shares(80) + 1n}`, id: `${ID}` },
    })
  })

  it('make no equity called USDC or without a name', async () => {
    expect(await revert(pool(), 'mint', USDC, 1n)).toMatchObject({ name: 'ReservedSymbol' })
    expect(await revert(pool(), 'mint', ZERO_BYTES32, 1n)).toMatchObject({ name: 'InvalidName' })
  })
})

interface Flags {
  kyc: Record<'alice' | 'bob' | 'carol', boolean>
  frozen: Record<'alice' | 'bob' | 'carol', boolean>
  listed: boolean
}
type Party = 'alice' | 'bob' | 'carol' | 'pool' | 'escrow'

/**
 * The rule, stated once more: every party but the pool is cleared and not frozen; wallets trade what is listed. The escrow
 * receives from the pool alone, and pays claims.
 */
function expected({ kyc, frozen, listed }: Flags, from: Party, to: Party, caller: Party) {
  if (from === 'pool' && to === 'escrow') return null
  for (const party of from === 'escrow' ? [to] : [from, caller, to]) {
    if (party === 'pool') continue
    if (party === 'escrow') return { name: 'NotCleared', args: { wallet: escrow() } }
    if (!kyc[party]) return { name: 'NotCleared', args: { wallet: account(party) } }
    if (frozen[party]) return { name: 'WalletFrozen', args: { symbol: AAPL, wallet: account(party) } }
  }
  const between = ![from, to].some((party) => party === 'pool' || party === 'escrow')
  if (between && !listed) return { name: 'NotListed', args: { symbol: AAPL } }
  return null
}

/** Every combination of listing and of two wallets' KYC and freeze. */
const COMBINATIONS = Array.from({ length: 32 }, (_, bits): Flags => {
  const on = (bit: number) => (bits & (1 << bit)) !== 0
  return {
    kyc: { alice: on(0), bob: on(1), carol: true },
    frozen: { alice: on(2), bob: on(3), carol: false },
    listed: on(4),
  }
})

describe('a transfer', () => {
  it('is bound by every combination of KYC, freeze and listing, between wallets, with pool and escrow', async () => {
    await chain().send('carol', 'token', 'setOperator', account('alice'), true)
    await chain().send(pool(), 'token', 'transfer', escrow(), ID, 5n)
    for (const flags of COMBINATIONS) {
      for (const role of ['alice', 'bob'] as const) {
        await own('setKyc', account(role), flags.kyc[role])
        await own('setFrozen', AAPL, account(role), flags.frozen[role])
      }
      await own('setListed', AAPL, flags.listed)
      const label = JSON.stringify(flags)
      const { alice, bob, carol } = { alice: account('alice'), bob: account('bob'), carol: account('carol') }
      const cases = [
        [await revert('alice', 'transfer', bob, ID, 1n), expected(flags, 'alice', 'bob', 'alice')],
        [await revert('alice', 'transfer', pool(), ID, 1n), expected(flags, 'alice', 'pool', 'alice')],
        [await revert(pool(), 'transfer', alice, ID, 1n), expected(flags, 'pool', 'alice', 'pool')],
        [await revert(pool(), 'transfer', escrow(), ID, 1n), expected(flags, 'pool', 'escrow', 'pool')],
        [await revert(escrow(), 'transfer', alice, ID, 1n), expected(flags, 'escrow', 'alice', 'escrow')],
        [await revert(escrow(), 'transfer', pool(), ID, 1n), expected(flags, 'escrow', 'pool', 'escrow')],
        [await revert('alice', 'transfer', escrow(), ID, 1n), expected(flags, 'alice', 'escrow', 'alice')],
        [await revert('alice', 'transferFrom', carol, bob, ID, 1n), expected(flags, 'carol', 'bob', 'alice')],
        [
          await revert('alice', 'transferFrom', carol, pool(), ID, 1n),
          expected(flags, 'carol', 'pool', 'alice'),
        ],
      ]
      for (const [got, want] of cases) expect(got, label).toEqual(want)
    }
  })

  it('moves shares and leaves the supply', async () => {
    await chain().send('alice', 'token', 'transfer', account('bob'), ID, shares(4))
    expect(await read('balanceOf', account('alice'), ID)).toBe(shares(6))
    expect(await read('balanceOf', account('bob'), ID)).toBe(shares(4))
    expect(await read('totalSupply', ID)).toBe(shares(100))
  })

  it('of more than is held, or by a spender without leave, is refused', async () => {
    expect(await revert('alice', 'transfer', account('bob'), ID, shares(10) + 1n)).toEqual({
      name: 'ERC6909InsufficientBalance',
      args: { sender: account('alice'), balance: `${shares(10)}`, needed: `${shares(10) + 1n}`, id: `${ID}` },
    })
    expect(await revert('bob', 'transferFrom', account('alice'), account('bob'), ID, 1n)).toEqual({
      name: 'ERC6909InsufficientAllowance',
      args: { spender: account('bob'), allowance: '0', needed: '1', id: `${ID}` },
    })
  })

  it('to the zero address is refused: it would burn', async () => {
    const nobody = `0x${'00'.repeat(20)}`
    expect(await revert('alice', 'transfer', nobody, ID, 1n)).toEqual({
      name: 'ERC6909InvalidReceiver',
      args: { receiver: nobody },
    })
  })

  it('by an allowance uses it up', async () => {
    await chain().send('alice', 'token', 'approve', account('bob'), ID, 5n)
    await chain().send('bob', 'token', 'transferFrom', account('alice'), account('bob'), ID, 5n)
    expect(await read('allowance', account('alice'), account('bob'), ID)).toBe(0n)
  })
})

describe('metadata', () => {
  it('names an equity by its symbol, with 9 decimals', async () => {
    expect(await read('name', ID)).toBe('AAPL')
    expect(await read('symbol', ID)).toBe('AAPL')
    expect(await read('symbol', BigInt(`0x${'41'.repeat(32)}`))).toBe('A'.repeat(32))
    expect(await read('symbol', 0n)).toBe('')
    expect(await read('decimals', ID)).toBe(9n)
  })

  it('supports ERC-165, ERC-6909, its supply and its metadata', async () => {
    // The ids of the EIPs: ERC-165, ERC-6909; the two extensions are the XOR of their selectors.
    for (const id of ['0x01ffc9a7', '0x0f632fb3', '0xbd85b039']) {
      expect(await read('supportsInterface', id), id).toBe(true)
    }
    expect(await read('supportsInterface', '0xffffffff')).toBe(false)
  })
})
