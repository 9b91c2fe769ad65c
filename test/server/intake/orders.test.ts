import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { orderReceivedSchema } from '../../../src/protocol/api.js'
import { commitOf } from '../../../src/protocol/envelope.js'
import { refund, settlement, signedCall } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import {
  chainEnvironment,
  enclaveEnvironment,
  openFor,
  sealOrder,
  startIntakeServer,
} from '../../support/intakeServer.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain(setUpInstitution)
const ORDER = bytes32('an order')

async function setUp(overrides: Record<string, string> = {}) {
  const directory = await temporaryDirectory()
  const enclave = createScriptedEnclave(directory)
  const dataDir = `${directory}/data`
  const environment = {
    ...chainEnvironment(chain()),
    ...enclaveEnvironment(enclave),
    DATA_DIR: dataDir,
    ...overrides,
  }
  const server = await startIntakeServer(environment)
  const api = request(server.url)
  return {
    ...server,
    api,
    enclave,
    environment,
    dataDir,
    /** The commits of the envelopes that runs of the order were given, in turn. */
    async commitsRun() {
      return (await enclave.jobs()).map((job) =>
        job.job === 'order' && job.envelope !== undefined ? commitOf(job.envelope) : null,
      )
    },
    post: (order: object) => api.post('/orders').send(order),
    status: async () => (await api.get(`/orders/${ORDER}`)).body,
  }
}

async function openedEnvelope() {
  const envelope = await sealOrder('the real one')
  return { envelope, order: await openFor(chain(), 'alice', ORDER, envelope), commit: commitOf(envelope) }
}

async function junk(content: string) {
  const envelope = await sealOrder(content)
  return { order: { orderId: ORDER, ...envelope }, commit: commitOf(envelope) }
}

describe('POST /orders', () => {
  test('stores the envelope, answers 202 with its Location, and has the enclave run with it', async () => {
    const { post, status, enclave } = await setUp()
    const { envelope, order, commit } = await openedEnvelope()
    const response = await post(order)
    expect(response.status).toBe(202)
    expect(response.headers.location).toBe(`/orders/${ORDER}`)
    expect(response.body).toEqual({
      orderId: ORDER,
      result: 'received',
      commit,
      receivedAt: expect.any(String),
    })
    const [trigger] = await eventually('the outcome', async () => {
      const { triggers } = await status()
      return triggers[0]?.outcome && triggers
    })
    expect(trigger).toMatchObject({ attempt: 1, reason: 'received', outcome: 'placed' })
    const [job, ...others] = await enclave.jobs()
    expect(others).toEqual([])
    expect(job).toMatchObject({ job: 'order', orderId: ORDER, envelope })
  })

  test('the same again is already-received, with the first answer, and nothing runs again', async () => {
    const { post, status, enclave } = await setUp()
    const { order } = await openedEnvelope()
    const { body } = await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    const upper = { ...order, orderId: `0x${order.orderId.slice(2).toUpperCase()}` }
    for (const again of [order, upper]) {
      const response = await post(again)
      expect(response.status).toBe(202)
      expect(response.body).toEqual({ ...body, result: 'already-received' })
    }
    expect((await status()).triggers).toHaveLength(1)
    expect(await enclave.jobs()).toHaveLength(1)
  })

  test('posted twenty times at once, it is received once', async () => {
    const { post, status, enclave } = await setUp()
    const { order } = await openedEnvelope()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(order)))
    const results = answers.map(({ body }) => orderReceivedSchema.parse(body).result).sort()
    expect(results).toEqual([...Array(19).fill('already-received'), 'received'])
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await enclave.jobs()).toHaveLength(1)
  })

  test('runs once the escrow opens, when it came before', async () => {
    const { post, status, commitsRun } = await setUp()
    const envelope = await sealOrder('early')
    expect((await post({ orderId: ORDER, ...envelope })).body.result).toBe('received')
    expect(await status()).toMatchObject({
      state: 'NONE',
      account: null,
      amount: null,
      commit: null,
      triggers: [],
    })
    await openFor(chain(), 'alice', ORDER, envelope)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await commitsRun()).toEqual([commitOf(envelope)])
  })
})

describe('junk under an orderId', () => {
  test('posted first does not keep the owner out', async () => {
    const { post, status, commitsRun } = await setUp()
    const { order: other, commit: otherCommit } = await junk('junk')
    expect((await post(other)).body).toMatchObject({ result: 'received', commit: otherCommit })
    const { order, commit } = await openedEnvelope()
    expect((await post(order)).body).toMatchObject({ result: 'received', commit })
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await commitsRun()).toEqual([commit])
    expect((await post(other)).body).toMatchObject({ result: 'already-received', commit })
  })

  test('posted eight times first fills the room, until the escrow opens', async () => {
    const { post, status, commitsRun } = await setUp()
    const others = await Promise.all(Array.from({ length: 8 }, (_, n) => junk(`junk ${n}`)))
    for (const { order, commit } of others) {
      expect((await post(order)).body).toMatchObject({ result: 'received', commit })
    }
    const envelope = await sealOrder('the real one')
    const early = await post({ orderId: ORDER, ...envelope })
    expect(early.body).toMatchObject({ result: 'already-received', commit: others[0]?.commit })
    const order = await openFor(chain(), 'alice', ORDER, envelope)
    expect((await post(order)).body).toMatchObject({ result: 'received', commit: commitOf(envelope) })
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await commitsRun()).toEqual([commitOf(envelope)])
  })

  test('posted first and after, with the owner in between, all before the escrow opens', async () => {
    const { post, status, commitsRun } = await setUp()
    const envelope = await sealOrder('the real one')
    await post((await junk('before')).order)
    await post({ orderId: ORDER, ...envelope })
    await post((await junk('after')).order)
    await openFor(chain(), 'alice', ORDER, envelope)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await commitsRun()).toEqual([commitOf(envelope)])
  })

  test('posted after the owner changes nothing', async () => {
    const { post, status, commitsRun } = await setUp()
    const { order, commit } = await openedEnvelope()
    const { body } = await post(order)
    const { order: other } = await junk('junk')
    expect((await post(other)).body).toEqual({ ...body, result: 'already-received' })
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect((await post(other)).body).toEqual({ ...body, result: 'already-received' })
    expect(await commitsRun()).toEqual([commit])
  })

  test('alone under an open escrow is never run', async () => {
    const { post, status, commitsRun } = await setUp()
    const { order, commit: wanted } = await openedEnvelope()
    const { order: other, commit } = await junk('junk')
    expect((await post(other)).body).toMatchObject({ result: 'received', commit })
    const second = await junk('more junk')
    expect((await post(second.order)).body).toMatchObject({ result: 'already-received', commit })
    // The owner's run comes after any that the junk might have had: one account has one run at a time.
    await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await commitsRun()).toEqual([wanted])
  })
})

describe('junk that would cost', () => {
  test('a call of the node each, under an order that has its envelope, costs none', async () => {
    const proxy = await startRpcProxy(chain().anvil.rpcUrl)
    const { post, status } = await setUp({ RPC_URL: proxy.url })
    const { order, commit } = await openedEnvelope()
    await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    const calls = () => proxy.requests.filter((methods) => methods.includes('eth_call')).length
    const before = calls()
    for (let n = 0; n < 10; n++) {
      const { body } = await post((await junk(`${n}`)).order)
      expect(body).toMatchObject({ result: 'already-received', commit })
    }
    // The server reads other things at times, but not once per post.
    expect(calls() - before).toBeLessThan(5)
  })

  test('more room than there is for orders without an escrow is refused, until the escrow opens', async () => {
    const { post, dataDir } = await setUp({ ENVELOPE_MAX_WAITING: '2' })
    for (const id of ['1', '2']) {
      expect((await post({ orderId: bytes32(id), ...(await sealOrder(id)) })).status).toBe(202)
    }
    const envelope = await sealOrder('the real one')
    const full = await post({ orderId: ORDER, ...envelope })
    expect([full.status, full.body.code]).toEqual([503, 'intake-full'])
    expect(Number(full.headers['retry-after'])).toBeGreaterThan(0)
    expect(await readdir(`${dataDir}/envelopes/open`)).toHaveLength(2)
    // Another envelope for an order that is stored takes no room.
    expect((await post({ orderId: bytes32('1'), ...(await sealOrder('more')) })).status).toBe(202)
    const opened = await openFor(chain(), 'alice', ORDER, envelope)
    expect((await post(opened)).body).toMatchObject({ result: 'received', commit: commitOf(envelope) })
  })

  test('room for ever expires, and what has an escrow stays', async () => {
    const settings = { ENVELOPE_EXPIRY: '1s', ENVELOPE_MAX_WAITING: '1' }
    const { post, api, dataDir, enclave } = await setUp(settings)
    const { order } = await openedEnvelope()
    await post(order)
    await eventually('the run of what has an escrow', async () => (await enclave.jobs()).length > 0)
    const gone = bytes32('never opened')
    expect((await post({ orderId: gone, ...(await sealOrder('junk')) })).status).toBe(202)
    await eventually('its end', async () => (await api.get(`/orders/${gone}`)).status === 404)
    expect(await readdir(`${dataDir}/envelopes/open`)).toEqual([`${ORDER}.json`])
    expect((await post({ orderId: gone, ...(await sealOrder('junk')) })).status).toBe(202)
  })

  test('room under an order that has ended gets none', async () => {
    const { post, status, dataDir, enclave } = await setUp()
    await openedEnvelope()
    await chain().send('relayer', ...signedCall(chain(), refund(ORDER)))
    expect((await post((await junk('late')).order)).status).toBe(202)
    await eventually('its end', async () => (await readdir(`${dataDir}/envelopes/open`)).length === 0)
    expect(await readdir(`${dataDir}/envelopes`)).toEqual(['open'])
    expect(await status()).toMatchObject({ state: 'REFUNDED', receivedAt: null, triggers: [] })
    expect(await enclave.jobs()).toEqual([])
  })
})

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
    // A file where files are begun: nothing can be written any more.
    await eventually('the file', async () => {
      await rm(`${dataDir}/tmp`, { recursive: true, force: true })
      // A write under way makes the directory again.
      return writeFile(`${dataDir}/tmp`, '').then(
        () => true,
        () => false,
      )
    })
    const response = await post(order)
    expect(response.status).toBe(503)
    expect(response.body.code).toBe('storage-unavailable')
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
    await rm(`${dataDir}/tmp`)
    expect((await post(order)).body.result).toBe('received')
    await eventually('the run', async () => (await enclave.jobs()).length > 0)
    expect(await enclave.jobs()).toHaveLength(1)
  })
})

describe('GET /orders/:orderId', () => {
  test('tells the escrow, the envelope and the runs', async () => {
    const { post, api, status, enclave } = await setUp()
    const notice = await sealOrder('why')
    await enclave.plan({ [ORDER]: [{ outcome: 'failed', notice, retryAt: 4_000_000_000 }] })
    const { order, commit } = await openedEnvelope()
    const { body: received } = await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    const response = await api.get(`/orders/${ORDER}`)
    expect(response.body).toEqual({
      orderId: ORDER,
      state: 'OPEN',
      account: chain().account('alice'),
      amount: '0',
      deadline: expect.stringMatching(/^\d{4}-.*Z$/),
      commit,
      receivedAt: received.receivedAt,
      triggers: [
        {
          attempt: 1,
          reason: 'received',
          startedAt: expect.any(String),
          finishedAt: expect.any(String),
          outcome: 'failed',
        },
      ],
      nextTriggerAt: '2096-10-02T07:06:40.000Z',
      notice,
    })
    const again = await api.get(`/orders/${ORDER}`).set('If-None-Match', String(response.headers.etag))
    expect(again.status).toBe(304)
  })

  test('an escrow without an envelope is known too', async () => {
    const { status } = await setUp()
    const { commit } = await openedEnvelope()
    expect(await status()).toMatchObject({
      state: 'OPEN',
      commit,
      receivedAt: null,
      triggers: [],
      notice: null,
    })
  })

  test('does not show the time of an envelope that is not the order’s', async () => {
    const { post, status } = await setUp()
    const { order } = await junk('junk')
    const { body } = await post(order)
    expect((await status()).receivedAt).toBe(body.receivedAt)
    await openedEnvelope()
    expect(await status()).toMatchObject({ state: 'OPEN', receivedAt: null })
  })

  test('shows no notice of an order that was settled after all', async () => {
    const { post, status, enclave } = await setUp()
    const notice = await sealOrder('why')
    await enclave.plan({ [ORDER]: [{ outcome: 'failed', notice, retryAt: 4_000_000_000 }] })
    const { order } = await openedEnvelope()
    await post(order)
    await eventually('the notice', async () => (await status()).notice)
    await chain().send('relayer', ...signedCall(chain(), settlement(ORDER)))
    expect(await status()).toMatchObject({ state: 'SETTLED', notice: null })
  })

  test('an order that neither chain nor cache knows is 404, and one without the right form 400', async () => {
    const { api } = await setUp()
    const unknown = await api.get(`/orders/${bytes32('unknown')}`)
    expect(unknown.status).toBe(404)
    expect(unknown.body.code).toBe('order-not-found')
    for (const bad of ['0x12', `${ORDER}00`, ORDER.slice(2), '..%2f..%2fetc', `0x${'zz'.repeat(32)}`]) {
      const response = await api.get(`/orders/${bad}`)
      expect(response.status).toBe(400)
      expect(response.body.code).toBe('invalid-parameter')
    }
  })
})

describe('a body that is no order', () => {
  test('gets a 4xx problem, is not stored and starts nothing', async () => {
    const { api, post, dataDir, enclave, log } = await setUp()
    const good = { orderId: ORDER, ...(await sealOrder('x')) }
    const { tag: _tag, ...untagged } = good
    const text = JSON.stringify(good)
    const offCurve = `0x02${'ff'.repeat(32)}`
    const bad: [object, string][] = [
      [{ ...good, extra: 1 }, 'invalid-body'],
      [{ ...good, orderId: '0x12' }, 'invalid-body'],
      [{ ...good, orderId: 7 }, 'invalid-body'],
      [untagged, 'invalid-body'],
      [[good], 'invalid-body'],
      [{ ...good, ct: 5 }, 'invalid-body'],
      [{ ...good, epk: offCurve }, 'invalid-envelope'],
      [{ ...good, epk: `${good.epk}00` }, 'invalid-envelope'],
      [{ ...good, iv: '0x00' }, 'invalid-envelope'],
      [{ ...good, tag: `${good.tag}0` }, 'invalid-envelope'],
      [{ ...good, ct: '0x' }, 'invalid-envelope'],
      [{ ...good, ct: 'zz' }, 'invalid-envelope'],
      [{ ...good, ct: `0x${'00'.repeat(4_097)}` }, 'invalid-envelope'],
    ]
    for (const [body, code] of bad) {
      const response = await post(body)
      expect([response.status, response.body.code]).toEqual([400, code])
    }
    const raw: [string, string, number, string][] = [
      ['application/json', '{', 400, 'malformed-json'],
      ['application/json', '', 400, 'malformed-json'],
      ['application/json', text.replace('{', '{"__proto__":{},'), 400, 'malformed-json'],
      ['application/json', text.replace('{', `{"orderId":"${ORDER}",`), 400, 'malformed-json'],
      ['text/plain', text, 415, 'unsupported-media-type'],
      ['application/x-www-form-urlencoded', text, 415, 'unsupported-media-type'],
      ['application/json', `${text}${' '.repeat(65_536)}`, 413, 'body-too-large'],
    ]
    for (const [type, body, status, code] of raw) {
      const response = await api.post('/orders').set('Content-Type', type).send(body)
      expect([response.status, response.body.code]).toEqual([status, code])
    }
    expect((await api.put('/orders').send(good)).status).toBe(405)
    expect((await api.post(`/orders/${ORDER}`).send(good)).status).toBe(405)
    expect(await readdir(dataDir)).not.toContain('envelopes')
    expect(await enclave.jobs()).toEqual([])
    expect(log.text()).not.toContain(good.ct.slice(2))
  })
})

describe('a restart', () => {
  test('runs a stored envelope again that was never run, and one whose escrow opened meanwhile', async () => {
    const first = await setUp({ RPC_URL: 'http://127.0.0.1:9' })
    const { order, commit } = await openedEnvelope()
    await first.post(order)
    const later = await sealOrder('later')
    const laterId = bytes32('later')
    await first.post({ orderId: laterId, ...later })
    await first.stop()
    await openFor(chain(), 'bob', laterId, later)
    const { environment, enclave } = first
    const second = await startIntakeServer({ ...environment, ...chainEnvironment(chain()) })
    await eventually('both runs', async () => (await enclave.jobs()).length === 2)
    expect((await first.commitsRun()).sort()).toEqual([commit, commitOf(later)].sort())
    const { body } = await eventually('the outcome', async () => {
      const response = await request(second.url).get(`/orders/${ORDER}`)
      return response.body.triggers[0]?.outcome && response
    })
    expect(body.triggers).toMatchObject([{ attempt: 1, reason: 'restart', outcome: 'placed' }])
    expect((await request(second.url).post('/orders').send(order)).body.result).toBe('already-received')
  })

  test('keeps the record of an order that has ended, apart from the open ones', async () => {
    const { post, status, enclave, dataDir, stop, environment } = await setUp()
    await enclave.plan({ [ORDER]: [{ outcome: 'rejected' }] })
    const { order, commit } = await openedEnvelope()
    await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    const { deadline } = await status()
    await chain().mineAt(Date.parse(deadline) / 1_000 + 7 * 86_400)
    await chain().send('alice', 'escrow', 'reclaim', ORDER)
    const path = `${dataDir}/envelopes/done/${ORDER.slice(2, 4)}/${ORDER}.json`
    await eventually('the record among the ended ones', () => readFile(path, 'utf8').catch(() => false))
    expect(await readdir(`${dataDir}/envelopes/open`)).toEqual([])
    expect(await status()).toMatchObject({ state: 'REFUNDED', triggers: [{ outcome: 'rejected' }] })
    expect((await post((await junk('late')).order)).body).toMatchObject({
      result: 'already-received',
      commit,
    })
    await stop()
    const second = await startIntakeServer(environment)
    const { body } = await request(second.url).get(`/orders/${ORDER}`)
    expect(body).toMatchObject({ state: 'REFUNDED', commit, triggers: [{ outcome: 'rejected' }] })
    expect(await enclave.jobs()).toHaveLength(1)
  })
})
