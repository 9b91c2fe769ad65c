import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createReader } from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type ApiStandIn, problem, startApiStandIn } from '../support/apiStandIn.js'
import { FAST, INTENT_PUBLIC_KEY, ORG_ID } from './clientSetting.js'

const address: Hex = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'
const asOf = '2030-01-01T00:00:00Z'
const contracts = {
  institutionRegistry: address,
  orderEscrow: address,
  confidentialLedger: address,
  equityToken: address,
  platformPool: address,
}

/** Each documented route with an example of its answer. */
const answers: Record<string, object> = {
  [`/wallet/${address}`]: {
    address,
    screen: 'wait',
    orgId: ORG_ID,
    role: 'employee',
    waitingFor: ['kyc'],
    leavingAt: null,
    invitation: { orgId: ORG_ID, admin: address },
  },
  [`/org/${ORG_ID}`]: {
    orgId: ORG_ID,
    name: 'Example Capital',
    admin: address,
    walletCount: 3,
    rulesVersion: 1,
    openOrders: 2,
    pool: { usdc: '5', openOrders: 4, equities: [{ symbol: 'AAPL', shares: '7' }] },
  },
  [`/compliance/${address}`]: {
    address,
    equities: [{ symbol: 'AAPL', kyc: true, listed: true, frozen: false }],
  },
  '/market': {
    asOf,
    stale: false,
    symbols: [
      { symbol: 'AAPL', name: 'Apple', price: '1', previousClose: null, bid: '1', ask: '2', asOf: null },
    ],
    fees: [{ name: 'TAF', per: 'share', rate: '166000000', max: '8300000', on: 'sale' }],
  },
  '/market/clock': { isOpen: true, nextOpen: asOf, nextClose: asOf },
  '/health': {
    status: 'ok',
    version: '0.1.0',
    chainId: 31337,
    contracts,
    symbols: ['AAPL'],
    relayer: address,
    relayers: [address],
  },
  '/enclave-key': {
    publicKey: INTENT_PUBLIC_KEY,
    chainId: 31337,
    escrow: address,
    scheme: 'x',
    usdc: address,
  },
  [`/policy/${ORG_ID}`]: { orgId: ORG_ID, version: 3 },
}

let api: ApiStandIn
beforeAll(async () => {
  api = await startApiStandIn()
})
afterAll(() => api.stop())

const reader = () => createReader({ serverUrl: api.url, timing: FAST })

describe('the views', () => {
  it('read every documented route, amounts as integers', async () => {
    api.answerWith(({ path }) => ({ body: answers[path] }))
    expect(await reader().getWallet(address)).toMatchObject({ screen: 'wait', waitingFor: ['kyc'] })
    expect(await reader().getInstitution(ORG_ID)).toMatchObject({
      pool: { usdc: 5n, equities: [{ shares: 7n }] },
    })
    expect(await reader().getCompliance(address)).toMatchObject({ equities: [{ kyc: true }] })
    expect(await reader().getMarket()).toMatchObject({
      symbols: [{ price: 1n, previousClose: null, ask: 2n }],
      fees: [{ rate: 166_000_000n, max: 8_300_000n }],
    })
    expect(await reader().getClock()).toEqual({ isOpen: true, nextOpen: asOf, nextClose: asOf })
    expect(await reader().getHealth()).toMatchObject({ contracts, symbols: ['AAPL'] })
    expect(await reader().getEnclaveKey()).toMatchObject({ publicKey: INTENT_PUBLIC_KEY })
    expect(await reader().getPolicyVersion(ORG_ID)).toEqual({ orgId: ORG_ID, version: 3 })
  })

  it('come again after a moment’s outage, and hand on a refusal', async () => {
    let away = true
    api.answerWith(({ path }) => {
      if (!away)
        return path === '/market/clock' ? { body: answers[path] } : problem(404, 'institution-not-found')
      away = false
      return problem(503, 'market-unavailable')
    })
    expect(await reader().getClock()).toMatchObject({ isOpen: true })
    await expect(reader().getInstitution(ORG_ID)).rejects.toMatchObject({ code: 'institution-not-found' })
  })
})
