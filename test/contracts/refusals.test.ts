// Refusals whose names no other test tells: clients show them, and the invariants (contracts/test) see only that a call fails.
import { expect, it } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { orderOf, policyUpdate, portfolioUpdate, refund, signedCall } from '../support/authorizations.js'
import { type TestChain, useChain } from '../support/chain.js'
import {
  AAPL,
  bytes32,
  DAY,
  ORG,
  openBuy,
  setUpInstitution,
  soon,
  USDC,
  usd,
} from '../support/institution.js'
import { settlementNow } from '../support/orderEnds.js'

const OTHER = nameToBytes32('Borealis')
const ORDER = bytes32('an order')
const LIFETIME = 10

// Alice leaves, with an open order.
const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await openBuy(set, 'alice', 'an order', usd(5))
  await set.send('alice', 'registry', 'leaveInstitution')
})

type Attempt = Parameters<TestChain['revert']>

const buy = async (amount: bigint) => [bytes32('a buy'), bytes32('sealed'), amount, await soon(chain())]

const relaying = (authorization: Authorization): Attempt => ['relayer', ...signedCall(chain(), authorization)]

const settling = async (changes: Parameters<typeof settlementNow>[2]) =>
  relaying(await settlementNow(chain(), ORDER, changes))

it.each<[name: string, attempt: () => Attempt | Promise<Attempt>]>([
  ['AdminCannotLeave', () => ['admin', 'registry', 'leaveInstitution']],
  ['InstitutionTaken', () => ['dave', 'registry', 'registerInstitution', ORG]],
  ['InstitutionTaken', () => ['owner', 'registry', 'setAdmitted', ORG, chain().account('bob'), true]],
  ['NotAdmitted', () => ['owner', 'registry', 'setAdmitted', OTHER, chain().account('dave'), false]],
  ['NotFounded', () => ['owner', 'registry', 'setAdmitted', OTHER, chain().account('dave'), true]],
  ['NotInvited', () => ['dave', 'registry', 'join', ORG]],
  ['NotPendingAdmin', () => ['bob', 'registry', 'acceptAdmin', ORG]],
  ['NotMember', () => ['dave', 'registry', 'leaveInstitution']],
  ['Leaving', () => ['alice', 'registry', 'leaveInstitution']],
  ['Leaving', () => ['admin', 'registry', 'transferAdmin', chain().account('alice')]],
  ['Leaving', async () => ['alice', 'escrow', 'openBuy', ...(await buy(usd(1)))]],
  ['ZeroAmount', async () => ['bob', 'escrow', 'openBuy', ...(await buy(0n))]],
  ['ZeroAmount', () => ['bob', 'pool', 'fund', 0n]],
  ['ZeroAmount', () => ['owner', 'pool', 'transferTreasury', 0n]],
  ['NotOrderAccount', () => ['bob', 'escrow', 'reclaim', ORDER]],
  ['NoClaim', () => ['bob', 'escrow', 'claim', USDC, chain().account('bob')]],
  ['InvalidPayout', () => settling({ payoutAsset: USDC, payout: 0n })],
  ['HistoryConflict', () => settling({ previous: bytes32('another history') })],
  ['ActionsConflict', () => settling({ actions: bytes32('another list') })],
  ['VersionConflict', () => settling({ version: 7n })],
  ['OrderNotRefunded', async () => relaying(portfolioUpdate(await orderOf(chain(), ORDER), { state: 3n }))],
  ['OrderNotOpen', async () => relaying(refund({ ...(await orderOf(chain(), ORDER)), orderId: OTHER }))],
  ['NotInstitutionAdmin', () => relaying(policyUpdate(ORG, chain().account('alice')))],
  ['NotEscrow', () => ['owner', 'pool', 'payout', chain().account('owner'), USDC, 0n]],
  ['NotPool', () => ['owner', 'token', 'mint', AAPL, 1n]],
  ['NotPool', () => ['owner', 'token', 'burn', AAPL, 1n]],
  ['NotActions', () => ['owner', 'token', 'retire', AAPL]],
  ['NothingToSweep', () => ['dave', 'escrow', 'sweepUsdc']],
  ['NotPaused', () => ['owner', 'authority', 'liftPause']],
])('%s is the name of a refusal', async (name, attempt) => {
  expect(await chain().revert(...(await attempt()))).toMatchObject({ name })
})

it('an order is reclaimed from the very second on that lies seven days after its deadline', async () => {
  const deadline = (await chain().now()) + LIFETIME
  const orderId = bytes32('a short order')
  await chain().send('bob', 'escrow', 'openBuy', orderId, bytes32('sealed'), usd(1), deadline)
  await chain().mineAt(deadline + 7 * DAY - 1)
  expect(await chain().revert('bob', 'escrow', 'reclaim', orderId)).toMatchObject({ name: 'ReclaimTooEarly' })
  await chain().mineAt(deadline + 7 * DAY)
  expect(await chain().revert('bob', 'escrow', 'reclaim', orderId)).toBeNull()
})
