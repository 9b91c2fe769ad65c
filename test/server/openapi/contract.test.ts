import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import express from 'express'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isCached, parametersIn } from '../../../scripts/openapi/document.js'
import { OPERATIONS } from '../../../scripts/openapi/operations.js'
import { signRunMessage } from '../../../src/protocol/runMessage.js'
import { errorHandler } from '../../../src/server/http/errors.js'
import { requestId, securityHeaders } from '../../../src/server/http/middleware.js'
import { pageFileSchema } from '../../../src/server/openapi/router.js'
import { base } from '../../attestation/vectors.js'
import {
  batchMint,
  digestOf,
  grantedOrder,
  grantOrders,
  policyUpdate,
  portfolioUpdate,
  signedCall,
} from '../../support/authorizations.js'
import { SERVER_ACCOUNT, startStandIn } from '../../support/brokerStandIn.js'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
import { createContract, type SeenAnswer } from '../../support/contract.js'
import { eventually } from '../../support/eventually.js'
import { AAPL, bytes32, ORG, setUpInstitution, shares } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { limitedApp } from '../../support/limitedApp.js'
import { createLogLines } from '../../support/logLines.js'
import { refundNow, refundOrder } from '../../support/orderEnds.js'
import { startRawServer } from '../../support/rawServer.js'
import { ENCLAVE_SIGNER } from '../../support/roles.js'
import type { Step } from '../../support/scriptedEnclave.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { serverUnderTest } from '../../support/serverUnderTest.js'
import { signedCancel } from '../../support/signedCancels.js'
import { signedResolution } from '../../support/signedResolutions.js'
import { sponsoredOrder } from '../../support/sponsoredOrders.js'
import { breakStores } from '../../support/storedRows.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { bodyOf, mineAgain, stopMining } from '../relay/relayUnderTest.js'

// The whole server on a real chain; every answer of every test is checked against the document that it serves.

const chain = useChain(async (started) => {
  await setUpInstitution(started)
  await grantOrders(started, [started.account('dave')])
})
const contract = createContract()

const ORIGIN = SERVER_ENVIRONMENT.FRONTEND_ORIGIN
const AUTHORIZATION = { Authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const UNKNOWN = bytes32('nobody knows it')
const RUN_ID = '5dc2a284-70d3-4eee-95c6-57ac51d6c5e0'
const ID: Record<string, string> = {
  orderId: UNKNOWN,
  orgId: ORG,
  digest: UNKNOWN,
  file: 'start.js',
  runId: RUN_ID,
}

type Headers = Record<string, string>

/** Signs like the enclave. */
const signatureOf = (kind: 'notice' | 'result', body: string) =>
  signRunMessage(RUN_SECRET, { kind, runId: RUN_ID, body })

/** Asks for an operation by its name, and holds the answer against the document. */
function caller(server: string | Parameters<typeof request>[0]) {
  return async (
    operationId: string,
    options: { params?: Record<string, string>; body?: object | string; headers?: Headers } = {},
  ) => {
    const operation = OPERATIONS.find((each) => each.operationId === operationId)
    if (operation === undefined) throw new Error(`there is no operation ${operationId}`)
    const values: Record<string, string> = { ...ID, address: chain().account('alice'), ...options.params }
    const path = operation.path.replace(/:(\w+)/g, (_all, name: string) => values[name] ?? '')
    const body = typeof options.body === 'object' ? JSON.stringify(options.body) : options.body
    const headers = {
      ...(operation.tag === 'Relay' && AUTHORIZATION),
      ...(operation.tag === 'Runs' &&
        body !== undefined &&
        signatureOf(operationId === 'postRunNotice' ? 'notice' : 'result', body)),
      ...options.headers,
    }
    const asked = request(server)[operation.method](path).set(headers)
    const response = await (body === undefined ? asked : asked.set({ ...JSON_TYPE, ...headers }).send(body))
    fulfils(operationId, { ...response, text: response.text ?? '' })
    return response
  }
}

function fulfils(operationId: string, { status, headers, text }: SeenAnswer): void {
  expect(contract.faultsOf(operationId, { status, headers, text })).toEqual([])
}

/** Evidence with what the server reads of it. */
const EVIDENCE = {
  ...base.attestation,
  statement: JSON.stringify({ signer: ENCLAVE_SIGNER, sealKey: SERVER_ENVIRONMENT.INTENT_PUBKEY }),
}

async function setUp(env: Record<string, string> = {}, plan: Record<string, Step[]> = {}) {
  const broker = await startStandIn()
  onTestFinished(() => broker.stop())
  const account = { ALPACA_KEY_ID: SERVER_ACCOUNT.keyId, ALPACA_SECRET_KEY: SERVER_ACCOUNT.secretKey }
  const urls = { ALPACA_TRADING_URL: broker.url, ALPACA_DATA_URL: broker.url }
  const server = await serverUnderTest({ chain: chain(), env: { ...account, ...urls, ...env }, plan })
  return { ...server, call: caller(server.url), broker }
}

const junk = async (name: string) => ({ orderId: bytes32(name), ...(await sealOrder(name)) })
const write = () => portfolioUpdate(grantedOrder(chain().account('dave')))
const NO_WAIT = { Prefer: 'wait=0' }

/** The status, and the code of a problem. */
const of = ({ status, body }: request.Response) =>
  body?.code === undefined ? status : `${status} ${body.code}`

async function expectAll(
  call: ReturnType<typeof caller>,
  operations: readonly string[],
  expected: string,
  headers: Headers = {},
) {
  for (const operationId of operations) {
    const body = OPERATIONS.find((each) => each.operationId === operationId)?.body
    const answer = await call(operationId, { headers, ...(body !== undefined && { body: '{}' }) })
    expect([operationId, of(answer)]).toEqual([operationId, expected])
  }
}

const every = OPERATIONS.map(({ operationId }) => operationId)
const reads = OPERATIONS.filter(({ method }) => method === 'get')
const withBody = OPERATIONS.filter(({ body }) => body !== undefined)
const withId = OPERATIONS.filter(({ path }) => parametersIn(path).length > 0)

describe('requests that succeed', () => {
  test('is answered as documented, and 304 to who has it', async () => {
    const { call } = await setUp(
      {},
      {
        any: [{ outcome: 'placed' }],
        policy: [{ outcome: 'accepted', orgId: ORG, version: 1 }],
        resolve: [{ outcome: 'done' }],
      },
    )
    const order = await openFor(chain(), 'alice', bytes32('o'), await sealOrder('o'))
    const posted = await call('postOrder', { body: order, headers: { Origin: ORIGIN } })
    expect([posted.status, posted.body.result]).toEqual([202, 'received'])
    await chain().send('relayer', ...signedCall(chain(), policyUpdate(ORG, chain().account('admin'))))
    expect((await call('postPolicy', { body: await sealOrder('rules') })).status).toBe(200)
    expect((await call('postResolution', { body: await signedResolution(chain()) })).status).toBe(200)
    const ending = await refundNow(chain(), order.orderId)
    const params = { orderId: order.orderId, digest: digestOf(chain(), ending) }
    await eventually('the run', async () => {
      const { body } = await call('getOrder', { params })
      return body.triggers[0]?.outcome === 'placed'
    })
    expect((await call('postAuthorization', { body: bodyOf(chain(), ending) })).status).toBe(200)
    const mint = batchMint(AAPL, shares(1))
    await stopMining(chain())
    expect((await call('postAuthorization', { body: bodyOf(chain(), mint), headers: NO_WAIT })).status).toBe(
      202,
    )
    for (const { operationId } of reads.filter(isCached)) {
      const first = await call(operationId, { params, headers: { Origin: ORIGIN } })
      expect([operationId, first.status]).toEqual([operationId, 200])
      await eventually('an answer that stays', async () => {
        const { headers } = await call(operationId, { params })
        const again = await call(operationId, { params, headers: { 'If-None-Match': String(headers.etag) } })
        return again.status === 304
      })
    }
    await mineAgain(chain())
  })

  test('so are the files of the pages, and the start', async () => {
    const { app } = await buildApp({ chain: chain() })
    expect((await caller(app)('getStart')).status).toBe(302)
    for (const file of pageFileSchema.options) {
      expect((await caller(app)('getDocsPageFile', { params: { file } })).status).toBe(200)
    }
  })
})

describe('faults of a request', () => {
  test('a foreign origin, a server that stops or has too much to do, a client in a hurry', async () => {
    const { app } = await buildApp({ chain: chain(), env: { RATE_LIMIT_PER_MINUTE: '1' } })
    const call = caller(app)
    for (const operationId of every) {
      expect(of(await call(operationId, { headers: { Origin: 'null' } }))).toBe('403 origin-not-allowed')
    }
    const headers = { Origin: ORIGIN, Authorization: 'Bearer nobody' }
    // It uses the rate up.
    expect((await call('postAuthorization', { headers })).status).toBe(401)
    await expectAll(call, every, '429 rate-limited', headers)
    const shed = OPERATIONS.filter(({ tag }) => tag !== 'Runs')
    for (const [expected, limits] of [
      ['503 overloaded', { maxUnderWay: 0 }],
      ['429 too-many-at-once', { maxUnderWayPerClient: 0 }],
    ] as const) {
      const operations = shed.map(({ operationId }) => operationId)
      await expectAll(caller(limitedApp(limits).app), operations, expected, headers)
    }
    const stopping = await buildApp({ chain: chain(), stopping: AbortSignal.abort() })
    await expectAll(caller(stopping.app), every, '503 shutting-down')
  })

  test('ids that are malformed, or of nothing known', async () => {
    const { app } = await buildApp({ chain: chain() })
    const call = caller(app)
    for (const { operationId, path, tag } of withId) {
      const all = (value: string) => Object.fromEntries(parametersIn(path).map((name) => [name, value]))
      expect(of(await call(operationId, { params: all('%ff') }))).toBe('400 invalid-parameter')
      // A signature is of one run: it is none for another.
      if (tag === 'Runs') continue
      const known = operationId === 'getDocsPageFile' ? '404 not-found' : '400 invalid-parameter'
      expect(of(await call(operationId, { params: all('0x12') }))).toBe(known)
    }
    expect(of(await call('getOrder'))).toBe('404 order-not-found')
    const cancel = await signedCancel(chain(), 'alice', UNKNOWN)
    expect(of(await call('postCancel', { body: cancel }))).toBe('404 order-not-found')
    const unknown = await call('getOrderTimeline')
    expect(of(unknown)).toBe('404 order-not-found')
    expect(unknown.body.instance).toBe(`/orders/${UNKNOWN}/timeline`)
    expect(of(await call('getPolicyVersion', { params: { orgId: UNKNOWN } }))).toBe(
      '404 institution-not-found',
    )
    expect(of(await call('getInstitution', { params: { orgId: UNKNOWN } }))).toBe('404 institution-not-found')
    for (const operationId of ['postRunNotice', 'postRunResult'])
      expect(of(await call(operationId))).toBe('401 run-unauthorized')
    for (const operationId of ['postAttestation', 'postAuthorization', 'getReceipt']) {
      const nobody = { Authorization: 'Bearer nobody' }
      expect(of(await call(operationId, { headers: nobody }))).toBe('401 relay-unauthorized')
    }
  })

  test('bodies that are none', async () => {
    const { app } = await buildApp({ chain: chain() })
    const call = caller(app)
    for (const { operationId } of withBody) {
      const plain = { 'Content-Type': 'text/plain' }
      expect(of(await call(operationId, { body: '{' }))).toBe('400 malformed-json')
      expect(of(await call(operationId, { body: '{}' }))).toBe('400 invalid-body')
      expect(of(await call(operationId, { body: '{}', headers: plain }))).toBe('415 unsupported-media-type')
      expect(of(await call(operationId, { body: ' '.repeat(200_000) }))).toBe('413 body-too-large')
    }
    const envelope = { ...(await sealOrder('x')), iv: '0x00' }
    expect(of(await call('postOrder', { body: { orderId: UNKNOWN, ...envelope } }))).toBe(
      '400 invalid-envelope',
    )
    expect(of(await call('postPolicy', { body: envelope }))).toBe('400 invalid-envelope')
    const { sig } = await signedCancel(chain(), 'alice', UNKNOWN)
    expect(of(await call('postCancel', { body: { ...envelope, sig } }))).toBe('400 invalid-envelope')
    expect(of(await call('postResolution', { body: { ...envelope, validBefore: 0, sig } }))).toBe(
      '400 invalid-envelope',
    )
  })

  test('cancels: the account’s is taken, a stranger’s is not, and none after the end', async () => {
    const { call } = await setUp()
    const orderId = bytes32('to be cancelled')
    const envelope = await sealOrder('to be cancelled')
    await openFor(chain(), 'alice', orderId, envelope)
    const by = async (role: 'alice' | 'bob') => ({
      params: { orderId },
      body: await signedCancel(chain(), role, orderId),
    })
    expect(of(await call('postCancel', await by('bob')))).toBe('403 not-order-account')
    expect((await call('postCancel', await by('alice'))).status).toBe(202)
    const ended = bytes32('ended already')
    await openFor(chain(), 'alice', ended, await sealOrder('ended already'))
    await refundOrder(chain(), ended)
    const late = { params: { orderId: ended }, body: await signedCancel(chain(), 'alice', ended) }
    await eventually(
      'the end is seen',
      async () => (await call('getOrder', { params: late.params })).body.state === 'REFUNDED',
    )
    expect(of(await call('postCancel', late))).toBe('409 order-ended')
  })

  test('authorizations that the chain would not take, and none at all', async () => {
    const { call } = await setUp()
    expect(of(await call('getReceipt'))).toBe('404 receipt-not-found')
    const body = bodyOf(chain(), write(), `0x${'99'.repeat(32)}`)
    expect(of(await call('postAuthorization', { body }))).toBe('422 invalid-signature')
    const late = portfolioUpdate(grantedOrder(chain().account('dave')), { version: 7n })
    expect(of(await call('postAuthorization', { body: bodyOf(chain(), late) }))).toBe('422 would-revert')
    expect((await call('postAttestation', { body: EVIDENCE })).status).toBe(200)
  })
})

test('a server of an attested enclave knows no key before that has posted its evidence', async () => {
  const { app } = await buildApp({ chain: chain(), env: { INTENT_PUBKEY: '', ENCLAVE_SIGNER: '' } })
  expect(of(await caller(app)('getEnclaveKey'))).toBe('503 keys-awaited')
})

test('a challenge is answered by an attested enclave', async () => {
  const body = { nonce: bytes32('nonce') }
  const { call } = await setUp()
  expect(of(await call('challengeEnclave', { body }))).toBe('404 unattested-enclave')
  let status = 200
  const url = await startRawServer((_req, res) => res.writeHead(status).end(JSON.stringify(EVIDENCE)))
  const attested = await setUp({ ENCLAVE_URL: url })
  expect((await attested.call('challengeEnclave', { body })).status).toBe(200)
  status = 503
  expect(of(await attested.call('challengeEnclave', { body }))).toBe('503 enclave-unavailable')
})

describe('openings', () => {
  const opening = (name: string, changes = {}) =>
    sponsoredOrder(chain(), 'alice', bytes32(name), { amount: 0n, ...changes })

  test('an opening is refused if the account did not sign it, is in no institution, or the chain would not take it', async () => {
    const { call } = await setUp()
    const body = await opening('forged')
    const forged = { ...body, opening: { ...body.opening, deadline: 4_000_000_000 } }
    expect(of(await call('postOrder', { body: forged }))).toBe('422 invalid-opening')
    const late = await opening('late', { validBefore: 1 })
    expect(of(await call('postOrder', { body: late }))).toBe('422 would-revert')
    const ofCarol = await sponsoredOrder(chain(), 'carol', bytes32('of carol'), { amount: 0n })
    expect(of(await call('postOrder', { body: ofCarol }))).toBe('422 opening-not-sponsored')
  })

  test('two of one order at once, and more at once than the relay takes', async () => {
    const { call } = await setUp({ RELAY_MAX_OPENINGS: '2' })
    await stopMining(chain())
    const first = await opening('first')
    expect((await call('postOrder', { body: first })).status).toBe(202)
    const again = await opening('first', { validBefore: Number(first.opening.validBefore) + 1 })
    expect(of(await call('postOrder', { body: again }))).toBe('409 opening-under-way')
    expect((await call('postOrder', { body: await opening('second') })).status).toBe(202)
    expect(of(await call('postOrder', { body: await opening('third') }))).toBe('503 relay-overloaded')
    await mineAgain(chain())
  })

  test('an opening is refused to an account above its quota', async () => {
    const { call } = await setUp({ RELAY_ACCOUNT_DAILY_GAS: '21000' })
    expect((await call('postOrder', { body: await opening('first of the day') })).status).toBe(202)
    expect(of(await call('postOrder', { body: await opening('more than the quota') }))).toBe(
      '429 relay-quota-exhausted',
    )
  })
})

describe('authorizations that the relay cannot afford', () => {
  test.each([
    ['relayer-underfunded', { RELAY_MIN_BALANCE: '1000000' }],
    ['relay-budget-exhausted', { RELAY_DAILY_GAS: '21000' }],
  ])('%s', async (code, env) => {
    const { call } = await setUp(env)
    expect(of(await call('postAuthorization', { body: bodyOf(chain(), write()) }))).toBe(`503 ${code}`)
    const sponsored = await sponsoredOrder(chain(), 'alice', bytes32(code), { amount: 0n })
    expect(of(await call('postOrder', { body: sponsored }))).toBe(`503 ${code}`)
  })

  test('more of an institution’s rulebooks than its quota has gas for', async () => {
    const { call } = await setUp({ RELAY_INSTITUTION_DAILY_GAS: '21000' })
    const publish = (version: bigint) => {
      const body = bodyOf(chain(), policyUpdate(ORG, chain().account('admin'), { version }))
      return call('postAuthorization', { body })
    }
    expect((await publish(1n)).status).toBe(200)
    expect(of(await publish(2n))).toBe('429 relay-quota-exhausted')
  })

  test('more at once than it takes', async () => {
    const { call } = await setUp({ RELAY_MAX_IN_FLIGHT: '1', RELAY_MAX_QUEUED: '0' })
    await stopMining(chain())
    expect(
      (await call('postAuthorization', { body: bodyOf(chain(), write()), headers: NO_WAIT })).status,
    ).toBe(202)
    const mint = bodyOf(chain(), batchMint(AAPL, shares(1)))
    expect(of(await call('postAuthorization', { body: mint, headers: NO_WAIT }))).toBe('503 relay-overloaded')
    await mineAgain(chain())
  })
})

describe('a request that the enclave does not carry out', () => {
  test('has a code for each reason, which a rulebook and a resolution share', async () => {
    const reasons: Record<string, Step> = {
      '422 policy-rejected': { outcome: 'rejected', code: 'not-admin' },
      '502 enclave-failed': { act: 'throw' },
      '504 enclave-timeout': { outcome: 'failed', code: 'out-of-time' },
      '503 chain-unavailable': { outcome: 'failed', code: 'chain-unavailable' },
      '429 relay-quota-exhausted': { outcome: 'failed', code: 'relay-quota-exhausted' },
      '503 relay-budget-exhausted': { outcome: 'failed', code: 'relay-budget-exhausted' },
      '503 platform-paused': { outcome: 'failed', code: 'paused' },
    }
    const steps = Object.values(reasons)
    const { call } = await setUp({}, { policy: steps, resolve: steps })
    for (const expected of Object.keys(reasons)) {
      expect(of(await call('postPolicy', { body: await sealOrder(expected) }))).toBe(expected)
      const resolution = await call('postResolution', { body: await signedResolution(chain()) })
      expect(of(resolution)).toBe(expected.replace('policy-rejected', 'resolution-rejected'))
    }
  })

  test('more rulebooks, or resolutions, than may wait', async () => {
    const hang: Step[] = [{ act: 'hang' }]
    const { call } = await setUp({ POLICY_RUN_TIMEOUT: '5s' }, { policy: hang, resolve: hang })
    const rulebooks = await Promise.all(Array.from({ length: 20 }, (_none, n) => sealOrder(`${n}`)))
    const resolutions = await Promise.all(Array.from({ length: 5 }, () => signedResolution(chain())))
    const asked = [
      rulebooks.map((body) => call('postPolicy', { body })),
      resolutions.map((body) => call('postResolution', { body })),
    ]
    for (const answers of asked) {
      const codes = new Set((await Promise.all(answers)).map(of))
      expect(codes).toEqual(new Set(['503 enclave-busy', '504 enclave-timeout']))
    }
  })

  test('a resolution that has expired starts no run, nor one whose expiry another key has put off', async () => {
    const { call, enclave } = await setUp()
    const now = Math.floor(Date.now() / 1_000)
    const expired = await signedResolution(chain(), 'owner', now)
    const answer = await call('postResolution', { body: expired })
    expect([of(answer), answer.body.reason]).toEqual(['422 resolution-rejected', 'expired'])
    const putOff = await call('postResolution', { body: { ...expired, validBefore: now + 3_600 } })
    expect([of(putOff), putOff.body.reason]).toEqual(['422 resolution-rejected', 'not-owner'])
    expect((await enclave.jobs()).filter(({ job }) => job !== 'order')).toEqual([])
  })
})

describe('outages', () => {
  test('no node answers', async () => {
    const { call } = await setUp({ RPC_URL: 'http://127.0.0.1:9', RPC_TIMEOUT: '1s' })
    const chainReads = reads.filter(({ problems }) => problems?.includes('chain-unavailable'))
    const asked = chainReads.map(({ operationId }) => operationId).filter((id) => id !== 'getReceipt')
    await expectAll(call, asked, '503 chain-unavailable')
    expect(of(await call('postPolicy', { body: await sealOrder('rules') }))).toBe('503 chain-unavailable')
    const cancel = await signedCancel(chain(), 'alice', UNKNOWN)
    expect(of(await call('postCancel', { body: cancel }))).toBe('503 chain-unavailable')
    expect(of(await call('postAuthorization', { body: bodyOf(chain(), write()) }))).toBe(
      '503 chain-unavailable',
    )
    for (let n = 0; n < 8; n++)
      await call('postOrder', { body: { ...(await junk(`${n}`)), orderId: UNKNOWN } })
    const ninth = await call('postOrder', { body: { ...(await junk('9')), orderId: UNKNOWN } })
    expect(of(ninth)).toBe('503 chain-unavailable')
  })

  test('no node answers, for a receipt that there is', async () => {
    const { call, stop, dataDir } = await setUp()
    expect((await call('postAuthorization', { body: bodyOf(chain(), write()) })).status).toBe(200)
    await stop()
    const later = await setUp({ DATA_DIR: dataDir, RPC_URL: 'http://127.0.0.1:9', RPC_TIMEOUT: '1s' })
    const params = { digest: digestOf(chain(), write()) }
    expect(of(await later.call('getReceipt', { params }))).toBe('503 chain-unavailable')
  })

  test('the market does not answer', async () => {
    const { app } = await buildApp({ chain: chain() })
    await expectAll(caller(app), ['getMarket', 'getMarketBars', 'getMarketClock'], '503 market-unavailable')
  })

  test('the storage does not answer', async () => {
    const { call, dataDir } = await setUp()
    const orderId = bytes32('open, and then the disk breaks')
    await openFor(chain(), 'alice', orderId, await sealOrder('o'))
    const cancel = { params: { orderId }, body: await signedCancel(chain(), 'alice', orderId) }
    await eventually(
      'it is open',
      async () => (await call('getOrder', { params: cancel.params })).body.state === 'OPEN',
    )
    breakStores(dataDir)
    expect(of(await call('postCancel', cancel))).toBe('503 storage-unavailable')
    const unread = ['getEnclaveKey', 'getOrder', 'getOrderTimeline', 'getReceipt']
    await expectAll(call, unread, '503 storage-unavailable')
    expect(of(await call('postAttestation', { body: EVIDENCE }))).toBe('503 storage-unavailable')
    expect(of(await call('postOrder', { body: await junk('o') }))).toBe('503 storage-unavailable')
    expect(of(await call('postPolicy', { body: await sealOrder('r') }))).toBe('503 storage-unavailable')
    const resolution = { body: await signedResolution(chain()) }
    expect(of(await call('postResolution', resolution))).toBe('503 storage-unavailable')
    expect(of(await call('postAuthorization', { body: bodyOf(chain(), write()) }))).toBe(
      '503 storage-unavailable',
    )
  })

  test.each([
    ['postRunResult', { body: { outcome: 'settled' } }],
    ['postRunNotice', { body: { code: 'reclaimed-after-fill' } }],
  ])('the storage, or the run, does not answer %s', async (operationId, message) => {
    const root = await temporaryDirectory()
    const { app } = await buildApp({ chain: chain(), root })
    expect((await caller(app)(operationId, message)).body.result).toBe('not-awaited')
    breakStores(root)
    expect(of(await caller(app)(operationId, message))).toBe('503 storage-unavailable')
  })

  test('there is no room for orders without an escrow', async () => {
    const { call } = await setUp({ ENVELOPE_MAX_WAITING: '1' })
    expect((await call('postOrder', { body: await junk('early') })).status).toBe(202)
    expect(of(await call('postOrder', { body: await junk('late') }))).toBe('503 intake-full')
  })

  test("one client's share of that room is used up", async () => {
    const { call } = await setUp({ ENVELOPE_MAX_PER_CLIENT: '1' })
    expect((await call('postOrder', { body: await junk('early') })).status).toBe(202)
    expect(of(await call('postOrder', { body: await junk('late') }))).toBe('429 too-many-waiting')
  })

  test('the server itself fails', async () => {
    const app = express().disable('x-powered-by')
    app.use(requestId(), securityHeaders())
    app.use(() => {
      throw new Error('a defect')
    })
    app.use(errorHandler(createLogLines().logger))
    await expectAll(caller(app), every, '500 internal-error')
  })
})

describe('bytes that never become a request', () => {
  async function exchange(url: string, sent: string): Promise<SeenAnswer> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(sent)
    const [head = '', text = ''] = (await textOf(socket)).split('\r\n\r\n')
    const [first = '', ...lines] = head.split('\r\n')
    const headers = lines
      .map((line) => line.split(': '))
      .map(([name = '', value]) => [name.toLowerCase(), value])
    return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers), text }
  }

  test('is answered as documented of any operation', async () => {
    const { url } = await setUp({ HEADERS_TIMEOUT: '100ms' })
    for (const [status, sent] of [
      [400, 'hello\r\n\r\n'],
      [408, 'GET /health HTTP/1.1\r\nHost: a\r\n'],
      [431, `GET /health HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ] as const) {
      const answer = await exchange(url, sent)
      expect(answer.status).toBe(status)
      for (const operationId of every) fulfils(operationId, answer)
    }
  })
})

// The last test of the file: it looks at what those above have seen.
test('every answer in the document was seen by the whole file', () => {
  expect(contract.unseen(), 'add a request to this file that gets each of these answers').toEqual([])
})
