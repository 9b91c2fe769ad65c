// What the invariants (contracts/test) do not ask: names, events, and what stands of an invitation, a founding and a leaving.
import { expect, it } from 'vitest'
import { ZERO_ADDRESS } from '../../src/protocol/address.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'
import { DAY, ORG, openBuy, setUpInstitution, usd, ZERO_BYTES32 } from '../support/institution.js'
import { callsOf } from './fixtures/calls.js'

const OTHER = nameToBytes32('Borealis')
const THIRD = nameToBytes32('Cirrus')

// Alice and Bob are members of ORG; Carol is the admin of OTHER.
const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await set.send('carol', 'registry', 'registerInstitution', OTHER)
  await set.send('owner', 'registry', 'setAdmitted', OTHER, set.account('carol'), true)
})
const { account, send, read, revert, toldBy } = callsOf(chain, 'registry')

it('registerInstitution notes the founder, who is its admin once it is admitted, and not counted', async () => {
  const founded = await toldBy(send('dave', 'registerInstitution', THIRD))
  expect(founded).toEqual([['InstitutionRegistered', THIRD, account('dave')]])
  expect([await read('foundingOf', account('dave')), await read('adminOf', THIRD)]).toEqual([
    THIRD,
    ZERO_ADDRESS,
  ])
  expect(await revert('dave', 'setMember', account('relayer'), true)).toMatchObject({ name: 'NotAdmin' })
  const admitted = await toldBy(send('owner', 'setAdmitted', THIRD, account('dave'), true))
  expect(admitted).toEqual([['AdmissionUpdated', THIRD, account('dave'), true]])
  expect(await read('foundingOf', account('dave'))).toBe(ZERO_BYTES32)
  expect([await read('adminOf', THIRD), await read('walletCount', THIRD)]).toEqual([account('dave'), 0n])
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
  const refusal = { name: 'InvalidName', args: { name: orgId } }
  expect(await revert('dave', 'registerInstitution', orgId)).toEqual(refusal)
})

it('setMember invites, and a stranger’s later invitation does not keep the wallet from the earlier one', async () => {
  const dave = account('dave')
  const invited = [['MemberUpdated', ORG, dave, false]]
  expect(await toldBy(send('admin', 'setMember', dave, true))).toEqual(invited)
  await send('carol', 'setMember', dave, true)
  expect([await read('invitationOf', dave), await read('isInvited', ORG, dave)]).toEqual([OTHER, true])
  expect(await toldBy(send('dave', 'join', ORG))).toEqual([['MemberUpdated', ORG, dave, true]])
  expect(await read('invitationOf', dave)).toBe(ZERO_BYTES32)
})

it('leaveInstitution takes effect by itself, to the second, and keeps an open order under its institution', async () => {
  const alice = account('alice')
  const orderId = await openBuy(chain(), 'alice', 'buy', usd(5))
  expect(await toldBy(send('alice', 'leaveInstitution'))).toEqual([['MemberUpdated', ORG, alice, false]])
  const effectiveAt = (await chain().now()) + 7 * DAY
  expect(await read('leavingAt', alice)).toBe(BigInt(effectiveAt))
  await chain().mineAt(effectiveAt - 1)
  expect(await read('orgOf', alice)).toBe(ORG)
  await chain().mineAt(effectiveAt)
  expect(await read('orgOf', alice)).toBe(ZERO_BYTES32)
  expect(await chain().read('escrow', 'orders', orderId)).toContain(ORG)
})
