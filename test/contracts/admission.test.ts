import { expect, it } from 'vitest'
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
it('registerInstitution notes the founder, and makes no wallet an admin or a member', async () => {
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
])('registerInstitution refuses a name with %s', async (_, orgId) => {
  expect(await revert('bob', 'registerInstitution', orgId)).toEqual({
    name: 'InvalidName',
    args: { name: orgId },
  })
})

it('setAdmitted makes the founder the admin, who is in the institution and not counted, without an event', async () => {
  await send('bob', 'registerInstitution', OTHER)
  expect(chain().events(await admit(OTHER, 'bob'))).toEqual([])
  expect(await read('adminOf', OTHER)).toBe(account('bob'))
  expect(await read('isAdmitted', OTHER)).toBe(true)
  expect(await read('orgOf', account('bob'))).toBe(OTHER)
  expect(await read('foundingOf', account('bob'))).toBe(ZERO_BYTES32)
  expect(await read('walletCount', OTHER)).toBe(0n)
  expect(await revert('bob', 'setMember', account('carol'), true)).toBeNull()
})
