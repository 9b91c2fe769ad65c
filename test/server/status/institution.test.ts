import request from 'supertest'
import { expect, test } from 'vitest'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { batchMint, policyUpdate, signedCall } from '../../support/authorizations.js'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
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

const chain = useChain(setUpInstitution)

test('an institution shows its counts, which follow the chain, and the totals of the whole pool', async () => {
  const { app } = await buildApp({ chain: chain() })
  const read = async () => (await request(app).get(`/org/${ORG}`).expect(200)).body
  expect(await read()).toEqual({
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
  expect(await read()).toMatchObject({ openOrders: 2, pool: { usdc: '0', openOrders: 3 } })

  await settleOrder(chain(), settled)
  await refundOrder(chain(), refunded)
  const policy = policyUpdate(ORG, chain().account('admin'))
  await chain().send('relayer', ...signedCall(chain(), policy))
  await chain().send('admin', 'registry', 'setMember', chain().account('bob'), false)
  expect(await read()).toMatchObject({
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
  const { app } = await buildApp({ chain: chain() })
  const equities = async () => (await request(app).get(`/org/${ORG}`)).body.pool.equities
  expect(await equities()).toEqual([
    { symbol: 'AAPL', shares: '10000000000' },
    { symbol: 'MSFT', shares: '4000000000' },
  ])

  const withdrawal = await openRequest(chain(), 'alice', 'withdrawal')
  const payout = { payoutAsset: AAPL, payout: shares(3) }
  await settleOrder(chain(), withdrawal, payout)
  await chain().send('owner', 'token', 'setListed', MSFT, false)
  const held = [
    { symbol: 'AAPL', shares: '7000000000' },
    { symbol: 'MSFT', shares: '4000000000' },
  ]
  expect(await equities()).toEqual(held)
  // A symbol listed later is there at once; a name that is no ticker is left out.
  for (const name of ['TSLA', 'not a ticker'])
    await chain().send('owner', 'token', 'setListed', nameToBytes32(name), true)
  expect(await equities()).toEqual([...held, { symbol: 'TSLA', shares: '0' }])
  await chain().send('owner', 'token', 'setListed', nameToBytes32('TSLA'), false)
  expect(await equities()).toEqual(held)
})
