import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'
import { ORG, ZERO_BYTES32 } from '../support/institution.js'
import type { Role } from '../support/roles.js'

const ZERO = `0x${'00'.repeat(20)}`
const OTHER = nameToBytes32('Borealis')

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
async function eventsOf(receipt: ReturnType<typeof send>) {
  return chain()
    .events(await receipt)
    .map(({ name, args }) => [name, ...args])
}
async function admit(role: Role, orgId: Hex): Promise<void> {
  await send(role, 'registerInstitution', orgId)
  await send('owner', 'setAdmitted', orgId, account(role), true)
}
async function enter(role: Role): Promise<void> {
  await send('admin', 'setMember', account(role), true)
  await send(role, 'join', ORG)
}

describe('setMember', () => {
  it('invites: not active, not counted, in no institution yet', async () => {
    expect(await eventsOf(send('admin', 'setMember', account('alice'), true))).toEqual([
      ['MemberUpdated', ORG, account('alice'), false],
    ])
    expect(await read('invitationOf', account('alice'))).toBe(ORG)
    expect(await read('isInvited', ORG, account('alice'))).toBe(true)
    expect(await read('orgOf', account('alice'))).toBe(ZERO_BYTES32)
    expect(await read('walletCount', ORG)).toBe(0n)
  })

  it('removes a member, who cannot come back without an invitation', async () => {
    await enter('alice')
    expect(await eventsOf(send('admin', 'setMember', account('alice'), false))).toEqual([
      ['MemberUpdated', ORG, account('alice'), false],
    ])
    expect(await read('orgOf', account('alice'))).toBe(ZERO_BYTES32)
    expect(await read('walletCount', ORG)).toBe(0n)
    expect(await revert('alice', 'join', ORG)).toMatchObject({ name: 'NotInvited' })
  })

  it('withdraws an invitation', async () => {
    await send('admin', 'setMember', account('alice'), true)
    expect(await eventsOf(send('admin', 'setMember', account('alice'), false))).toEqual([
      ['MemberUpdated', ORG, account('alice'), false],
    ])
    expect(await read('invitationOf', account('alice'))).toBe(ZERO_BYTES32)
    expect(await revert('alice', 'join', ORG)).toMatchObject({ name: 'NotInvited' })
  })

  it('leaves the latest invitation alone when an earlier one is withdrawn', async () => {
    await admit('bob', OTHER)
    await send('admin', 'setMember', account('alice'), true)
    await send('bob', 'setMember', account('alice'), true)
    await send('admin', 'setMember', account('alice'), false)
    expect(await read('invitationOf', account('alice'))).toBe(OTHER)
  })

  it('refuses a caller who is no admin: a stranger, a member', async () => {
    await enter('alice')
    for (const role of ['bob', 'alice'] as const) {
      expect(await revert(role, 'setMember', account('carol'), true)).toEqual({
        name: 'NotAdmin',
        args: { caller: account(role) },
      })
    }
  })

  it('refuses to invite a wallet that is in an institution', async () => {
    await enter('alice')
    await admit('bob', OTHER)
    for (const role of ['alice', 'admin'] as const) {
      expect(await revert('bob', 'setMember', account(role), true)).toEqual({
        name: 'AlreadyInInstitution',
        args: { wallet: account(role), orgId: ORG },
      })
    }
  })

  it('refuses to take out a stranger, the admin itself, or another institution’s member', async () => {
    await enter('alice')
    await admit('bob', OTHER)
    for (const [from, orgId, wallet] of [
      ['admin', ORG, 'carol'],
      ['admin', ORG, 'admin'],
      ['bob', OTHER, 'alice'],
    ] as const) {
      expect(await revert(from, 'setMember', account(wallet), false)).toEqual({
        name: 'NotMember',
        args: { orgId, wallet: account(wallet) },
      })
    }
  })
})

describe('join', () => {
  it('makes the wallet an active, counted member', async () => {
    await send('admin', 'setMember', account('alice'), true)
    expect(await eventsOf(send('alice', 'join', ORG))).toEqual([
      ['MemberUpdated', ORG, account('alice'), true],
    ])
    expect(await read('orgOf', account('alice'))).toBe(ORG)
    expect(await read('walletCount', ORG)).toBe(1n)
    expect(await read('invitationOf', account('alice'))).toBe(ZERO_BYTES32)
  })

  it('refuses a wallet that is not invited', async () => {
    expect(await revert('alice', 'join', ORG)).toEqual({
      name: 'NotInvited',
      args: { orgId: ORG, wallet: account('alice') },
    })
  })

  it('refuses a wallet that is in an institution by now', async () => {
    await admit('bob', OTHER)
    await send('bob', 'setMember', account('alice'), true)
    await enter('alice')
    expect(await revert('alice', 'join', OTHER)).toEqual({
      name: 'AlreadyInInstitution',
      args: { wallet: account('alice'), orgId: ORG },
    })
  })

  it('takes an earlier invitation too: a stranger’s later one does not block it', async () => {
    await admit('bob', OTHER)
    await send('admin', 'setMember', account('alice'), true)
    await send('bob', 'setMember', account('alice'), true)
    expect(await read('invitationOf', account('alice'))).toBe(OTHER)
    await send('alice', 'join', ORG)
    expect(await read('orgOf', account('alice'))).toBe(ORG)
  })
})

describe('transferAdmin, acceptAdmin', () => {
  it('changes nothing until the proposed admin accepts', async () => {
    expect(await eventsOf(send('admin', 'transferAdmin', account('carol')))).toEqual([])
    expect(await read('adminOf', ORG)).toBe(account('admin'))
    expect(await read('pendingAdminOf', ORG)).toBe(account('carol'))
  })

  it('hands over to a wallet from outside; the former admin stays as a member', async () => {
    await send('admin', 'transferAdmin', account('carol'))
    expect(await eventsOf(send('carol', 'acceptAdmin', ORG))).toEqual([
      ['MemberUpdated', ORG, account('admin'), true],
      ['AdminTransferred', ORG, account('admin'), account('carol')],
    ])
    expect(await read('adminOf', ORG)).toBe(account('carol'))
    expect(await read('orgOf', account('carol'))).toBe(ORG)
    expect(await read('orgOf', account('admin'))).toBe(ORG)
    expect(await read('walletCount', ORG)).toBe(1n)
    expect(await read('pendingAdminOf', ORG)).toBe(ZERO)
    expect(await revert('admin', 'setMember', account('bob'), true)).toMatchObject({ name: 'NotAdmin' })
    await send('carol', 'setMember', account('admin'), false)
    expect(await read('walletCount', ORG)).toBe(0n)
  })

  it('hands over to a member: the count of members has the former admin instead', async () => {
    await enter('alice')
    await send('admin', 'transferAdmin', account('alice'))
    expect(await eventsOf(send('alice', 'acceptAdmin', ORG))).toEqual([
      ['MemberUpdated', ORG, account('alice'), false],
      ['MemberUpdated', ORG, account('admin'), true],
      ['AdminTransferred', ORG, account('admin'), account('alice')],
    ])
    expect(await read('walletCount', ORG)).toBe(1n)
  })

  it('refuses a caller who is no admin', async () => {
    expect(await revert('bob', 'transferAdmin', account('carol'))).toEqual({
      name: 'NotAdmin',
      args: { caller: account('bob') },
    })
  })

  it('refuses to propose the admin itself, or a wallet of another institution', async () => {
    await admit('bob', OTHER)
    for (const [wallet, orgId] of [
      ['admin', ORG],
      ['bob', OTHER],
    ] as const) {
      expect(await revert('admin', 'transferAdmin', account(wallet))).toEqual({
        name: 'AlreadyInInstitution',
        args: { wallet: account(wallet), orgId },
      })
    }
  })

  it('refuses an accepting wallet that is not the proposed one', async () => {
    await send('admin', 'transferAdmin', account('carol'))
    expect(await revert('bob', 'acceptAdmin', ORG)).toEqual({
      name: 'NotPendingAdmin',
      args: { orgId: ORG, pending: account('carol'), caller: account('bob') },
    })
  })

  it('refuses an accepting wallet that has entered another institution since', async () => {
    await send('admin', 'transferAdmin', account('carol'))
    await admit('carol', OTHER)
    expect(await revert('carol', 'acceptAdmin', ORG)).toEqual({
      name: 'AlreadyInInstitution',
      args: { wallet: account('carol'), orgId: OTHER },
    })
  })

  it('forgets a proposal that is withdrawn, replaced, or of a wallet that is taken out', async () => {
    await send('admin', 'transferAdmin', account('carol'))
    await send('admin', 'transferAdmin', ZERO)
    expect(await revert('carol', 'acceptAdmin', ORG)).toMatchObject({ name: 'NotPendingAdmin' })
    await send('admin', 'transferAdmin', account('carol'))
    await send('admin', 'transferAdmin', account('bob'))
    expect(await revert('carol', 'acceptAdmin', ORG)).toMatchObject({ name: 'NotPendingAdmin' })
    await enter('alice')
    await send('admin', 'transferAdmin', account('alice'))
    await send('admin', 'setMember', account('alice'), false)
    expect(await revert('alice', 'acceptAdmin', ORG)).toMatchObject({ name: 'NotPendingAdmin' })
    await send('admin', 'setMember', account('dave'), true)
    await send('admin', 'transferAdmin', account('dave'))
    await send('admin', 'setMember', account('dave'), false)
    expect(await revert('dave', 'acceptAdmin', ORG)).toMatchObject({ name: 'NotPendingAdmin' })
  })
})
