// What the invariants (contracts/test) do not ask: names, events, counts, and what stands of an invitation, a founding and a leaving.
import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'
import { DAY, ORG, openBuy, setUpInstitution, usd, ZERO_BYTES32 } from '../support/institution.js'
import type { Role } from '../support/roles.js'

const ZERO: Hex = `0x${'00'.repeat(20)}`
const LEAVE = 7 * DAY
const OTHER = nameToBytes32('Borealis')
const THIRD = nameToBytes32('Cirrus')

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
async function eventsOf(receipt: ReturnType<typeof send>) {
  return chain()
    .events(await receipt)
    .map(({ name, args }) => [name, ...args])
}
it('registerInstitution notes the founder, who is its admin once it is admitted, and not counted', async () => {
  expect(await eventsOf(send('dave', 'registerInstitution', THIRD))).toEqual([
    ['InstitutionRegistered', THIRD, account('dave')],
  ])
  expect(await read('foundingOf', account('dave'))).toBe(THIRD)
  expect(await read('adminOf', THIRD)).toBe(ZERO)
  expect(await revert('dave', 'setMember', account('relayer'), true)).toEqual({
    name: 'NotAdmin',
    args: { caller: account('dave') },
  })
  expect(await eventsOf(send('owner', 'setAdmitted', THIRD, account('dave'), true))).toEqual([
    ['AdmissionUpdated', THIRD, account('dave'), true],
  ])
  expect(await read('adminOf', THIRD)).toBe(account('dave'))
  expect(await read('foundingOf', account('dave'))).toBe(ZERO_BYTES32)
  expect(await read('walletCount', THIRD)).toBe(0n)
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
  expect(await revert('dave', 'registerInstitution', orgId)).toEqual({
    name: 'InvalidName',
    args: { name: orgId },
  })
})

it('setMember invites, and a stranger’s later invitation does not keep the wallet from the earlier one', async () => {
  const invited = [['MemberUpdated', ORG, account('dave'), false]]
  expect(await eventsOf(send('admin', 'setMember', account('dave'), true))).toEqual(invited)
  expect(await read('invitationOf', account('dave'))).toBe(ORG)
  expect(await read('isInvited', ORG, account('dave'))).toBe(true)
  await send('carol', 'setMember', account('dave'), true)
  expect(await read('invitationOf', account('dave'))).toBe(OTHER)
  expect(await eventsOf(send('dave', 'join', ORG))).toEqual([['MemberUpdated', ORG, account('dave'), true]])
  expect(await read('invitationOf', account('dave'))).toBe(ZERO_BYTES32)
})

it('leaveInstitution takes effect by itself, to the second, and keeps an open order under its institution', async () => {
  const orderId = await openBuy(chain(), 'alice', 'buy', usd(5))
  expect(await eventsOf(send('alice', 'leaveInstitution'))).toEqual([
    ['MemberUpdated', ORG, account('alice'), false],
  ])
  const effectiveAt = (await chain().now()) + LEAVE
  expect(await read('leavingAt', account('alice'))).toBe(BigInt(effectiveAt))
  expect(await read('walletCount', ORG)).toBe(1n)
  await chain().mineAt(effectiveAt - 1)
  expect(await read('orgOf', account('alice'))).toBe(ORG)
  await chain().mineAt(effectiveAt)
  expect(await read('orgOf', account('alice'))).toBe(ZERO_BYTES32)
  expect(await chain().read('escrow', 'orders', orderId)).toContain(ORG)
  expect(await chain().read('escrow', 'openOrdersOf', ORG)).toBe(1n)
})
