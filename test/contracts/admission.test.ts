import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'
import { ORG, ZERO_BYTES32 } from '../support/institution.js'
import type { Role } from '../support/roles.js'

const ZERO: Hex = `0x${'00'.repeat(20)}`
const OTHER = nameToBytes32('Borealis')

// The admin's institution is admitted; it is the only one.
const chain = useChain(async (set) => {
  await set.send('admin', 'registry', 'registerInstitution', ORG)
  await set.send('owner', 'registry', 'setAdmitted', ORG, set.account('admin'), true)
})

const account = (role: Role): Hex => chain().account(role)
const send = (from: Role, method: string, ...args: unknown[]) =>
  chain().send(from, 'registry', method, ...args)
const read = (method: string, ...args: unknown[]) => chain().read('registry', method, ...args)
const revert = (from: Role, method: string, ...args: unknown[]) =>
  chain().revert(from, 'registry', method, ...args)
const admit = (orgId: Hex, role: Role, admitted = true) =>
  send('owner', 'setAdmitted', orgId, account(role), admitted)
const admitRevert = (orgId: Hex, role: Role, admitted = true) =>
  revert('owner', 'setAdmitted', orgId, account(role), admitted)
const notFounded = (orgId: Hex, wallet: Hex) => ({ name: 'NotFounded', args: { orgId, wallet } })

describe('registerInstitution', () => {
  it('notes the founder, and makes no wallet an admin or a member', async () => {
    const receipt = await send('bob', 'registerInstitution', OTHER)
    expect(chain().events(receipt)).toEqual([
      { contract: 'registry', name: 'InstitutionRegistered', args: [OTHER, account('bob')] },
    ])
    expect(await read('foundingOf', account('bob'))).toBe(OTHER)
    expect(await read('adminOf', OTHER)).toBe(ZERO)
    expect(await read('isAdmitted', OTHER)).toBe(false)
    expect(await read('orgOf', account('bob'))).toBe(ZERO_BYTES32)
    expect(await revert('bob', 'setMember', account('carol'), true)).toEqual({
      name: 'NotAdmin',
      args: { caller: account('bob') },
    })
  })

  it('reserves no name: others found one of the same, and the owner admits whom he means', async () => {
    await send('bob', 'registerInstitution', OTHER)
    await send('carol', 'registerInstitution', OTHER)
    await admit(OTHER, 'carol')
    expect(await read('adminOf', OTHER)).toBe(account('carol'))
    expect(await read('foundingOf', account('bob'))).toBe(OTHER)
    const taken = { name: 'InstitutionTaken', args: { orgId: OTHER, admin: account('carol') } }
    expect(await admitRevert(OTHER, 'bob')).toEqual(taken)
    expect(await revert('dave', 'registerInstitution', OTHER)).toEqual(taken)
  })

  it('replaces an earlier founding of the same wallet', async () => {
    await send('bob', 'registerInstitution', OTHER)
    const second = nameToBytes32('Cumulus')
    await send('bob', 'registerInstitution', second)
    expect(await admitRevert(OTHER, 'bob')).toEqual(notFounded(OTHER, account('bob')))
    await admit(second, 'bob')
    expect(await read('adminOf', second)).toBe(account('bob'))
  })

  it('refuses an institution that exists', async () => {
    expect(await revert('bob', 'registerInstitution', ORG)).toEqual({
      name: 'InstitutionTaken',
      args: { orgId: ORG, admin: account('admin') },
    })
  })

  it('refuses a caller who is an admin or a member already', async () => {
    await send('admin', 'setMember', account('alice'), true)
    await send('alice', 'join', ORG)
    for (const role of ['admin', 'alice'] as const) {
      expect(await revert(role, 'registerInstitution', OTHER)).toEqual({
        name: 'AlreadyInInstitution',
        args: { wallet: account(role), orgId: ORG },
      })
    }
  })

  it.each([
    ['no character', ZERO_BYTES32],
    ['32 characters', `0x${'41'.repeat(32)}`],
    ['a zero byte within', `0x4100${'42'.padEnd(60, '0')}`],
    ['not left-aligned', `0x00${'41'.padEnd(62, '0')}`],
    ['a control character', `0x411f${'0'.repeat(60)}`],
    ['DEL', `0x417f${'0'.repeat(60)}`],
    ['more than ASCII', `0x41c3a9${'0'.repeat(58)}`],
    ['a space at its beginning', `0x2041${'0'.repeat(60)}`],
    ['a space at its end', `0x4120${'0'.repeat(60)}`],
  ])('refuses a name with %s', async (_, orgId) => {
    expect(await revert('bob', 'registerInstitution', orgId)).toEqual({
      name: 'InvalidName',
      args: { name: orgId },
    })
  })

  it('takes names of 1 and of 31 characters', async () => {
    const [short, long] = [nameToBytes32('!'), nameToBytes32('~'.repeat(31))]
    await send('bob', 'registerInstitution', short)
    await send('carol', 'registerInstitution', long)
    await admit(short, 'bob')
    await admit(long, 'carol')
    expect([await read('adminOf', short), await read('adminOf', long)]).toEqual([
      account('bob'),
      account('carol'),
    ])
  })
})

describe('setAdmitted', () => {
  it('makes the founder the admin, who is in the institution and not counted, without an event', async () => {
    await send('bob', 'registerInstitution', OTHER)
    expect(chain().events(await admit(OTHER, 'bob'))).toEqual([])
    expect(await read('adminOf', OTHER)).toBe(account('bob'))
    expect(await read('isAdmitted', OTHER)).toBe(true)
    expect(await read('orgOf', account('bob'))).toBe(OTHER)
    expect(await read('foundingOf', account('bob'))).toBe(ZERO_BYTES32)
    expect(await read('walletCount', OTHER)).toBe(0n)
    expect(await revert('bob', 'setMember', account('carol'), true)).toBeNull()
  })

  it('uses up the invitation that the founder had last', async () => {
    await send('bob', 'registerInstitution', OTHER)
    await send('admin', 'setMember', account('bob'), true)
    await admit(OTHER, 'bob')
    expect(await read('invitationOf', account('bob'))).toBe(ZERO_BYTES32)
  })

  it('suspends, and admits again: admin and members stay', async () => {
    await send('admin', 'setMember', account('alice'), true)
    await send('alice', 'join', ORG)
    await admit(ORG, 'admin', false)
    expect(await read('isAdmitted', ORG)).toBe(false)
    expect(await read('adminOf', ORG)).toBe(account('admin'))
    expect(await read('orgOf', account('alice'))).toBe(ORG)
    for (const role of ['admin', 'alice'] as const) {
      expect(await revert(role, 'buyerOrgOf', account(role))).toEqual({
        name: 'NotAdmitted',
        args: { orgId: ORG },
      })
    }
    await admit(ORG, 'admin')
    expect(await read('buyerOrgOf', account('alice'))).toBe(ORG)
  })

  it('refuses a founder who has entered another institution since', async () => {
    await send('bob', 'registerInstitution', OTHER)
    await send('admin', 'setMember', account('bob'), true)
    await send('bob', 'join', ORG)
    expect(await admitRevert(OTHER, 'bob')).toEqual(notFounded(OTHER, account('bob')))
    await send('carol', 'registerInstitution', OTHER)
    await send('admin', 'transferAdmin', account('carol'))
    await send('carol', 'acceptAdmin', ORG)
    expect(await admitRevert(OTHER, 'carol')).toEqual(notFounded(OTHER, account('carol')))
  })

  it('refuses a wallet that has not founded it, an empty name, and an admin who has handed over', async () => {
    await send('bob', 'registerInstitution', OTHER)
    expect(await admitRevert(OTHER, 'carol')).toEqual(notFounded(OTHER, account('carol')))
    expect(await admitRevert(ZERO_BYTES32, 'carol')).toEqual(notFounded(ZERO_BYTES32, account('carol')))
    await send('admin', 'transferAdmin', account('dave'))
    await send('dave', 'acceptAdmin', ORG)
    expect(await admitRevert(ORG, 'admin', false)).toEqual({
      name: 'InstitutionTaken',
      args: { orgId: ORG, admin: account('dave') },
    })
  })

  it('refuses to suspend an institution that was never admitted', async () => {
    await send('bob', 'registerInstitution', OTHER)
    expect(await admitRevert(OTHER, 'bob', false)).toEqual({ name: 'NotAdmitted', args: { orgId: OTHER } })
  })

  it('is the owner’s alone', async () => {
    await send('bob', 'registerInstitution', OTHER)
    for (const role of ['bob', 'admin', 'guardian', 'deployer'] as const) {
      expect(await revert(role, 'setAdmitted', OTHER, account('bob'), true)).toEqual({
        name: 'NotOwner',
        args: { expected: account('owner'), caller: account(role) },
      })
    }
  })
})

describe('buyerOrgOf', () => {
  it('is the institution of a wallet that may buy, and reverts for a wallet in none', async () => {
    expect(await read('buyerOrgOf', account('admin'))).toBe(ORG)
    expect(await revert('bob', 'buyerOrgOf', account('bob'))).toEqual({
      name: 'NotAdmitted',
      args: { orgId: ZERO_BYTES32 },
    })
  })
})
