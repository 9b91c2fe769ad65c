import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { holdStores } from '../../support/storedRows.js'
import { ORDER, useOrders } from './ordersUnderTest.js'

const { chain, setUp, openedEnvelope, junk } = useOrders()

describe('while the chain is down', () => {
  test('an envelope is kept, and runs once the chain is back', async () => {
    const proxy = await startRpcProxy(chain().anvil.rpcUrl)
    const { post, api, status, commitsRun } = await setUp({ RPC_URL: proxy.url })
    await eventually('the first look at the chain', () => proxy.requests.length > 3)
    const { order, commit } = await openedEnvelope()
    proxy.mode = 'drop'
    const { order: other } = await junk('junk')
    expect((await post(other)).body).toMatchObject({ result: 'received' })
    expect((await post(order)).body).toMatchObject({ result: 'received', commit })
    const down = await api.get(`/orders/${ORDER}`)
    expect(down.status).toBe(503)
    expect(down.headers['retry-after']).toBe('5')
    expect(down.body.code).toBe('chain-unavailable')
    proxy.mode = 'forward'
    await eventually('the outcome', async () => (await status()).triggers?.[0]?.outcome)
    expect(await commitsRun()).toEqual([commit])
  })

  test.each(['hang', 'garbage', 'refuse'] as const)('in the way "%s", too', async (mode) => {
    const proxy = await startRpcProxy(chain().anvil.rpcUrl)
    proxy.mode = mode
    const { post, status, commitsRun } = await setUp({ RPC_URL: proxy.url, RPC_TIMEOUT: '200ms' })
    const { order, commit } = await openedEnvelope()
    await post((await junk('junk')).order)
    expect((await post(order)).body).toMatchObject({ result: 'received', commit })
    proxy.mode = 'forward'
    await eventually('the outcome', async () => (await status()).triggers?.[0]?.outcome)
    expect(await commitsRun()).toEqual([commit])
  })

  test('a ninth envelope cannot be decided on: 503, and it is not stored', async () => {
    const { post } = await setUp({ RPC_URL: 'http://127.0.0.1:9' })
    for (let n = 0; n < 8; n++) expect((await post((await junk(`${n}`)).order)).status).toBe(202)
    const { order } = await junk('one too many')
    const ninth = await post(order)
    expect(ninth.status).toBe(503)
    expect(ninth.body.code).toBe('chain-unavailable')
  })
})

describe('while the storage is down', () => {
  test('nothing is accepted and nothing is run', async () => {
    const { post, dataDir, enclave } = await setUp()
    const { order } = await openedEnvelope()
    const release = holdStores(dataDir)
    const response = await post(order)
    expect(response.status).toBe(503)
    expect(response.body.code).toBe('storage-unavailable')
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
    release()
    expect((await post(order)).body.result).toBe('received')
    await eventually('the run', async () => (await enclave.jobs()).length > 0)
    expect(await enclave.jobs()).toHaveLength(1)
  })
})
