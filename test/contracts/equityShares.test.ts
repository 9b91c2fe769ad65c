// One equity's shares as wallets see them: ERC-20, EIP-2612, and the views of ERC-7943.

import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { useChain } from '../support/chain.js'
import { AAPL, MSFT, shares } from '../support/institution.js'
import { permitOf } from '../support/openings.js'
import type { Role } from '../support/roles.js'
import { setUpShares } from './fixtures/shares.js'

const chain = useChain(setUpShares)

const account = (role: Role): Hex => chain().account(role)
const pool = () => chain().addressOf('pool')
const escrow = () => chain().addressOf('escrow')
const own = (method: string, ...args: unknown[]) => chain().send('owner', 'token', method, ...args)
const read = (method: string, ...args: unknown[]) => chain().read('aapl', method, ...args)
const send = (from: Role, method: string, ...args: unknown[]) => chain().send(from, 'aapl', method, ...args)
const revert = (from: Role | Hex, method: string, ...args: unknown[]) =>
  chain().revert(from, 'aapl', method, ...args)

interface Flags {
  kyc: Record<'alice' | 'bob' | 'carol', boolean>
  frozen: Record<'alice' | 'bob' | 'carol', boolean>
  listed: boolean
}
type Party = 'alice' | 'bob' | 'carol' | 'pool' | 'escrow'

/**
 * The rule, stated once more: every party but the pool is cleared and not frozen; wallets trade what is listed. The escrow
 * receives from the pool, and what it takes itself for a deposit, and pays claims.
 */
function expected({ kyc, frozen, listed }: Flags, from: Party, to: Party, caller: Party) {
  if (to === 'escrow' && (from === 'pool' || from === 'escrow')) return null
  const parties = to === 'escrow' && caller === 'escrow' ? [from] : [from, caller, to]
  for (const party of from === 'escrow' ? [to] : parties) {
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

it('a transfer is bound by every combination of KYC, freeze and listing, between wallets, with pool and escrow', async () => {
  await chain().send('carol', 'aapl', 'approve', account('alice'), shares(10))
  await chain().send('alice', 'aapl', 'approve', escrow(), shares(10))
  await chain().send(pool(), 'aapl', 'transfer', escrow(), 5n)
  for (const flags of COMBINATIONS) {
    for (const role of ['alice', 'bob'] as const) {
      await own('setKyc', account(role), flags.kyc[role])
      await own('setFrozen', AAPL, account(role), flags.frozen[role])
    }
    await own('setListed', AAPL, flags.listed)
    const label = JSON.stringify(flags)
    const { alice, bob, carol } = { alice: account('alice'), bob: account('bob'), carol: account('carol') }
    const cases = [
      [await revert('alice', 'transfer', bob, 1n), expected(flags, 'alice', 'bob', 'alice')],
      [await revert('alice', 'transfer', pool(), 1n), expected(flags, 'alice', 'pool', 'alice')],
      [await revert(pool(), 'transfer', alice, 1n), expected(flags, 'pool', 'alice', 'pool')],
      [await revert(pool(), 'transfer', escrow(), 1n), expected(flags, 'pool', 'escrow', 'pool')],
      [await revert(escrow(), 'transfer', alice, 1n), expected(flags, 'escrow', 'alice', 'escrow')],
      [await revert(escrow(), 'transfer', pool(), 1n), expected(flags, 'escrow', 'pool', 'escrow')],
      [await revert('alice', 'transfer', escrow(), 1n), expected(flags, 'alice', 'escrow', 'alice')],
      [await revert(escrow(), 'transfer', escrow(), 1n), expected(flags, 'escrow', 'escrow', 'escrow')],
      [
        await revert(escrow(), 'transferFrom', alice, escrow(), 1n),
        expected(flags, 'alice', 'escrow', 'escrow'),
      ],
      [await revert(escrow(), 'transferFrom', alice, bob, 1n), expected(flags, 'alice', 'bob', 'escrow')],
      [await revert('alice', 'transferFrom', carol, bob, 1n), expected(flags, 'carol', 'bob', 'alice')],
      [await revert('alice', 'transferFrom', carol, pool(), 1n), expected(flags, 'carol', 'pool', 'alice')],
    ]
    for (const [got, want] of cases) expect(got, label).toEqual(want)
  }
})

it('mint and burn are the token’s alone', async () => {
  for (const caller of [account('owner'), account('alice'), pool(), escrow()]) {
    const refusal = { name: 'NotToken', args: { expected: chain().addressOf('token'), caller } }
    expect(await revert(caller, 'mint', 1n)).toEqual(refusal)
    expect(await revert(caller, 'burn', 1n)).toEqual(refusal)
  }
})

const UNTIL = 2n ** 64n - 1n

it('a permit approves without a transaction of the holder, once', async () => {
  const permit = permitOf(chain(), 'alice', { spender: account('bob'), value: 5n, deadline: UNTIL })
  await send('dave', 'permit', ...permit)
  expect(await read('allowance', account('alice'), account('bob'))).toBe(5n)
  expect(await read('nonces', account('alice'))).toBe(1n)
  expect(await revert('dave', 'permit', ...permit)).toMatchObject({ name: 'ERC2612InvalidSigner' })
})

it('a permit is the holder’s, for this equity, and for its time', async () => {
  const terms = { spender: account('bob'), value: 5n, deadline: UNTIL }
  const permit = (other: object) => permitOf(chain(), 'alice', { ...terms, ...other })
  const invalid = { name: 'ERC2612InvalidSigner' }
  expect(await revert('dave', 'permit', ...permit({ signer: 'bob' }))).toMatchObject(invalid)
  const msft = { name: 'MSFT', verifyingContract: chain().addressOf('msft') }
  expect(await revert('dave', 'permit', ...permit({ domain: msft }))).toMatchObject(invalid)
  const named = { name: 'MSFT', verifyingContract: chain().addressOf('aapl') }
  expect(await revert('dave', 'permit', ...permit({ domain: named }))).toMatchObject(invalid)
  expect(await revert('dave', 'permit', ...permit({ deadline: 1n }))).toEqual({
    name: 'ERC2612ExpiredSignature',
    args: { deadline: '1' },
  })
})

it('a permit has the domain that EIP-5267 tells', async () => {
  expect(await read('eip712Domain')).toEqual([
    '0x0f',
    ...['AAPL', '1', BigInt(chain().anvil.chainId), chain().addressOf('aapl')],
    ...[`0x${'00'.repeat(32)}`, []],
  ])
})

const canTransfer = (from: Hex, to: Hex, amount: bigint) => read('canTransfer', from, to, amount)

it('the views of ERC-7943 say who may send and receive, and what is frozen', async () => {
  const [alice, dave] = [account('alice'), account('dave')]
  expect(await read('canSend', alice)).toBe(true)
  expect(await read('canReceive', alice)).toBe(true)
  expect(await read('canSend', dave)).toBe(false)
  expect(await read('canReceive', dave)).toBe(false)
  for (const contract of [pool(), escrow()]) expect(await read('canSend', contract)).toBe(true)
  expect(await read('getFrozenTokens', alice)).toBe(0n)
  await own('setFrozen', MSFT, alice, true)
  expect(await read('canSend', alice)).toBe(true)
  await own('setFrozen', AAPL, alice, true)
  expect(await read('getFrozenTokens', alice)).toBe(2n ** 256n - 1n)
  expect(await read('canSend', alice)).toBe(false)
  expect(await read('canReceive', alice)).toBe(false)
})

it('the views of ERC-7943 say whether a transfer would go through, as far as the holder sends it', async () => {
  const [alice, bob] = [account('alice'), account('bob')]
  const nobody: Hex = `0x${'00'.repeat(20)}`
  expect(await canTransfer(alice, bob, shares(10))).toBe(true)
  expect(await canTransfer(alice, bob, shares(10) + 1n)).toBe(false)
  expect(await canTransfer(alice, nobody, 1n)).toBe(false)
  expect(await canTransfer(nobody, alice, 0n)).toBe(false)
  expect(await canTransfer(alice, escrow(), 1n)).toBe(false)
  expect(await canTransfer(alice, account('dave'), 1n)).toBe(false)
  await own('setListed', AAPL, false)
  expect(await canTransfer(alice, bob, 1n)).toBe(false)
  expect(await canTransfer(alice, pool(), 1n)).toBe(true)
})

it('metadata names an equity by its symbol, with 9 decimals', async () => {
  expect(await read('name')).toBe('AAPL')
  expect(await read('symbol')).toBe('AAPL')
  expect(await read('decimals')).toBe(9n)
  expect(await read('equity')).toBe(AAPL)
  expect(await read('token')).toBe(chain().addressOf('token'))
})
