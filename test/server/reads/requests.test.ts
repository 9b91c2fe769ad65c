import request from 'supertest'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Hex } from '../../../src/protocol/hex.js'
import { buildApp } from '../../support/builtApp.js'
import { startTestChain, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { type ProxiedCall, startFaultProxy } from '../../support/faultProxy.js'
import { bytes32, ORG, openRequest, setUpInstitution } from '../../support/institution.js'
import { chainEnvironment, enclaveEnvironment, startIntakeServer } from '../../support/intakeServer.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain(async (started) => {
  await setUpInstitution(started)
  await openRequest(started, 'alice', 'an order')
})

const ROUTES: readonly [name: string, path: () => string][] = [
  ['wallet', () => `/wallet/${chain().account('alice')}`],
  ['org', () => `/org/${ORG}`],
  ['compliance', () => `/compliance/${chain().account('alice')}`],
  ['orders', () => `/orders/${bytes32('an order')}`],
  ['policy', () => `/policy/${ORG}`],
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
  const directory = await temporaryDirectory()
  const server = await startIntakeServer({
    ...chainEnvironment(chain()),
    ...enclaveEnvironment(createScriptedEnclave(directory)),
    DATA_DIR: `${directory}/data`,
    RPC_URL: proxy.url,
    READ_MAX_AGE: '1s',
  })
  const api = request(server.url)
  await eventually('the listed symbols', async () => (await api.get('/health')).body.symbols.length > 0)
  return { api, requests }
}

async function headOf(): Promise<Hex> {
  const block = await chain().provider.getBlock('latest')
  return z.templateLiteral(['0x', z.string()]).parse(block?.hash)
}

test.each(ROUTES)(
  '%s costs one request for a block, whoever asks, and none while it is the head',
  async (_name, path) => {
    const { api, requests } = await setUp()
    const first = await headOf()
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => api.get(path())))
    expect(answers.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200))
    expect(requests).toHaveLength(1)
    for (let time = 0; time < AT_ONCE; time++) await api.get(path()).expect(200)
    expect(requests).toHaveLength(1)

    await chain().provider.send('evm_mine', [])
    await eventually('a read of the new block', async () => {
      await api.get(path()).expect(200)
      return requests.length > 1
    })
    await Promise.all(Array.from({ length: AT_ONCE }, () => api.get(path()).expect(200)))
    expect(requests.map((blocks) => [...new Set(blocks)])).toEqual([[first], [await headOf()]])
  },
)

test('a chain that was reset is followed, although it is shorter', async () => {
  const other = await startTestChain()
  try {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { app } = await buildApp({ chain: chain(), rpcUrl: proxy.url, env: { READ_MAX_AGE: '300ms' } })
    expect(other.addresses).toEqual(chain().addresses)
    const read = async () => (await request(app).get(`/wallet/${chain().account('alice')}`)).body
    expect(await read()).toMatchObject({ orgId: ORG })
    proxy.target = other.anvil.rpcUrl
    await eventually('the other chain', async () => (await read()).orgId === null)
  } finally {
    await other.stop()
  }
})

test('a node that takes no block by its hash is asked for its latest one, each time', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  proxy.answer = (call) =>
    blockOf(call) === undefined ? undefined : { error: { code: -32_602, message: 'invalid params' } }
  const { app } = await buildApp({ chain: chain(), rpcUrl: proxy.url, env: { READ_MAX_AGE: '1h' } })
  const path = `/wallet/${chain().account('carol')}`
  expect((await request(app).get(path)).body).toMatchObject({ invitedBy: null })
  await chain().send('admin', 'registry', 'setMember', chain().account('carol'), true)
  expect((await request(app).get(path)).body).toMatchObject({ invitedBy: ORG })
})
