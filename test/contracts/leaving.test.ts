// A member leaves by itself, after a fixed time. Neither it nor its admin can defer that, and it cannot be used ahead.

import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'
import {
  bytes32,
  DAY,
  ORG,
  openBuy,
  setUpInstitution,
  soon,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import type { Role } from '../support/roles.js'

const LEAVE = 7 * DAY
const OTHER = nameToBytes32('Borealis')

// Alice and Bob are members of ORG; Carol is the admin of OTHER.
const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await set.send('carol', 'registry', 'registerInstitution', OTHER)
  await set.send('owner', 'registry', 'setAdmitted', OTHER, set.account('carol'), true)
})

const account = (role: Role): Hex => chain().account(role)
const send = (from: Role, method: string, ...args: unknown[]) =>
  chain().send(from, 'registry', method, ...args)
const read = (method: string, ...args: unknown[]) => chain().read('registry', method, ...args)
const revert = (from: Role, method: string, ...args: unknown[]) =>
  chain().revert(from, 'registry', method, ...args)
const buyRevert = async (role: Role) =>
  chain().revert(role, 'escrow', 'openBuy', bytes32('a'), bytes32('b'), usd(1), await soon(chain()))
/** Leaves, and returns when that takes effect. */
async function leave(role: Role): Promise<number> {
  await send(role, 'leaveInstitution')
  return (await chain().now()) + LEAVE
}

it('leaveInstitution takes effect by itself, to the second', async () => {
  const receipt = await send('alice', 'leaveInstitution')
  const effectiveAt = (await chain().now()) + LEAVE
  expect(chain().events(receipt)).toEqual([
    { contract: 'registry', name: 'MemberUpdated', args: [ORG, account('alice'), false] },
  ])
  expect(await read('leavingAt', account('alice'))).toBe(BigInt(effectiveAt))
  expect(await read('walletCount', ORG)).toBe(1n)
  await chain().mineAt(effectiveAt - 1)
  expect(await read('orgOf', account('alice'))).toBe(ORG)
  await chain().mineAt(effectiveAt)
  expect(await read('orgOf', account('alice'))).toBe(ZERO_BYTES32)
  expect(await read('orgOf', account('bob'))).toBe(ORG)
  expect(await read('walletCount', ORG)).toBe(1n)
})

it('leaveInstitution cannot be armed ahead: not before joining, and not for the next institution', async () => {
  const stranger = { name: 'NotMember', args: { orgId: ZERO_BYTES32, wallet: account('dave') } }
  expect(await revert('dave', 'leaveInstitution')).toEqual(stranger)
  await send('admin', 'setMember', account('dave'), true)
  expect(await revert('dave', 'leaveInstitution')).toEqual(stranger)
  const effectiveAt = await leave('alice')
  await chain().mineAt(effectiveAt)
  await send('carol', 'setMember', account('alice'), true)
  await send('alice', 'join', OTHER)
  expect(await read('leavingAt', account('alice'))).toBe(0n)
  await chain().mineAt(effectiveAt + LEAVE)
  expect(await read('orgOf', account('alice'))).toBe(OTHER)
  expect(await buyRevert('alice')).toBeNull()
})

it('leaveInstitution keeps an open order as it is, and under its institution', async () => {
  const orderId = await openBuy(chain(), 'alice', 'buy', usd(5))
  await chain().mineAt(await leave('alice'))
  expect(await chain().read('escrow', 'orders', orderId)).toContain(ORG)
  expect(await chain().read('escrow', 'openOrdersOf', ORG)).toBe(1n)
})

it('a proposal as next admin of another institution, from before it joined, is void until it has left', async () => {
  await send('carol', 'transferAdmin', account('dave'))
  await send('admin', 'setMember', account('dave'), true)
  await send('dave', 'join', ORG)
  const effectiveAt = await leave('dave')
  expect(await revert('dave', 'acceptAdmin', OTHER)).toEqual({
    name: 'AlreadyInInstitution',
    args: { wallet: account('dave'), orgId: ORG },
  })
  await chain().mineAt(effectiveAt)
  await send('dave', 'acceptAdmin', OTHER)
  expect(await read('orgOf', account('dave'))).toBe(OTHER)
  expect(await read('leavingAt', account('dave'))).toBe(0n)
  expect(await read('walletCount', OTHER)).toBe(1n)
})
