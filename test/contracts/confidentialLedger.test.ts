import { beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { portfolioHashAfter } from '../../src/protocol/ledgerBlob.js'
import {
  type BoundOrder,
  ENCLAVE_BLOB,
  policyUpdate,
  portfolioUpdate,
  USER_BLOB,
} from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { ORG, setUpInstitution, ZERO_BYTES32 } from '../support/institution.js'
import { orderActions } from '../support/orderActions.js'

const ZERO: Hex = `0x${'00'.repeat(20)}`
const chain = useChain(setUpInstitution)
const { account, nextOf, relay, relayRevert, request } = orderActions(chain)

const admin = () => account('admin')
const id = () => accountIdOf(account('alice'))
const read = (method: string, ...args: unknown[]) => chain().read('ledger', method, ...args)
async function events(sent: ReturnType<typeof relay>) {
  return chain()
    .events(await sent)
    .map(({ name, args }) => [name, ...args])
}

describe('updatePortfolio', () => {
  let order: BoundOrder
  beforeEach(async () => {
    order = await request('alice', 'sale')
  })

  it('writes both blobs and the version, and replaces them by the next', async () => {
    expect(await events(relay(portfolioUpdate(order)))).toEqual([['PortfolioUpdated', id(), 1n]])
    const next = {
      ...(await nextOf('alice')),
      enclaveBlob: `0x${'e2'.repeat(600)}`,
      userBlob: `0x${'f2'.repeat(7)}`,
    } as const
    await relay(portfolioUpdate(order, next))
    expect(await read('portfolioVersion', id())).toBe(2n)
    expect(await read('enclaveBlob', id())).toBe(next.enclaveBlob)
    expect(await read('userBlob', id())).toBe(next.userBlob)
    const third = { ...(await nextOf('alice')), enclaveBlob: '0x01', userBlob: '0x02' } as const
    await relay(portfolioUpdate(order, third))
    expect(await read('enclaveBlob', id())).toBe('0x01')
    expect(await read('userBlob', id())).toBe('0x02')
  })

  it('keeps a running hash of everything that was written', async () => {
    expect(await read('portfolioHash', id())).toBe(ZERO_BYTES32)
    const first = { version: 1n, enclaveBlob: ENCLAVE_BLOB, userBlob: USER_BLOB }
    await relay(portfolioUpdate(order, first))
    const afterFirst = portfolioHashAfter(ZERO_BYTES32, first)
    expect(await read('portfolioHash', id())).toBe(afterFirst)
    const second = { version: 2n, enclaveBlob: '0x0102', userBlob: '0x0304' } as const
    await relay(portfolioUpdate(order, { ...second, previous: afterFirst }))
    expect(await read('portfolioHash', id())).toBe(portfolioHashAfter(afterFirst, second))
  })

  it('refuses an empty blob', async () => {
    for (const empty of [{ enclaveBlob: '0x' }, { userBlob: '0x' }] as const) {
      expect(await relayRevert(portfolioUpdate(order, empty))).toEqual({ name: 'EmptyBlob', args: {} })
    }
  })
})

it('updatePolicy replaces the rulebook and counts its version', async () => {
  expect(await events(relay(policyUpdate(ORG, admin())))).toEqual([['PolicyUpdated', ORG, 1n]])
  await relay(policyUpdate(ORG, admin(), { version: 2n, policyBlob: '0xabcdef' }))
  expect(await read('policyVersion', ORG)).toBe(2n)
  expect(await read('policyBlob', ORG)).toBe('0xabcdef')
})

it('updatePolicy takes the largest rulebook that an envelope can carry within one transaction’s gas', async () => {
  const policyBlob: Hex = `0x${'5a'.repeat(16_384 + 29)}`
  const receipt = await relay(policyUpdate(ORG, admin(), { policyBlob }))
  expect(receipt.gasUsed).toBeLessThan(2n ** 24n)
  expect(await read('policyBlob', ORG)).toBe(policyBlob)
})

it('updatePolicy refuses an author who is not the institution’s admin in this very block', async () => {
  expect(await relayRevert(policyUpdate(ORG, account('alice')))).toEqual({
    name: 'NotInstitutionAdmin',
    args: { orgId: ORG, expected: admin(), got: account('alice') },
  })
  await chain().send('admin', 'registry', 'transferAdmin', account('alice'))
  await chain().send('alice', 'registry', 'acceptAdmin', ORG)
  expect(await relayRevert(policyUpdate(ORG, admin()))).toEqual({
    name: 'NotInstitutionAdmin',
    args: { orgId: ORG, expected: account('alice'), got: admin() },
  })
})

it('updatePolicy refuses an institution that does not exist or was only founded, for every author', async () => {
  const nowhere = nameToBytes32('Nowhere')
  const founded = nameToBytes32('Borealis')
  await chain().send('carol', 'registry', 'registerInstitution', founded)
  for (const orgId of [nowhere, founded, ZERO_BYTES32]) {
    for (const author of [admin(), account('carol'), ZERO]) {
      expect(await relayRevert(policyUpdate(orgId, author))).toEqual({
        name: 'NotInstitutionAdmin',
        args: { orgId, expected: ZERO, got: author },
      })
    }
  }
})

it('updatePolicy refuses an institution that is suspended', async () => {
  await chain().send('owner', 'registry', 'setAdmitted', ORG, admin(), false)
  expect(await relayRevert(policyUpdate(ORG, admin()))).toEqual({
    name: 'NotAdmitted',
    args: { orgId: ORG },
  })
  await chain().send('owner', 'registry', 'setAdmitted', ORG, admin(), true)
  expect(await relayRevert(policyUpdate(ORG, admin()))).toBeNull()
})

it('updatePolicy refuses any version but the next, and an empty rulebook', async () => {
  for (const version of [0n, 2n]) {
    expect(await relayRevert(policyUpdate(ORG, admin(), { version }))).toEqual({
      name: 'VersionConflict',
      args: { expected: '1', got: `${version}` },
    })
  }
  expect(await relayRevert(policyUpdate(ORG, admin(), { policyBlob: '0x' }))).toEqual({
    name: 'EmptyBlob',
    args: {},
  })
})

it('writePortfolio is the escrow’s alone: not the owner’s, not the enclave signer’s', async () => {
  for (const role of ['owner', 'relayer'] as const) {
    expect(
      await chain().revert(role, 'ledger', 'writePortfolio', id(), 1n, ZERO_BYTES32, '0x01', '0x01'),
    ).toEqual({
      name: 'NotEscrow',
      args: { expected: chain().addressOf('escrow'), caller: account(role) },
    })
  }
})
