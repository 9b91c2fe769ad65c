// A member leaves by itself, after a fixed time. Neither it nor its admin can defer that, and it cannot be used ahead.

import { beforeEach, describe, expect, it } from 'vitest'
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
const ZERO: Hex = `0x${'00'.repeat(20)}`

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
const leaving = (role: Role, effectiveAt: number) => ({
  name: 'Leaving',
  args: { wallet: account(role), effectiveAt: `${effectiveAt}` },
})

describe('leaveInstitution', () => {
  it('takes effect by itself, to the second', async () => {
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

  it('blocks buying from the call on', async () => {
    expect(await buyRevert('alice')).toBeNull()
    const effectiveAt = await leave('alice')
    expect(await buyRevert('alice')).toEqual(leaving('alice', effectiveAt))
    await chain().mineAt(effectiveAt - 1)
    expect(await buyRevert('alice')).toEqual(leaving('alice', effectiveAt))
    await chain().mineAt(effectiveAt)
    expect(await buyRevert('alice')).toEqual({ name: 'NotAdmitted', args: { orgId: ZERO_BYTES32 } })
    expect(await buyRevert('bob')).toBeNull()
  })

  it('cannot be repeated, so that it is never later than said', async () => {
    const effectiveAt = await leave('alice')
    await chain().mineAt(effectiveAt - DAY)
    expect(await revert('alice', 'leaveInstitution')).toEqual(leaving('alice', effectiveAt))
  })

  it('cannot be armed ahead: not before joining, and not for the next institution', async () => {
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

  it('is not open to an admin, until he has handed over', async () => {
    expect(await revert('admin', 'leaveInstitution')).toEqual({
      name: 'AdminCannotLeave',
      args: { orgId: ORG },
    })
    await send('admin', 'transferAdmin', account('alice'))
    await send('alice', 'acceptAdmin', ORG)
    expect(await buyRevert('admin')).toBeNull()
    const effectiveAt = await leave('admin')
    expect(await buyRevert('admin')).toEqual(leaving('admin', effectiveAt))
    expect(await read('walletCount', ORG)).toBe(1n)
  })

  it('keeps an open order as it is, and under its institution', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(5))
    await chain().mineAt(await leave('alice'))
    expect(await chain().read('escrow', 'orders', orderId)).toContain(ORG)
    expect(await chain().read('escrow', 'openOrdersOf', ORG)).toBe(1n)
  })
})

describe('while a member is leaving', () => {
  let effectiveAt: number
  beforeEach(async () => {
    effectiveAt = await leave('alice')
  })
  const inOrg = (role: Role) => ({
    name: 'AlreadyInInstitution',
    args: { wallet: account(role), orgId: ORG },
  })

  it('it enters no other institution: not invited, not as founder, not as admin', async () => {
    expect(await revert('carol', 'setMember', account('alice'), true)).toEqual(inOrg('alice'))
    expect(await revert('carol', 'transferAdmin', account('alice'))).toEqual(inOrg('alice'))
    expect(await revert('alice', 'registerInstitution', nameToBytes32('Cumulus'))).toEqual(inOrg('alice'))
  })

  it('its admin cannot call it back, by an invitation or as the next admin', async () => {
    expect(await revert('admin', 'setMember', account('alice'), true)).toEqual(inOrg('alice'))
    expect(await revert('admin', 'transferAdmin', account('alice'))).toEqual(leaving('alice', effectiveAt))
  })

  it('its admin can remove it at once, and counts it no second time', async () => {
    expect(await read('walletCount', ORG)).toBe(1n)
    await send('admin', 'setMember', account('alice'), false)
    expect(await read('orgOf', account('alice'))).toBe(ZERO_BYTES32)
    expect(await read('leavingAt', account('alice'))).toBe(0n)
    expect(await read('walletCount', ORG)).toBe(1n)
  })

  it('removed and invited again, it is a member like any other', async () => {
    await send('admin', 'setMember', account('alice'), false)
    await send('admin', 'setMember', account('alice'), true)
    await send('alice', 'join', ORG)
    await chain().mineAt(effectiveAt)
    expect(await read('orgOf', account('alice'))).toBe(ORG)
    expect(await read('walletCount', ORG)).toBe(2n)
    expect(await buyRevert('alice')).toBeNull()
  })
})

describe('a member who has left', () => {
  beforeEach(async () => {
    await chain().mineAt(await leave('alice'))
  })

  it('is no member to the former admin any more', async () => {
    expect(await revert('admin', 'setMember', account('alice'), false)).toEqual({
      name: 'NotMember',
      args: { orgId: ORG, wallet: account('alice') },
    })
    expect(await revert('alice', 'leaveInstitution')).toEqual({
      name: 'NotMember',
      args: { orgId: ZERO_BYTES32, wallet: account('alice') },
    })
  })

  it('can come back, found an institution, or become an admin', async () => {
    await send('admin', 'setMember', account('alice'), true)
    expect(await revert('alice', 'join', ORG)).toBeNull()
    await send('admin', 'transferAdmin', account('alice'))
    expect(await revert('alice', 'acceptAdmin', ORG)).toBeNull()
    await send('alice', 'registerInstitution', nameToBytes32('Cumulus'))
    await send('owner', 'setAdmitted', nameToBytes32('Cumulus'), account('alice'), true)
    expect(await read('orgOf', account('alice'))).toBe(nameToBytes32('Cumulus'))
    expect(await buyRevert('alice')).toBeNull()
    expect(await revert('alice', 'acceptAdmin', ORG)).toEqual({
      name: 'AlreadyInInstitution',
      args: { wallet: account('alice'), orgId: nameToBytes32('Cumulus') },
    })
  })
})

describe('a proposal as next admin', () => {
  it('ends when the proposed member leaves: it does not come back as admin on the last day', async () => {
    await send('admin', 'transferAdmin', account('alice'))
    await leave('alice')
    expect(await read('pendingAdminOf', ORG)).toBe(ZERO)
    expect(await revert('alice', 'acceptAdmin', ORG)).toEqual({
      name: 'NotPendingAdmin',
      args: { orgId: ORG, pending: ZERO, caller: account('alice') },
    })
  })

  it('of another institution, from before it joined, is void until it has left', async () => {
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
})
