import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { policyUpdate, signedCall } from '../../support/authorizations.js'
import { buildApp } from '../../support/builtApp.js'
import { TEST_DELAYS, useChain } from '../../support/chain.js'
import { ORG, setUpInstitution } from '../../support/institution.js'
import type { Role } from '../../support/roles.js'

const chain = useChain(setUpInstitution)

async function screenOf(role: Role) {
  const { app } = await buildApp({ chain: chain() })
  const response = await request(app).get(`/wallet/${chain().account(role)}`)
  expect(response.status).toBe(200)
  return response.body
}

const publishRules = () =>
  chain().send('relayer', ...signedCall(chain(), policyUpdate(ORG, chain().account('admin'))))

/** Founds an institution that the platform admits at once. */
async function found(by: Role, orgId: Hex): Promise<void> {
  await chain().send(by, 'registry', 'registerInstitution', orgId)
  await chain().send('owner', 'registry', 'setAdmitted', orgId, chain().account(by), true)
}

describe('a wallet in no institution', () => {
  test('sees found', async () => {
    expect(await screenOf('carol')).toEqual({
      ...{ address: chain().account('carol'), screen: 'found', orgId: null, role: null },
      ...{ waitingFor: [], leavingAt: null, invitation: null },
    })
  })

  test('waits to be admitted once it has founded one, and may still join another', async () => {
    const founded = nameToBytes32('Zenith')
    await chain().send('carol', 'registry', 'registerInstitution', founded)
    await chain().send('admin', 'registry', 'setMember', chain().account('carol'), true)
    expect(await screenOf('carol')).toEqual({
      ...{ address: chain().account('carol'), screen: 'wait', orgId: founded, role: 'founder' },
      ...{ waitingFor: ['admission', 'policy'], leavingAt: null },
      invitation: { orgId: ORG, admin: chain().account('admin') },
    })
    await chain().send('owner', 'registry', 'setAdmitted', founded, chain().account('carol'), true)
    expect(await screenOf('carol')).toMatchObject({
      orgId: founded,
      waitingFor: ['policy'],
      invitation: null,
    })
  })

  test('sees the institution that invited it last', async () => {
    const other = nameToBytes32('Zenith')
    await chain().send('admin', 'registry', 'setMember', chain().account('carol'), true)
    await found('dave', other)
    await chain().send('dave', 'registry', 'setMember', chain().account('carol'), true)
    expect(await screenOf('carol')).toMatchObject({
      screen: 'found',
      invitation: { orgId: other, admin: chain().account('dave') },
    })
  })
})

describe('a wallet in an institution', () => {
  test('waits for the rulebook, then for KYC, and trades once it is cleared', async () => {
    const { account, send } = chain()
    const common = { orgId: ORG, role: 'employee', leavingAt: null, invitation: null }
    const shown = { address: account('alice'), screen: 'wait', ...common, waitingFor: ['policy'] }
    expect(await screenOf('alice')).toEqual(shown)
    await publishRules()
    await send('owner', 'token', 'setKyc', account('alice'), false)
    expect(await screenOf('alice')).toEqual({ ...shown, waitingFor: ['kyc'] })
    await send('owner', 'token', 'setKyc', account('alice'), true)
    expect(await screenOf('alice')).toEqual({ ...shown, screen: 'trade', waitingFor: [] })
    expect(await screenOf('admin')).toMatchObject({ screen: 'trade', role: 'admin', orgId: ORG })
  })

  test('waits for its institution to be admitted again when the platform has suspended it', async () => {
    await publishRules()
    await chain().send('owner', 'registry', 'setAdmitted', ORG, chain().account('admin'), false)
    expect(await screenOf('alice')).toMatchObject({ screen: 'wait', waitingFor: ['admission'] })
  })

  test('sees when it leaves, and then that it is in none', async () => {
    await publishRules()
    await chain().send('alice', 'registry', 'leaveInstitution')
    const leavingAt = (await chain().now()) + TEST_DELAYS.leave
    expect(await screenOf('alice')).toMatchObject({ screen: 'trade', orgId: ORG, leavingAt })
    await chain().mineAt(leavingAt)
    expect(await screenOf('alice')).toMatchObject({ screen: 'found', orgId: null, leavingAt: null })
  })
})

test('an address is taken in any case, and returned with its checksum', async () => {
  const { app } = await buildApp({ chain: chain() })
  const alice = chain().account('alice')
  for (const text of [alice, alice.toLowerCase(), `0x${alice.slice(2).toUpperCase()}`])
    expect((await request(app).get(`/wallet/${text}`)).body).toMatchObject({ address: alice, orgId: ORG })
})

test('a wallet that changes its institution leaves its rules behind, and one that hands it over its role', async () => {
  const { send, account } = chain()
  await publishRules()
  expect(await screenOf('bob')).toMatchObject({ screen: 'trade', orgId: ORG })
  const other = nameToBytes32('Zenith')
  await found('dave', other)
  await send('admin', 'registry', 'setMember', account('bob'), false)
  await send('dave', 'registry', 'setMember', account('bob'), true)
  await send('bob', 'registry', 'join', other)
  // The rules of its former institution are not its own any more.
  expect(await screenOf('bob')).toMatchObject({ screen: 'wait', orgId: other, waitingFor: ['policy'] })
  await send('admin', 'registry', 'transferAdmin', account('alice'))
  await send('alice', 'registry', 'acceptAdmin', ORG)
  expect([(await screenOf('admin')).role, (await screenOf('alice')).role]).toEqual(['employee', 'admin'])
})
