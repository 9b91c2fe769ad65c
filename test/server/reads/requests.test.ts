import request from 'supertest'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import type { Hex } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { grantedOrder, portfolioUpdate } from '../../support/authorizations.js'
import { buildApp } from '../../support/builtApp.js'
import { startTestChain, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { type ProxiedCall, startFaultProxy } from '../../support/faultProxy.js'
import { handled } from '../../support/handled.js'
import { bytes32, ORG, openRequest, setUpInstitution } from '../../support/institution.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { serverUnderTest } from '../../support/serverUnderTest.js'
import { bodyOf } from '../relay/relayUnderTest.js'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** More than a request may have calls. */
const TICKERS = Array.from(
  { length: 120 },
  (_, index) => `T${LETTERS[Math.floor(index / 26)]}${LETTERS[index % 26]}`,
)

const chain = useChain(async (started) => {
  await setUpInstitution(started)
  for (const ticker of TICKERS) await started.send('owner', 'token', 'setListed', nameToBytes32(ticker), true)
  await openRequest(started, 'alice', 'an order')
})

const ROUTES: readonly [name: string, path: () => string][] = [
  ['wallet', () => `/wallet/${chain().account('alice')}`],
  ['org', () => `/org/${ORG}`],
  ['compliance', () => `/compliance/${chain().account('alice')}`],
  ['orders', () => `/orders/${bytes32('an order')}`],
  ['policy', () => `/policy/${ORG}`],
  ['enclave-key', () => '/enclave-key'],
]
const AT_ONCE = 20

const pinned = z.tuple([z.unknown(), z.object({ blockHash: z.string() })])
/** The block that a call names by its hash: only routes do that. */
const blockOf = ({ params }: ProxiedCall) => pinned.safeParse(params).data?.[1].blockHash

/** A running server before a node that counts what routes ask. */
async function setUp() {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const requests: (string | undefined)[][] = []
  proxy.fault = (calls) => {
    const blocks = calls.map(blockOf)
    if (blocks.some((block) => block !== undefined)) requests.push(blocks)
    return 'none'
  }
  const env = { RPC_URL: proxy.url, READ_MAX_AGE: '1s' }
  const { api } = await serverUnderTest({ chain: chain(), env })
  await eventually('the listed symbols', async () => (await api.get('/health')).body.symbols.length > 0)
  await chain().provider.send('evm_mine', [])
  const head = await headOf()
  await eventually('a read of the head', async () => {
    await api.get(`/wallet/${chain().account('dave')}`).expect(200)
    return requests.at(-1)?.includes(head)
  })
  requests.length = 0
  return { api, requests, proxy }
}

async function headOf(): Promise<Hex> {
  const block = await chain().provider.getBlock('latest')
  return z.templateLiteral(['0x', z.string()]).parse(block?.hash)
}

test('a view costs one request for a block, for any number of callers, and none while it is the head', async () => {
  const { api, requests } = await setUp()
  const read = () => api.get(`/wallet/${chain().account('alice')}`).expect(200)
  const first = await headOf()
  await Promise.all(Array.from({ length: AT_ONCE }, read))
  expect(requests).toHaveLength(1)
  for (let time = 0; time < AT_ONCE; time++) await read()
  expect(requests).toHaveLength(1)

  await chain().provider.send('evm_mine', [])
  await eventually('a read of the new block', async () => {
    await read()
    return requests.length > 1
  })
  await Promise.all(Array.from({ length: AT_ONCE }, read))
  expect(requests.map((blocks) => [...new Set(blocks)])).toEqual([[first], [await headOf()]])
})

test.each(ROUTES)(
  '%s costs nothing besides, of all that a server asks, with many symbols listed',
  async (name, path) => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { app } = await buildApp({ chain: chain(), rpcUrl: proxy.url, env: { READ_MAX_AGE: '1h' } })
    const get = (asked: string) => request(app).get(asked).expect(200)
    // After one read the server knows the head, the node's chain and the list of symbols.
    const { body } = await get(`/compliance/${chain().account('dave')}`)
    expect(body.equities).toHaveLength(TICKERS.length + 1)
    proxy.requests.length = 0
    const blocks = new Set<string | undefined>()
    proxy.fault = (calls) => {
      for (const call of calls) blocks.add(blockOf(call))
      return 'none'
    }
    await Promise.all(Array.from({ length: AT_ONCE }, () => get(path())))
    expect(proxy.requests).toHaveLength(1)
    await get(path())
    expect(proxy.requests).toHaveLength(1)
    // The signer of now is read at the latest block.
    if (name !== 'enclave-key') expect([...blocks]).toEqual([await headOf()])
  },
)

test.each(['org', 'policy'])('an unknown %s is asked for once a block, however many ask', async (route) => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { app } = await buildApp({ chain: chain(), rpcUrl: proxy.url, env: { READ_MAX_AGE: '1h' } })
  await request(app)
    .get(`/wallet/${chain().account('dave')}`)
    .expect(200)
  const ids = Array.from({ length: AT_ONCE }, (_, index) => bytes32(`nobody ${index}`))
  for (let time = 0; time < 3; time++) {
    proxy.requests.length = 0
    await Promise.all([...ids, ...ids].map((id) => request(app).get(`/${route}/${id}`).expect(404)))
  }
  expect(proxy.requests).toEqual([])
})

test('trading calls go to the node at once, while reads of strangers wait for one another', async () => {
  const { api, requests, proxy } = await setUp()
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  proxy.hold = (calls) => (calls.some((call) => blockOf(call) !== undefined) ? held : undefined)
  const statusOf = async (name: string) => (await api.get(`/org/${bytes32(name)}`)).status
  const read = (name: string) => handled(statusOf(name))
  const reads = [read('the first')]
  await eventually('the first read', () => requests.length === 1)
  for (let reader = 0; reader < AT_ONCE; reader++) reads.push(read(`reader ${reader}`))
  // The chain is asked, and would not take it.
  const late = portfolioUpdate(grantedOrder(chain().account('dave')), { version: 7n })
  const { body } = await api
    .post('/relay')
    .set('Authorization', `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`)
    .send(bodyOf(chain(), late))
  expect(body.code).toBe('would-revert')
  expect(requests).toHaveLength(1)
  goOn()
  expect(await Promise.all(reads)).toEqual(reads.map(() => 404))
})

test('a chain that was reset is followed, although it is shorter', async () => {
  const other = await startTestChain()
  onTestFinished(other.stop)
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { app } = await buildApp({ chain: chain(), rpcUrl: proxy.url, env: { READ_MAX_AGE: '300ms' } })
  expect(other.addresses).toEqual(chain().addresses)
  const read = async () => (await request(app).get(`/wallet/${chain().account('alice')}`)).body
  expect(await read()).toMatchObject({ orgId: ORG })
  proxy.target = other.anvil.rpcUrl
  await eventually('the other chain', async () => (await read()).orgId === null)
})

test('a node that takes no block by its hash is asked for its latest one, each time', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  proxy.answer = (call) =>
    blockOf(call) === undefined ? undefined : { error: { code: -32_602, message: 'invalid params' } }
  const { app } = await buildApp({ chain: chain(), rpcUrl: proxy.url, env: { READ_MAX_AGE: '1h' } })
  const path = `/wallet/${chain().account('carol')}`
  expect((await request(app).get(path)).body).toMatchObject({ invitation: null })
  await chain().send('admin', 'registry', 'setMember', chain().account('carol'), true)
  expect((await request(app).get(path)).body).toMatchObject({ invitation: { orgId: ORG } })
})
