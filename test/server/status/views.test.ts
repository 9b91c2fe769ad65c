import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { batchMint, policyUpdate, signedCall } from '../../support/authorizations.js'
import { buildApp } from '../../support/builtApp.js'
import { TEST_DELAYS, useChain } from '../../support/chain.js'
import {
  AAPL,
  MSFT,
  ORG,
  openBuy,
  openRequest,
  setUpInstitution,
  shares,
  usd,
} from '../../support/institution.js'
import { refundOrder, settleOrder } from '../../support/orderEnds.js'
import type { Role } from '../../support/roles.js'

const chain = useChain(setUpInstitution)

/** Reads of one server. */
async function reads() {
  const { app } = await buildApp({ chain: chain() })
  const get = async (path: string) => (await request(app).get(path).expect(200)).body
  return {
    get,
    institution: () => get(`/org/${ORG}`),
    complianceOf: (role: Role) => get(`/compliance/${chain().account(role)}`),
  }
}

const screenOf = async (role: Role) => (await reads()).get(`/wallet/${chain().account(role)}`)

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
  const { get } = await reads()
  const alice = chain().account('alice')
  for (const text of [alice.toLowerCase(), `0x${alice.slice(2).toUpperCase()}`])
    expect(await get(`/wallet/${text}`)).toMatchObject({ address: alice, orgId: ORG })
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

test('an institution shows its counts, which follow the chain, and the totals of the whole pool', async () => {
  const { institution } = await reads()
  expect(await institution()).toEqual({
    orgId: ORG,
    name: 'Acme Capital',
    admin: chain().account('admin'),
    walletCount: 2,
    rulesVersion: 0,
    openOrders: 0,
    pool: { usdc: '0', openOrders: 0, equities: [{ symbol: 'AAPL', shares: '0' }] },
  })

  const settled = await openBuy(chain(), 'alice', 'settled', usd(250))
  const refunded = await openBuy(chain(), 'bob', 'refunded', usd(100))
  // Carol is in no institution: her order counts for the platform alone.
  await openRequest(chain(), 'carol', 'request')
  expect(await institution()).toMatchObject({ openOrders: 2, pool: { usdc: '0', openOrders: 3 } })

  await settleOrder(chain(), settled)
  await refundOrder(chain(), refunded)
  const policy = policyUpdate(ORG, chain().account('admin'))
  await chain().send('relayer', ...signedCall(chain(), policy))
  await chain().send('admin', 'registry', 'setMember', chain().account('bob'), false)
  expect(await institution()).toMatchObject({
    walletCount: 1,
    rulesVersion: 1,
    openOrders: 0,
    pool: { usdc: '250000000', openOrders: 1 },
  })
})

test('the totals are what the pool holds: not what was withdrawn, but what was delisted', async () => {
  await chain().send('owner', 'token', 'setListed', MSFT, true)
  await chain().send('relayer', ...signedCall(chain(), batchMint(AAPL, shares(10))))
  await chain().send('relayer', ...signedCall(chain(), batchMint(MSFT, shares(4))))
  const { institution } = await reads()
  const equities = async () => (await institution()).pool.equities
  const msft = { symbol: 'MSFT', shares: '4000000000' }
  expect(await equities()).toEqual([{ symbol: 'AAPL', shares: '10000000000' }, msft])

  const withdrawal = await openRequest(chain(), 'alice', 'withdrawal')
  const payout = { payoutAsset: AAPL, payout: shares(3) }
  await settleOrder(chain(), withdrawal, payout)
  await chain().send('owner', 'token', 'setListed', MSFT, false)
  const held = [{ symbol: 'AAPL', shares: '7000000000' }, msft]
  expect(await equities()).toEqual(held)
  // A symbol listed later is there at once; a name that is no ticker is left out.
  for (const name of ['TSLA', 'not a ticker'])
    await chain().send('owner', 'token', 'setListed', nameToBytes32(name), true)
  expect(await equities()).toEqual([...held, { symbol: 'TSLA', shares: '0' }])
  await chain().send('owner', 'token', 'setListed', nameToBytes32('TSLA'), false)
  expect(await equities()).toEqual(held)
})

test('KYC is the wallet’s own, and a freeze is of one symbol and one wallet; a symbol that is delisted stays, with its freeze', async () => {
  const { send, account } = chain()
  await send('owner', 'token', 'setListed', MSFT, true)
  for (const symbol of [MSFT, nameToBytes32('NEVER')])
    await send('owner', 'token', 'setFrozen', symbol, account('alice'), true)
  const { complianceOf } = await reads()
  const aapl = { symbol: 'AAPL', kyc: true, listed: true, frozen: false }
  const msft = { ...aapl, symbol: 'MSFT', frozen: true }
  expect((await complianceOf('alice')).equities).toEqual([aapl, msft])
  const none = { kyc: false, frozen: false }
  const equities = [
    { ...aapl, ...none },
    { ...msft, ...none },
  ]
  expect(await complianceOf('dave')).toEqual({ address: account('dave'), equities })
  await send('owner', 'token', 'setListed', MSFT, false)
  expect((await complianceOf('alice')).equities).toEqual([aapl, { ...msft, listed: false }])
})
