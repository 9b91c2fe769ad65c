// The moves of a lost wallet's portfolio: the events of each step, and the names of refusals. The invariants (contracts/test) find every other fault.
import { expect, it } from 'vitest'
import { ZERO_ADDRESS } from '../../src/protocol/address.js'
import { accountIdOf, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { approvalOf, ENCLAVE_BLOB, portfolioMove, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { DAY, ORG, openRequest, setUpInstitution } from '../support/institution.js'
import { approveMove, PUBLIC_KEY } from '../support/oneOfEach.js'
import { nextWrite, settleOrder } from '../support/orderEnds.js'
import type { Role } from '../support/roles.js'
import { callsOf } from './fixtures/calls.js'

const OTHER = nameToBytes32('Borealis')

// Alice has a portfolio, and loses her wallet; carol's is her new one. Dave is the admin of another institution.
const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await settleOrder(set, await openRequest(set, 'alice', 'sale'))
  await set.send('dave', 'registry', 'registerInstitution', OTHER)
  await set.send('owner', 'registry', 'setAdmitted', OTHER, set.account('dave'), true)
})

const { account, send, revert, toldBy } = callsOf(chain, 'registry')
const refusal = async (from: Role, method: string, ...args: unknown[]) =>
  (await revert(from, method, ...args))?.name ?? null
const wallets = () => [account('alice'), account('carol')]
const propose = () => send('admin', 'proposeMove', ...wallets())
const accept = () => send('carol', 'acceptMove', account('alice'), PUBLIC_KEY)
const approve = () => send('owner', 'approveMove', ...wallets())
async function move(changes: Parameters<typeof portfolioMove>[1] = {}) {
  const approval = await approvalOf(chain(), account('alice'))
  const named = { from: account('alice'), to: account('carol'), ...approval }
  return signedCall(chain(), portfolioMove(named, changes))
}
const moveReverts = async (...changes: Parameters<typeof move>) =>
  (await chain().revert('relayer', ...(await move(...changes))))?.name ?? null

it('a move is proposed, accepted and approved, and carried out a week later, with an event for each', async () => {
  expect(await toldBy(propose())).toEqual([['MoveProposed', ORG, ...wallets()]])
  expect(await toldBy(accept())).toEqual([['MoveAccepted', ...wallets(), PUBLIC_KEY]])
  const approved = await toldBy(approve())
  const effectiveAt = (await chain().now()) + 7 * DAY
  expect(approved).toEqual([['MoveApproved', ...wallets(), BigInt(effectiveAt)]])
  expect(await moveReverts()).toBe('MoveNotEffective')
  await chain().mineAt(effectiveAt)
  expect(await toldBy(chain().send('relayer', ...(await move())))).toEqual([
    ['PortfolioUpdated', accountIdOf(account('alice')), 2n],
    ['PortfolioUpdated', accountIdOf(account('carol')), 1n],
    ['PortfolioMoved', ...wallets(), 0n],
  ])
  expect(await chain().read('ledger', 'enclaveBlob', accountIdOf(account('carol')))).toBe(ENCLAVE_BLOB)
  expect(await moveReverts({ version: 3n })).toBe('NoMove')
})

it('a move that was withdrawn between two parts is taken up again, with another approval of the four', async () => {
  await approveMove(chain(), 'alice', 'carol')
  await chain().send('relayer', ...(await move({ partsLeft: 1n })))
  expect(await refusal('carol', 'acceptMove', account('alice'), PUBLIC_KEY)).toBe('MoveBegun')
  const [lost, own] = [await nextWrite(chain(), account('alice')), await nextWrite(chain(), account('carol'))]
  const second = { ...lost, toVersion: own.version, toPrevious: own.previous }
  const before = await approvalOf(chain(), account('alice'))
  const withdrawn = await toldBy(send('owner', 'withdrawMove', account('alice')))
  expect(withdrawn).toEqual([['MoveWithdrawn', ...wallets(), account('owner')]])
  await approveMove(chain(), 'alice', 'carol')
  expect(await moveReverts({ ...second, ...before })).toBe('MoveConflict')
  await chain().send('relayer', ...(await move(second)))
  expect(await moveReverts(second)).toBe('NoMove')
})

it.each<[who: Role, from: Role, to: Role, error: string]>([
  ['owner', 'alice', 'carol', 'NotAdmin'],
  ['dave', 'alice', 'carol', 'NotMember'],
  ['admin', 'alice', 'alice', 'NoMove'],
  ['admin', 'alice', 'dave', 'AlreadyInInstitution'],
])('%s cannot propose to move the portfolio of %s to %s', async (who, from, to, error) => {
  expect(await refusal(who, 'proposeMove', account(from), account(to))).toBe(error)
})

it('each step is taken once, in order, and by nobody else', async () => {
  expect(await refusal('owner', 'approveMove', ...wallets())).toBe('NoMove')
  expect(await refusal('admin', 'proposeMove', account('alice'), ZERO_ADDRESS)).toBe('NoMove')
  await propose()
  const again = await refusal('admin', 'proposeMove', account('alice'), account('relayer'))
  expect(again).toBe('MoveProposedAlready')
  expect(await refusal('owner', 'approveMove', ...wallets())).toBe('MoveNotApprovable')
  expect(await refusal('bob', 'acceptMove', account('alice'), PUBLIC_KEY)).toBe('NoMove')
  expect(await refusal('carol', 'acceptMove', account('alice'), '0x02')).toBe('InvalidPublicKey')
  await accept()
  expect(await refusal('admin', 'approveMove', ...wallets())).toBe('NotOwner')
  // The owner approves what he has seen, and no proposal that took its place.
  expect(await refusal('owner', 'approveMove', account('alice'), account('bob'))).toBe('NoMove')
  expect(await moveReverts()).toBe('MoveNotEffective')
  await approve()
  expect(await refusal('owner', 'approveMove', ...wallets())).toBe('MoveNotApprovable')
  expect(await refusal('carol', 'withdrawMove', account('alice'))).toBe('NotMovesParty')
  const { effectiveAt, userPubKeyHash } = await approvalOf(chain(), account('alice'))
  const taken = [...wallets(), effectiveAt, userPubKeyHash, true, true]
  expect(await refusal('owner', 'takeMove', ...taken)).toBe('NotLedger')
})
