import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../scripts/openapi/operations.js'
import { EXAMPLES } from '../../scripts/openapi/schemas.js'
import { createReader } from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type ApiStandIn, problem, startApiStandIn } from '../support/apiStandIn.js'
import { FAST, ORG_ID } from './clientSetting.js'

const address: Hex = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'

/** Each documented route with the documented example of its answer. */
const answers: Record<string, unknown> = {
  [`/wallet/${address}`]: EXAMPLES.Wallet,
  [`/org/${ORG_ID}`]: EXAMPLES.Institution,
  [`/compliance/${address}`]: EXAMPLES.Compliance,
  '/market': EXAMPLES.Market,
  '/market/clock': EXAMPLES.MarketClock,
  '/health': EXAMPLES.Health,
  '/health/checks': EXAMPLES.HealthChecks,
  '/enclave-key': EXAMPLES.EnclaveKey,
  [`/policy/${ORG_ID}`]: EXAMPLES.PolicyVersion,
}

let api: ApiStandIn
beforeAll(async () => {
  api = await startApiStandIn()
})
afterAll(() => api.stop())

const reader = () => createReader({ serverUrl: api.url, timing: FAST })

describe('the table of routes in docs/client.md', () => {
  const rows = [
    ...readFileSync('docs/client.md', 'utf8').matchAll(/^\| `(GET|POST) (\S+)` +\| `(\w+)` /gm),
  ].map(([, method = '', path = '', name = '']) => ({ method, path, name }))
  const reads = rows.filter(({ method }) => method === 'GET')

  it('has every method of a reader, by the name of its operation', () => {
    const operations = new Map(
      OPERATIONS.map(({ method, path, operationId }) => [`${method.toUpperCase()} ${path}`, operationId]),
    )
    expect(rows.filter(({ method, path }) => !operations.has(`${method} ${path}`))).toEqual([])
    expect(reads.map(({ path }) => operations.get(`GET ${path}`))).toEqual(reads.map(({ name }) => name))
    const methods = Object.keys(reader()).filter((name) => name.startsWith('get'))
    expect(reads.map(({ name }) => name).toSorted()).toEqual(methods.toSorted())
  })

  it.each(reads)('says that $name asks $path', async ({ path, name }) => {
    const given = path.includes(':address') ? address : path.includes(':') ? ORG_ID : undefined
    api.requests.length = 0
    api.answerWith(() => problem(404, 'not-found'))
    const method = new Map<string, unknown>(Object.entries(reader())).get(name)
    if (typeof method !== 'function') throw new Error(`${name} is no method`)
    await expect(given === undefined ? method() : method(given)).rejects.toMatchObject({ code: 'not-found' })
    const asked = path.replace(/:\w+/, given ?? '')
    expect(api.requests.map((request) => `${request.method} ${request.path}`)).toEqual([`GET ${asked}`])
  })
})

describe('the views', () => {
  it('read every documented route, amounts as integers', async () => {
    api.answerWith(({ path }) => ({ body: answers[path] }))
    expect(await reader().getWallet(address)).toMatchObject({ screen: 'trade', waitingFor: [] })
    expect(await reader().getInstitution(ORG_ID)).toMatchObject({
      pool: { usdc: 250_000_000_000n, equities: [{ shares: 4_721_700_000n }] },
    })
    expect(await reader().getCompliance(address)).toMatchObject({ equities: [{ kyc: true }] })
    expect(await reader().getMarket()).toMatchObject({
      symbols: [
        { price: 211_790_000n, ask: 211_800_000n },
        { price: null, previousClose: null, asOf: null },
      ],
      fees: [{ rate: 166_000_000n, max: 8_300_000n }],
    })
    expect(await reader().getMarketClock()).toEqual(EXAMPLES.MarketClock)
    expect(await reader().getHealth()).toEqual(EXAMPLES.Health)
    expect(await reader().getHealthChecks()).toMatchObject({
      relayers: [{ balance: 81_250_000_000_000_000n }],
      gas: { limit: 100_000_000n, left: 62_450_000n },
    })
    expect(await reader().getEnclaveKey()).toEqual(EXAMPLES.EnclaveKey)
    expect(await reader().getPolicyVersion(ORG_ID)).toEqual(EXAMPLES.PolicyVersion)
  })

  it('come again after a moment’s outage, and hand on a refusal', async () => {
    let away = true
    api.answerWith(({ path }) => {
      if (!away)
        return path === '/market/clock' ? { body: answers[path] } : problem(404, 'institution-not-found')
      away = false
      return problem(503, 'market-unavailable')
    })
    expect(await reader().getMarketClock()).toMatchObject({ isOpen: true })
    await expect(reader().getInstitution(ORG_ID)).rejects.toMatchObject({ code: 'institution-not-found' })
  })
})
