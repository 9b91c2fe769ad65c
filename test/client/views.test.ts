import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OPERATIONS } from '../../scripts/openapi/operations.js'
import { EXAMPLES } from '../../scripts/openapi/schemas.js'
import { createReader } from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { problem, useApi } from '../support/apiStandIn.js'
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
const api = await useApi()

const reader = () => createReader({ serverUrl: api.url, timing: FAST })

const rows = [
  ...readFileSync('docs/client.md', 'utf8').matchAll(/^\| `(GET|POST) (\S+)` +\| `(\w+)` /gm),
].map(([, method = '', path = '', name = '']) => ({ method, path, name }))
const reads = rows.filter(({ method }) => method === 'GET')

it('the table of routes in docs/client.md has every method of a reader, by the name of its operation', () => {
  const operations = new Map(
    OPERATIONS.map(({ method, path, operationId }) => [`${method.toUpperCase()} ${path}`, operationId]),
  )
  expect(rows.filter(({ method, path }) => !operations.has(`${method} ${path}`))).toEqual([])
  expect(reads.map(({ path }) => operations.get(`GET ${path}`))).toEqual(reads.map(({ name }) => name))
  const methods = Object.keys(reader()).filter((name) => name.startsWith('get'))
  expect(reads.map(({ name }) => name).toSorted()).toEqual(methods.toSorted())
})

it.each(reads)('the table of routes in docs/client.md says that $name asks $path', async ({ path, name }) => {
  const given = path.includes(':address') ? address : path.includes(':') ? ORG_ID : undefined
  api.requests.length = 0
  api.answerWith(() => problem(404, 'not-found'))
  const method = new Map<string, unknown>(Object.entries(reader())).get(name)
  if (typeof method !== 'function') throw new Error(`${name} is no method`)
  await expect(given === undefined ? method() : method(given)).rejects.toMatchObject({ code: 'not-found' })
  const asked = path.replace(/:\w+/, given ?? '')
  expect(api.requests.map((request) => `${request.method} ${request.path}`)).toEqual([`GET ${asked}`])
})

it('the views read every documented route, amounts as integers', async () => {
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
