// The moves of a lost wallet's portfolio: each step, its events, and everyone who may not take it.
import { expect, it } from 'vitest'
import { ZERO_ADDRESS } from '../../src/protocol/address.js'
import { accountIdOf, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { approvalOf, ENCLAVE_BLOB, portfolioMove, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { DAY, ORG, openRequest, setUpInstitution, ZERO_BYTES32 } from '../support/institution.js'
import { approveMove, PUBLIC_KEY } from '../support/oneOfEach.js'
import { nextWrite, settleOrder } from '../support/orderEnds.js'
import type { Role } from '../support/roles.js'

const OTHER = nameToBytes32('Borealis')

// Alice has a portfolio, and loses her wallet; carol's is her new one. Dave is the admin of another institution.
const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await settleOrder(set, await openRequest(set, 'alice', 'sale'))
  await set.send('dave', 'registry', 'registerInstitution', OTHER)
  await set.send('owner', 'registry', 'setAdmitted', OTHER, set.account('dave'), true)
})

const account = (role: Role) => chain().account(role)
const send = (from: Role, method: string, ...args: unknown[]) =>
  chain().send(from, 'registry', method, ...args)
const revert = async (from: Role, method: string, ...args: unknown[]) =>
  (await chain().revert(from, 'registry', method, ...args))?.name ?? null
const propose = () => send('admin', 'proposeMove', account('alice'), account('carol'))
const accept = () => send('carol', 'acceptMove', account('alice'), PUBLIC_KEY)
const approve = () => send('owner', 'approveMove', account('alice'), account('carol'))
async function move(changes: Parameters<typeof portfolioMove>[1] = {}) {
  const approval = await approvalOf(chain(), account('alice'))
  return signedCall(
    chain(),
    portfolioMove({ from: account('alice'), to: account('carol'), ...approval }, changes),
  )
}
const moveReverts = async (...changes: Parameters<typeof move>) =>
  (await chain().revert('relayer', ...(await move(...changes))))?.name ?? null
async function pass(seconds: number): Promise<void> {
  await chain().provider.send('evm_increaseTime', [seconds])
  await chain().provider.send('evm_mine', [])
}

it('a move is proposed, accepted and approved, and carried out a week later, with an event for each', async () => {
  const wallets = [account('alice'), account('carol')]
  const eventsOf = async (sending: ReturnType<typeof send>) =>
    chain()
      .events(await sending)
      .map(({ name, args }) => [name, ...args])
  expect(await eventsOf(propose())).toEqual([['MoveProposed', ORG, ...wallets]])
  expect(await eventsOf(accept())).toEqual([['MoveAccepted', ...wallets, PUBLIC_KEY]])
  const approved = await eventsOf(approve())
  const effectiveAt = BigInt(await chain().now()) + BigInt(7 * DAY)
  expect(approved).toEqual([['MoveApproved', ...wallets, effectiveAt]])
  expect(await moveReverts()).toBe('MoveNotEffective')
  await pass(7 * DAY)
  expect(await eventsOf(chain().send('relayer', ...(await move())))).toEqual([
    ['PortfolioUpdated', accountIdOf(account('alice')), 2n],
    ['PortfolioUpdated', accountIdOf(account('carol')), 1n],
    ['PortfolioMoved', ...wallets, 0n],
  ])
  expect(await chain().read('ledger', 'enclaveBlob', accountIdOf(account('carol')))).toBe(ENCLAVE_BLOB)
  expect(await moveReverts({ version: 3n })).toBe('NoMove')
})

it('a move that was withdrawn between two parts is taken up again, with another approval of the four', async () => {
  await approveMove(chain(), 'alice', 'carol')
  await chain().send('relayer', ...(await move({ partsLeft: 1n })))
  expect(await revert('carol', 'acceptMove', account('alice'), PUBLIC_KEY)).toBe('MoveBegun')
  const [lost, own] = await Promise.all(
    (['alice', 'carol'] as const).map((role) => nextWrite(chain(), account(role))),
  )
  const second = { ...lost, toVersion: own?.version ?? 0n, toPrevious: own?.previous ?? ZERO_BYTES32 }
  const before = await approvalOf(chain(), account('alice'))
  await send('owner', 'withdrawMove', account('alice'))
  await approveMove(chain(), 'alice', 'carol')
  expect(await moveReverts({ ...second, ...before })).toBe('MoveConflict')
  await chain().send('relayer', ...(await move(second)))
  expect(await moveReverts(second)).toBe('NoMove')
})

it('an authorization of a move is void for another key, and once the lost wallet has entered an institution', async () => {
  await approveMove(chain(), 'alice', 'carol')
  const before = await approvalOf(chain(), account('alice'))
  await send('carol', 'acceptMove', account('alice'), `0x03${PUBLIC_KEY.slice(4)}`)
  expect(await moveReverts(before)).toBe('MoveConflict')
  await changeInstitution('alice')
  expect(await moveReverts()).toBe('NoMove')
  await send('alice', 'leaveInstitution')
  await pass(7 * DAY)
  expect(await moveReverts()).toBe('NoMove')
})

it.each<[who: Role, from: Role, to: Role, error: string]>([
  ['alice', 'alice', 'carol', 'NotAdmin'],
  ['owner', 'alice', 'carol', 'NotAdmin'],
  // An admin moves no other institution's members, and nobody outside of institutions.
  ['dave', 'alice', 'carol', 'NotMember'],
  ['admin', 'carol', 'relayer', 'NotMember'],
  ['admin', 'alice', 'alice', 'NoMove'],
  ['admin', 'alice', 'dave', 'AlreadyInInstitution'],
])('%s cannot propose to move the portfolio of %s to %s', async (who, from, to, error) => {
  expect(await revert(who, 'proposeMove', account(from), account(to))).toBe(error)
})

it('each step is taken once, in order, and by nobody else', async () => {
  expect(await revert('owner', 'approveMove', account('alice'), account('carol'))).toBe('NoMove')
  expect(await revert('admin', 'proposeMove', account('alice'), ZERO_ADDRESS)).toBe('NoMove')
  await propose()
  expect(await revert('admin', 'proposeMove', account('alice'), account('relayer'))).toBe(
    'MoveProposedAlready',
  )
  expect(await revert('owner', 'approveMove', account('alice'), account('carol'))).toBe('MoveNotApprovable')
  expect(await revert('bob', 'acceptMove', account('alice'), PUBLIC_KEY)).toBe('NoMove')
  expect(await revert('carol', 'acceptMove', account('alice'), '0x02')).toBe('InvalidPublicKey')
  await accept()
  expect(await revert('admin', 'approveMove', account('alice'), account('carol'))).toBe('NotOwner')
  // The owner approves what he has seen, and no proposal that took its place.
  expect(await revert('owner', 'approveMove', account('alice'), account('bob'))).toBe('NoMove')
  expect(await moveReverts()).toBe('MoveNotEffective')
  await approve()
  expect(await revert('owner', 'approveMove', account('alice'), account('carol'))).toBe('MoveNotApprovable')
  const { effectiveAt, userPubKeyHash } = await approvalOf(chain(), account('alice'))
  const taken = [account('alice'), account('carol'), effectiveAt, userPubKeyHash, true, true]
  for (const role of ['owner', 'admin', 'alice', 'carol'] as const)
    expect(await revert(role, 'takeMove', ...taken)).toBe('NotLedger')
})

it.each<[Role, string | null]>([
  ['alice', null],
  ['admin', null],
  ['owner', null],
  ['carol', 'NotMovesParty'],
  ['bob', 'NotMovesParty'],
  ['dave', 'NotMovesParty'],
])('until the last part is carried out, %s ends a move, or not', async (who, error) => {
  await approveMove(chain(), 'alice', 'carol')
  expect(await revert(who, 'withdrawMove', account('alice'))).toBe(error)
  if (error !== null) return
  const receipt = await send(who, 'withdrawMove', account('alice'))
  const [ended] = chain().events(receipt)
  expect(ended).toMatchObject({
    name: 'MoveWithdrawn',
    args: [account('alice'), account('carol'), account(who)],
  })
  expect(await moveReverts()).toBe('NoMove')
  expect(await revert(who, 'withdrawMove', account('alice'))).toBe('NoMove')
})

it.each<[string, () => Promise<unknown>, string]>([
  ['is suspended', () => send('owner', 'setAdmitted', ORG, account('admin'), false), 'NotAdmitted'],
  ['has the new wallet in another one now', () => changeInstitution('carol'), 'AlreadyInInstitution'],
  ['has a new wallet without KYC', () => clear('carol', false), 'NotCleared'],
  ['has a new wallet with a portfolio', () => settleNew('carol'), 'VersionConflict'],
  ['has an open order of the lost wallet', () => openRequest(chain(), 'alice', 'late'), 'OrdersOpen'],
])('an approved move is not carried out when its institution %s', async (_, change, error) => {
  await approveMove(chain(), 'alice', 'carol')
  expect(await moveReverts()).toBeNull()
  await change()
  expect(await moveReverts()).toBe(error)
})

it('a portfolio is not added to another one', async () => {
  await approveMove(chain(), 'alice', 'carol')
  await settleNew('carol')
  const { version: toVersion, previous: toPrevious } = await nextWrite(chain(), account('carol'))
  expect(await moveReverts({ toVersion, toPrevious })).toBe('MoveOutOfOrder')
})

const clear = (who: Role, verified: boolean) =>
  chain().send('owner', 'token', 'setKyc', account(who), verified)
const settleNew = async (who: Role) => settleOrder(chain(), await openRequest(chain(), who, 'own'))
async function changeInstitution(who: Role): Promise<void> {
  if (who === 'alice') await send('admin', 'setMember', account(who), false)
  await send('dave', 'setMember', account(who), true)
  await send(who, 'join', OTHER)
}
