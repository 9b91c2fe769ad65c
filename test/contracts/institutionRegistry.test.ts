import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'
import { ORG, ZERO_BYTES32 } from '../support/institution.js'
import type { Role } from '../support/roles.js'

const OTHER = nameToBytes32('Borealis')

const chain = useChain(async (set) => {
  await set.send('admin', 'registry', 'registerInstitution', ORG)
  await set.send('owner', 'registry', 'setAdmitted', ORG, set.account('admin'), true)
})

const account = (role: Role): Hex => chain().account(role)
const send = (from: Role, method: string, ...args: unknown[]) =>
  chain().send(from, 'registry', method, ...args)
const read = (method: string, ...args: unknown[]) => chain().read('registry', method, ...args)
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

it('setMember invites: not active, not counted, in no institution yet', async () => {
  expect(await eventsOf(send('admin', 'setMember', account('alice'), true))).toEqual([
    ['MemberUpdated', ORG, account('alice'), false],
  ])
  expect(await read('invitationOf', account('alice'))).toBe(ORG)
  expect(await read('isInvited', ORG, account('alice'))).toBe(true)
  expect(await read('orgOf', account('alice'))).toBe(ZERO_BYTES32)
  expect(await read('walletCount', ORG)).toBe(0n)
})

it('join makes the wallet an active, counted member', async () => {
  await send('admin', 'setMember', account('alice'), true)
  expect(await eventsOf(send('alice', 'join', ORG))).toEqual([['MemberUpdated', ORG, account('alice'), true]])
  expect(await read('orgOf', account('alice'))).toBe(ORG)
  expect(await read('walletCount', ORG)).toBe(1n)
  expect(await read('invitationOf', account('alice'))).toBe(ZERO_BYTES32)
})

it('join takes an earlier invitation too: a stranger’s later one does not block it', async () => {
  await admit('bob', OTHER)
  await send('admin', 'setMember', account('alice'), true)
  await send('bob', 'setMember', account('alice'), true)
  expect(await read('invitationOf', account('alice'))).toBe(OTHER)
  await send('alice', 'join', ORG)
  expect(await read('orgOf', account('alice'))).toBe(ORG)
})

it('transferAdmin, acceptAdmin hands over to a member: the count of members has the former admin instead', async () => {
  await enter('alice')
  await send('admin', 'transferAdmin', account('alice'))
  expect(await eventsOf(send('alice', 'acceptAdmin', ORG))).toEqual([
    ['MemberUpdated', ORG, account('alice'), false],
    ['MemberUpdated', ORG, account('admin'), true],
    ['AdminTransferred', ORG, account('admin'), account('alice')],
  ])
  expect(await read('walletCount', ORG)).toBe(1n)
})
