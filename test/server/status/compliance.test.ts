import request from 'supertest'
import { expect, test } from 'vitest'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
import { AAPL, MSFT, setUpInstitution } from '../../support/institution.js'
import type { Role } from '../../support/roles.js'

const chain = useChain(setUpInstitution)

async function equitiesOf(role: Role, app: Awaited<ReturnType<typeof buildApp>>['app']) {
  const response = await request(app).get(`/compliance/${chain().account(role)}`)
  expect(response.status).toBe(200)
  expect(Object.keys(response.body)).toEqual(['address', 'equities'])
  expect(response.body.address).toBe(chain().account(role))
  return response.body.equities
}

test('KYC is the wallet’s own, the same for every equity, and a freeze is of one symbol and one wallet', async () => {
  await chain().send('owner', 'token', 'setListed', MSFT, true)
  await chain().send('owner', 'token', 'setFrozen', MSFT, chain().account('alice'), true)
  const { app } = await buildApp({ chain: chain() })
  expect(await equitiesOf('alice', app)).toEqual([
    { symbol: 'AAPL', kyc: true, listed: true, frozen: false },
    { symbol: 'MSFT', kyc: true, listed: true, frozen: true },
  ])
  expect(await equitiesOf('dave', app)).toEqual([
    { symbol: 'AAPL', kyc: false, listed: true, frozen: false },
    { symbol: 'MSFT', kyc: false, listed: true, frozen: false },
  ])
})

test('a symbol that is delisted stays, with its freeze; one that was never listed is not shown', async () => {
  const alice = chain().account('alice')
  for (const symbol of [AAPL, MSFT]) await chain().send('owner', 'token', 'setFrozen', symbol, alice, true)
  const { app } = await buildApp({ chain: chain() })
  expect(await equitiesOf('alice', app)).toEqual([{ symbol: 'AAPL', kyc: true, listed: true, frozen: true }])
  await chain().send('owner', 'token', 'setListed', AAPL, false)
  expect(await equitiesOf('alice', app)).toEqual([{ symbol: 'AAPL', kyc: true, listed: false, frozen: true }])
})
