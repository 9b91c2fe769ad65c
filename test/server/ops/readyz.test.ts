// A server on a real chain, and what breaks under it.
import { expect, onTestFinished, test } from 'vitest'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { healthChecksSchema } from '../../../src/protocol/api.js'
import { batchMint } from '../../support/authorizations.js'
import { startTestChain, type TestChain, useChain } from '../../support/chain.js'
import { type Answer, startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, setUpInstitution, shares } from '../../support/institution.js'
import { metricsOf, readinessOf } from '../../support/ops.js'
import { CLOSED_URL, startRawServer } from '../../support/rawServer.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { serverUnderTest } from '../../support/serverUnderTest.js'
import { holdStores } from '../../support/storedRows.js'
import { storeState } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { bodyOf } from '../relay/relayUnderTest.js'

const chain = useChain(setUpInstitution)

const CHECKS = ['server', 'chain', 'contracts', 'relayer', 'enclave', 'store', 'leases', 'orders', 'narrator']

/** A server for which all is well, but for what is changed. */
async function start(env: Record<string, string> = {}, on: TestChain = chain()) {
  const server = await serverUnderTest({ chain: on, env })
  return { server, dataDir: server.dataDir, readiness: () => readinessOf(server.opsUrl) }
}

type Started = Awaited<ReturnType<typeof start>>

function becomes({ readiness }: Started, expected: object) {
  return expect.poll(readiness).toMatchObject(expected)
}

/** Gives the relayer's account so many wei. */
function fund(wei: bigint) {
  return chain().provider.send('anvil_setBalance', [chain().account('relayer'), toQuantity(wei)])
}

/** Status and code of what `POST /relay` answers. */
async function refusal({ server }: Started) {
  const response = await fetch(`${server.url}/relay`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`,
    },
    body: JSON.stringify(bodyOf(chain(), batchMint(AAPL, shares(5)))),
  })
  return [response.status, (await response.json()).code]
}

test('a server for which all is well is ready, and its public port has no such route', async () => {
  const started = await start()
  await becomes(started, { code: 200, status: 'healthy', checks: CHECKS, faults: {} })
  for (const path of ['/livez', '/readyz', '/metrics'])
    expect((await fetch(started.server.url + path)).status, path).toBe(404)
})

test('the public port shows the same checks, the balance of the relayer and the gas of the day', async () => {
  const { server } = await start({ RELAY_DAILY_GAS: '50000000' })
  const ask = async () => healthChecksSchema.parse(await (await fetch(`${server.url}/health/checks`)).json())
  const shown = await ask()
  expect(shown.checks.map(({ name }) => name)).toEqual(CHECKS)
  const relayer = chain().account('relayer')
  expect(shown.relayer).toEqual({ address: relayer, balance: await chain().provider.getBalance(relayer) })
  expect(shown.gas).toEqual({
    ...{ limit: 50_000_000n, remaining: 40_000_000n },
    ...{ reserve: 10_000_000n, reserveRemaining: 10_000_000n },
  })
  // However many ask, they share an inspection.
  expect((await ask()).asOf).toBe(shown.asOf)
})

test('not ready when the node is killed', async () => {
  const mortal = await startTestChain()
  onTestFinished(() => mortal.stop())
  const started = await start({}, mortal)
  await becomes(started, { code: 200 })
  await mortal.anvil.stop()
  await becomes(started, {
    code: 503,
    status: 'unhealthy',
    faults: { chain: 'no-node-answers', contracts: 'chain-unavailable', relayer: 'chain-unavailable' },
  })
  expect((await fetch(`${started.server.opsUrl}/livez`)).status).toBe(200)
})

test('not ready while the node hangs, in bounded time, with one question of each check under way', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const started = await start({ RPC_URL: proxy.url, RPC_TIMEOUT: '8s' })
  await becomes(started, { code: 200 })
  proxy.fault = 'hang'
  const late = 'no-answer-in-time'
  await becomes(started, { code: 503, faults: { chain: late, contracts: late, relayer: late } })
  // Each of the three hangs in one request, however often somebody asks.
  const asked = proxy.requests.length
  for (let times = 0; times < 20; times++) expect((await started.readiness()).code).toBe(503)
  expect(proxy.requests.length).toBe(asked)
  proxy.fault = 'none'
  await becomes(started, { code: 200, faults: {} })
})

test('not ready when the node becomes one of another chain', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const started = await start({ RPC_URL: proxy.url })
  await becomes(started, { code: 200 })
  proxy.answer = ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)
  await becomes(started, { code: 503, faults: { chain: 'other-chain' } })
})

test('not ready when a contract is not there', async () => {
  const started = await start({ EQUITY_TOKEN_ADDRESS: SERVER_ENVIRONMENT.EQUITY_TOKEN_ADDRESS })
  await becomes(started, { code: 503, faults: { contracts: 'contract-missing' } })
})

test('not ready when the relayer’s account is drained, as POST /relay says too, until it is funded', async () => {
  const started = await start()
  await becomes(started, { code: 200 })
  await fund(10n ** 16n - 1n)
  await becomes(started, { code: 503, faults: { relayer: 'relayer-underfunded' } })
  expect(await refusal(started)).toEqual([503, 'relayer-underfunded'])
  await fund(10n ** 18n)
  await becomes(started, { code: 200, faults: {} })
})

test('not ready when nothing can be written, until it can', async () => {
  const started = await start()
  await becomes(started, { code: 200 })
  const release = holdStores(started.dataDir)
  await becomes(started, { code: 503, faults: { store: 'store-not-writable' } })
  release()
  await becomes(started, { code: 200, faults: {} })
})

test('not ready when no enclave answers where jobs are posted, and while one waits for its keys, as the metrics say', async () => {
  let keys: string | undefined
  const ENCLAVE_URL = await startRawServer((request, response) => {
    if (keys === undefined) request.socket.destroy()
    else response.end(JSON.stringify({ keys }))
  })
  const started = await start({ ENCLAVE_URL })
  await becomes(started, { code: 503, faults: { enclave: 'enclave-host-unreachable' } })
  keys = 'awaited'
  await becomes(started, { code: 503, faults: { enclave: 'enclave-keys-awaited' } })
  const shown = async () => {
    const { samples } = await metricsOf(started.server.opsUrl)
    return samples.filter(({ name }) => name === 'trading_check_fault')
  }
  const labels = { reason: 'enclave-keys-awaited' }
  expect(await shown()).toEqual([{ name: 'trading_check_fault', labels, value: 2 }])
  keys = 'present'
  await becomes(started, { code: 200, faults: {} })
  expect(await shown()).toEqual([])
})

test('degraded, and ready nevertheless, while one node of several does not answer', async () => {
  const started = await start({ RPC_URL: `${CLOSED_URL},${chain().anvil.rpcUrl}` })
  await becomes(started, { code: 200, status: 'degraded', faults: { chain: 'node-set-aside' } })
})

test('degraded, and ready nevertheless, while the latest block of the only node is more than half an hour old', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const started = await start({ RPC_URL: proxy.url })
  const head = await chain().provider.send('eth_getBlockByNumber', ['latest', false])
  const behind = (seconds: number): Answer => ({
    result: { ...head, timestamp: toQuantity(Math.floor(Date.now() / 1_000) - seconds) },
  })
  proxy.answer = ({ params }) => (params[0] === 'latest' ? behind(1_860) : undefined)
  await becomes(started, { code: 200, status: 'degraded', faults: { chain: 'head-old' } })
  proxy.answer = ({ params }) => (params[0] === 'latest' ? behind(1_500) : undefined)
  await becomes(started, { code: 200, faults: {} })
})

test('degraded, and ready nevertheless, while the narrator catches up', async () => {
  const genesis = await chain().provider.getBlock(0)
  await chain().provider.send('anvil_mine', ['0x400'])
  const dataDir = await temporaryDirectory()
  const start0 = { number: 0, hash: genesis?.hash }
  const cursor = { genesis: genesis?.hash, start: start0, blocks: [{ ...start0, told: [] }] }
  await storeState(dataDir, 'narrator', cursor)
  const started = await start({ RPC_LOG_RANGE: '1', DATA_DIR: dataDir })
  await becomes(started, { code: 200, status: 'degraded', faults: { narrator: 'narration-behind' } })
})
