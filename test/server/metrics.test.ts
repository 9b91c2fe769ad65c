import { formatEther } from 'ethers'
import { expect, test } from 'vitest'
import { RELAYED_TYPES } from '../../src/protocol/relayReceipt.js'
import { PROBLEMS } from '../../src/server/http/problemCodes.js'
import { batchMint, digestOf } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, bytes32, setUpInstitution, shares } from '../support/institution.js'
import { openFor, sealOrder } from '../support/intakeServer.js'
import { metricsOf } from '../support/ops.js'
import { ROLES } from '../support/roles.js'
import type { Step } from '../support/scriptedEnclave.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { serverUnderTest } from '../support/serverUnderTest.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { bodyOf } from './relay/relayUnderTest.js'

const chain = useChain(setUpInstitution)
const MINT = batchMint(AAPL, shares(5))
const ORDER = bytes32('an order')

async function start(plan: Record<string, Step[]> = {}) {
  const server = await serverUnderTest({
    chain: chain(),
    plan: { any: [{ outcome: 'failed' }], ...plan },
    env: { NARRATOR_INTERVAL: '50ms' },
  })
  const { opsUrl, url } = server
  const post = (path: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`,
      },
      body: JSON.stringify(body),
    })
  /** Resolves once the series has that value. */
  const becomes = (name: string, labels: Record<string, string>, value: number) =>
    expect.poll(async () => (await metricsOf(opsUrl)).find(name, labels)).toBe(value)
  return { url, post, becomes, metrics: () => metricsOf(opsUrl) }
}

test('requests are counted by route, never by path, and by methods that are known', async () => {
  const server = await start()
  const wallets = ROLES.map((role) => chain().account(role))
  for (const wallet of wallets) await fetch(`${server.url}/wallet/${wallet}`)
  await fetch(`${server.url}/canary/${ORDER}`)
  await fetch(`${server.url}/canary`, { method: 'PROPFIND' })
  const requests = (method: string, route: string, status: string) =>
    server.becomes('trading_http_requests_total', { method, route, status }, 1)
  await requests('GET', 'unmatched', '404')
  await requests('other', 'unmatched', '404')
  const { find } = await server.metrics()
  const route = '/wallet/:address'
  expect(find('trading_http_requests_total', { route, status: '200' })).toBe(wallets.length)
  expect(find('trading_http_request_duration_seconds_count', { route })).toBe(wallets.length)
})

test('every problem is counted from the start, so that its first increase is seen; nodes, leases and narration have gauges', async () => {
  const server = await start()
  const head = await chain().provider.getBlockNumber()
  await server.becomes('trading_narrator_block', {}, head)
  const { samples, find } = await server.metrics()
  const problems = samples.filter(({ name }) => name === 'trading_http_problems_total')
  expect(problems.map(({ labels }) => labels.code)).toEqual(Object.keys(PROBLEMS))
  expect(problems.every(({ value }) => value === 0)).toBe(true)
  expect(find('trading_narrator_lag_blocks')).toBe(0)
  const polledAt = find('trading_narrator_last_poll_timestamp_seconds') ?? 0
  expect(Math.abs(polledAt - Date.now() / 1_000)).toBeLessThan(60)
  expect(find('trading_lease_served', { lease: 'narrator' })).toBe(1)
  expect(find('trading_lease_terms_total', { lease: 'narrator' })).toBe(1)
  expect(find('trading_rpc_requests_total', { node: '0', outcome: 'ok' })).toBeGreaterThan(0)
  expect(find('trading_rpc_request_duration_seconds_count', { node: '0' })).toBeGreaterThan(0)
  expect(find('trading_rpc_node_up', { node: '0' })).toBe(1)
  for (const check of ['chain', 'leases']) expect(find('trading_check_status', { check })).toBe(0)
  expect(find('trading_database_standbys')).toBeUndefined()
  await fetch(`${server.url}/wallet/0x12`)
  await server.becomes('trading_http_problems_total', { code: 'invalid-parameter' }, 1)
})

test('each authorization that has come to its end is counted, by type and status', async () => {
  const server = await start()
  const before = await server.metrics()
  const gas = (name: string) => before.find(`trading_relay_gas_${name}`)
  expect(gas('reserve_remaining')).toBe(gas('reserve'))
  expect(gas('remaining')).toBe(Number(gas('per_day')) - Number(gas('reserve')))
  const relayed = before.samples.filter(({ name }) => name === 'trading_relay_authorizations_total')
  expect(new Set(relayed.map(({ labels }) => labels.type))).toEqual(new Set(RELAYED_TYPES))
  expect((await server.post('/relay', bodyOf(chain(), MINT))).status).toBe(200)
  await server.becomes('trading_relay_authorizations_total', { type: 'BatchMint', status: 'confirmed' }, 1)
  const { find } = await server.metrics()
  expect(find('trading_relay_authorization_duration_seconds_count', { status: 'confirmed' })).toBe(1)
  const balance = await chain().provider.getBalance(chain().account('relayer'))
  await server.becomes('trading_relayer_balance_ether', {}, Number(formatEther(balance)))
})

test('runs of the enclave are counted by what they came to, and what somebody has to act on', async () => {
  const server = await start({
    [ORDER]: [{ outcome: 'failed', code: 'ledger-unreadable' }, { act: 'throw' }, { outcome: 'rejected' }],
    policy: [{ outcome: 'rejected', code: 'canary-of-the-enclave' }],
  })
  const envelope = await sealOrder('buy')
  await server.post('/orders', await openFor(chain(), 'alice', ORDER, envelope))
  await server.post('/policy', await sealOrder('rules'))
  const runs = (kind: string, outcome: string) =>
    server.becomes('trading_enclave_runs_total', { kind, outcome }, 1)
  await runs('policy', 'rejected')
  await runs('order', 'failed')
  const { find, text: told } = await server.metrics()
  expect(find('trading_enclave_alarms_total', { code: 'ledger-unreadable' })).toBe(1)
  expect(find('trading_enclave_alarms_total', { code: 'reclaimed-after-fill' })).toBe(0)
  expect(told).not.toContain('canary')
  expect(find('trading_orders_watched')).toBe(1)
  for (const kind of ['order', 'policy', 'reconcile'])
    await server.becomes('trading_enclave_runs_under_way', { kind }, 0)
})

test('gauges tell of orders that nothing is known of yet, and of those that wait', async () => {
  const directory = await temporaryDirectory()
  const server = await start({ [ORDER]: [{ outcome: 'placed', untilFile: `${directory}/go` }] })
  await server.post('/orders', { orderId: bytes32('unopened'), ...(await sealOrder('junk')) })
  await server.becomes('trading_orders_unopened', {}, 1)
  for (const orderId of [ORDER, bytes32('the same account’s next')])
    await server.post('/orders', await openFor(chain(), 'alice', orderId, await sealOrder(orderId)))
  await server.becomes('trading_enclave_runs_under_way', { kind: 'order' }, 1)
  await server.becomes('trading_orders_due', {}, 1)
  expect((await server.metrics()).find('trading_orders_longest_wait_seconds')).toBeGreaterThan(0)
})

test('no metric contains an address, id, digest or account after any request, and all follow the conventions', async () => {
  const server = await start({ [ORDER]: [{ outcome: 'placed', retryAt: 4_000_000_000 }] })
  const envelope = await sealOrder('buy')
  await server.post('/orders', await openFor(chain(), 'alice', ORDER, envelope))
  await server.post('/relay', bodyOf(chain(), MINT))
  await server.becomes('trading_enclave_runs_total', { kind: 'order', outcome: 'placed' }, 1)
  await fetch(`${server.url}/orders/${ORDER}?canary`)
  await fetch(`${server.url}/relay/${digestOf(chain(), MINT)}`, {
    headers: { authorization: 'Bearer canary', 'x-request-id': 'canary' },
  })
  const { types, text: told } = await server.metrics()
  expect(told).not.toMatch(/0x|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-fA-F]{32}|canary|127\.0\.0\.1|AAPL/)
  const ours = [...types].filter(([name]) => name.startsWith('trading_'))
  expect(ours.length).toBeGreaterThan(20)
  for (const [name, type] of ours) {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(name.endsWith('_total'), `${name} is a ${type}`).toBe(type === 'counter')
    if (type === 'histogram') expect(name).toMatch(/_seconds$/)
    expect(told).toMatch(new RegExp(`^# HELP ${name} [A-Z1].*\\.$|^# HELP ${name} .*\\)\\.?$`, 'm'))
  }
})
