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
