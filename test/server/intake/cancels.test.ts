import { describe, expect, test } from 'vitest'
import { makeContractWallet } from '../../contracts/fixtures/contractWallet.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32 } from '../../support/institution.js'
import { refundOrder } from '../../support/orderEnds.js'
import { signedCancel } from '../../support/signedCancels.js'
import { openIds, storedRows } from '../../support/storedRows.js'
import { ORDER, useOrders } from './ordersUnderTest.js'

const { chain, setUp: start, openedEnvelope } = useOrders()
const OTHER = bytes32('another order')
const FAR = 4_000_000_000

async function setUp(overrides: Record<string, string> = {}) {
  const server = await start(overrides)
  await server.enclave.plan({ any: [{ outcome: 'queued', retryAt: FAR, code: 'market-closed' }] })
  return {
    ...server,
    cancel: (body: object, orderId = ORDER) => server.api.post(`/orders/${orderId}/cancel`).send(body),
    /** Which runs had the cancel, in turn. */
    async cancelled() {
      const jobs = await server.enclave.jobs()
      return jobs.map((job) => job.job === 'order' && job.cancel !== undefined)
    },
  }
}

/** An order of alice that has run once and waits. */
async function waiting(server: Awaited<ReturnType<typeof setUp>>) {
  const { order } = await openedEnvelope()
  await server.post(order)
  await eventually('it waits', async () => (await server.status()).triggers[0]?.outcome === 'queued')
}

describe('a cancel', () => {
  test('is stored, then its order runs with it at once, and with each later run', async () => {
    const server = await setUp()
    await waiting(server)
    const body = await signedCancel(chain(), 'alice', ORDER)
    const answer = await server.cancel(body)
    expect([answer.status, answer.headers.location]).toEqual([202, `/orders/${ORDER}`])
    expect(answer.body).toMatchObject({ orderId: ORDER, result: 'received' })
    await eventually('a second run', async () => (await server.cancelled()).length > 1)
    expect(await server.cancelled()).toEqual([false, true])
    const { sig: _outer, ...envelope } = body
    expect((await server.enclave.jobs())[1]).toMatchObject({ cancel: envelope })
    expect(await server.status()).toMatchObject({ cancelReceivedAt: answer.body.receivedAt })
    const { entries } = (await server.api.get(`/orders/${ORDER}/timeline`)).body
    expect(entries).toContainEqual({ kind: 'cancel-received', at: answer.body.receivedAt })
  })

  test('is idempotent: the same again starts no run, nor does one that takes its place', async () => {
    const server = await setUp()
    await waiting(server)
    const body = await signedCancel(chain(), 'alice', ORDER)
    const first = await server.cancel(body)
    await eventually('a second run', async () => (await server.cancelled()).length > 1)
    expect((await server.cancel(body)).body).toEqual({ ...first.body, result: 'already-received' })
    const other = await server.cancel(await signedCancel(chain(), 'alice', ORDER))
    expect(other.body).toMatchObject({ result: 'received', receivedAt: first.body.receivedAt })
    expect(await server.cancelled()).toHaveLength(2)
  })

  test('comes with the next run when one is under way', async () => {
    const server = await setUp()
    const wait = { outcome: 'queued', retryAt: FAR, waitMs: 1_000 } as const
    await server.enclave.plan({ any: [wait, { outcome: 'queued', retryAt: FAR }] })
    const { order } = await openedEnvelope()
    await server.post(order)
    await eventually('its run', async () => (await server.cancelled()).length > 0)
    expect((await server.cancel(await signedCancel(chain(), 'alice', ORDER))).status).toBe(202)
    await eventually('another run', async () => (await server.cancelled()).length > 1)
    expect(await server.cancelled()).toEqual([false, true])
    const { triggers } = await server.status()
    expect(triggers[0].outcome).toBe('queued')
  })

  test('needs no envelope of its order', async () => {
    const server = await setUp()
    await openedEnvelope()
    expect((await server.cancel(await signedCancel(chain(), 'alice', ORDER))).status).toBe(202)
    await eventually('its run', async () => (await server.cancelled()).length > 0)
    expect((await server.enclave.jobs())[0]).not.toHaveProperty('envelope')
    expect(await server.cancelled()).toEqual([true])
  })

  test('survives a restart, and no run of its order starts without it', async () => {
    const server = await setUp()
    await waiting(server)
    await server.enclave.plan({ any: [{ outcome: 'queued', retryAt: FAR, waitMs: 500 }] })
    await server.cancel(await signedCancel(chain(), 'alice', ORDER))
    await server.stop()
    const before = (await server.cancelled()).length
    const next = await server.restart()
    await eventually('a run', async () => (await server.cancelled()).length > before)
    expect((await server.cancelled()).slice(1)).not.toContain(false)
    await next.stop()
  })

  test('is closed once its order has ended, and answered as before', async () => {
    const server = await setUp()
    await waiting(server)
    const body = await signedCancel(chain(), 'alice', ORDER)
    await server.cancel(body)
    await server.enclave.plan({ any: [{ outcome: 'refunded' }] })
    await refundOrder(chain(), ORDER)
    await eventually('its end', async () => openIds(server.dataDir, 'cancels').length === 0)
    await eventually('the state', async () => (await server.status()).state === 'REFUNDED')
    expect((await server.cancel(body)).body).toMatchObject({ result: 'already-received' })
    expect(await server.status()).toHaveProperty('cancelReceivedAt')
  })
})

test('a cancel of a contract wallet is stored where the wallet takes its signature', async () => {
  const server = await setUp()
  await waiting(server)
  await makeContractWallet(chain(), 'alice', 'bob')
  for (const [owner, status] of [
    ['carol', 403],
    ['bob', 202],
  ] as const) {
    expect((await server.cancel(await signedCancel(chain(), 'alice', ORDER, { owner }))).status).toBe(status)
  }
})

test('a cancel is of one order, chain, escrow and envelope, and a flood of others costs the node a question per block', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const server = await setUp({ RPC_URL: proxy.url })
  await waiting(server)
  const calls = () => proxy.requests.filter((methods) => methods.includes('eth_call')).length
  const before = calls()
  const { chainId } = chain().anvil
  const mine = await signedCancel(chain(), 'alice', ORDER)
  const byAlice = (changes = {}) => signedCancel(chain(), 'alice', ORDER, changes)
  const bodies = [
    ...(await Promise.all(Array.from({ length: 30 }, () => signedCancel(chain(), 'bob', ORDER)))),
    await byAlice({ signs: OTHER }),
    await byAlice({ domain: { chainId: 1, escrow: chain().addressOf('escrow') } }),
    await byAlice({ domain: { chainId, escrow: chain().addressOf('ledger') } }),
    { ...mine, tag: (await byAlice()).tag },
    { ...mine, sig: `0x${'ff'.repeat(64)}1b` },
  ]
  for (const body of bodies) {
    const answer = await server.cancel(body)
    expect([answer.status, answer.body.code]).toEqual([403, 'not-order-account'])
  }
  // The server reads other things at times, but not once per post.
  expect(calls() - before).toBeLessThan(10)
  expect(storedRows(server.dataDir, 'cancels')).toEqual([])
  expect((await server.cancel(await signedCancel(chain(), 'alice', ORDER))).status).toBe(202)
})
