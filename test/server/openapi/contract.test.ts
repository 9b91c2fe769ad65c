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

interface Asked {
  readonly params?: Record<string, string>
  readonly body?: object | string
  readonly headers?: Headers
}

/** Asks for an operation by its name, and holds the answer against the document. */
function caller(server: string | Parameters<typeof request>[0]) {
  async function call(operationId: string, options: Asked = {}) {
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
  async function gets(expected: number | string, operationId: string, options?: Asked): Promise<void> {
    expect([operationId, of(await call(operationId, options))]).toEqual([operationId, expected])
  }
  return Object.assign(call, { gets })
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
    await call.gets(expected, operationId, { headers, ...(body !== undefined && { body: '{}' }) })
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
    await call.gets(200, 'postPolicy', { body: await sealOrder('rules') })
    await call.gets(200, 'postResolution', { body: await signedResolution(chain()) })
    const ending = await refundNow(chain(), order.orderId)
    const params = { orderId: order.orderId, digest: digestOf(chain(), ending) }
    await eventually('the run', async () => {
      const { body } = await call('getOrder', { params })
      return body.triggers[0]?.outcome === 'placed'
    })
    await call.gets(200, 'postAuthorization', { body: bodyOf(chain(), ending) })
    const mint = batchMint(AAPL, shares(1))
    await stopMining(chain())
    await call.gets(202, 'postAuthorization', { body: bodyOf(chain(), mint), headers: NO_WAIT })
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

  test('the files of the pages, and the start, are answered as documented', async () => {
    const { app } = await buildApp({ chain: chain() })
    await caller(app).gets(302, 'getStart')
    for (const file of pageFileSchema.options)
      await caller(app).gets(200, 'getDocsPageFile', { params: { file } })
  })
})

describe('faults of a request', () => {
  test('a foreign origin, a server that stops or has too much to do, a client in a hurry', async () => {
    const { app } = await buildApp({ chain: chain(), env: { RATE_LIMIT_PER_MINUTE: '1' } })
    const call = caller(app)
    for (const operationId of every) {
      await call.gets('403 origin-not-allowed', operationId, { headers: { Origin: 'null' } })
    }
    const headers = { Origin: ORIGIN, Authorization: 'Bearer nobody' }
    // It uses the rate up.
    await call.gets('401 relay-unauthorized', 'postAuthorization', { headers })
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
      await call.gets('400 invalid-parameter', operationId, { params: all('%ff') })
      // A signature is of one run: it is none for another.
      if (tag === 'Runs') continue
      const known = operationId === 'getDocsPageFile' ? '404 not-found' : '400 invalid-parameter'
      await call.gets(known, operationId, { params: all('0x12') })
    }
    await call.gets('404 order-not-found', 'getOrder')
    const cancel = await signedCancel(chain(), 'alice', UNKNOWN)
    await call.gets('404 order-not-found', 'postCancel', { body: cancel })
    const unknown = await call('getOrderTimeline')
    expect(of(unknown)).toBe('404 order-not-found')
    expect(unknown.body.instance).toBe(`/orders/${UNKNOWN}/timeline`)
    await call.gets('404 institution-not-found', 'getPolicyVersion', { params: { orgId: UNKNOWN } })
    await call.gets('404 institution-not-found', 'getInstitution', { params: { orgId: UNKNOWN } })
    for (const operationId of ['postRunNotice', 'postRunResult'])
      await call.gets('401 run-unauthorized', operationId)
    for (const operationId of ['postAttestation', 'postAuthorization', 'getReceipt']) {
      const nobody = { Authorization: 'Bearer nobody' }
      await call.gets('401 relay-unauthorized', operationId, { headers: nobody })
    }
  })

  test('bodies that are malformed, too long, of another type, or lack a member', async () => {
    const { app } = await buildApp({ chain: chain() })
    const call = caller(app)
    const tooLong = (id: string) => ' '.repeat(1_024 * (id === 'postAuthorization' ? 192 : 64) + 1)
    for (const { operationId } of withBody) {
      const plain = { 'Content-Type': 'text/plain' }
      await call.gets('400 malformed-json', operationId, { body: '{' })
      await call.gets('400 invalid-body', operationId, { body: '{}' })
      await call.gets('415 unsupported-media-type', operationId, { body: '{}', headers: plain })
      await call.gets('413 body-too-large', operationId, { body: tooLong(operationId) })
    }
    const envelope = { ...(await sealOrder('x')), iv: '0x00' }
    await call.gets('400 invalid-envelope', 'postOrder', { body: { orderId: UNKNOWN, ...envelope } })
    await call.gets('400 invalid-envelope', 'postPolicy', { body: envelope })
    const { sig } = await signedCancel(chain(), 'alice', UNKNOWN)
    await call.gets('400 invalid-envelope', 'postCancel', { body: { ...envelope, sig } })
    await call.gets('400 invalid-envelope', 'postResolution', { body: { ...envelope, validBefore: 0, sig } })
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
    await call.gets('403 not-order-account', 'postCancel', await by('bob'))
    await call.gets(202, 'postCancel', await by('alice'))
    const ended = bytes32('ended already')
    await openFor(chain(), 'alice', ended, await sealOrder('ended already'))
    await refundOrder(chain(), ended)
    const late = { params: { orderId: ended }, body: await signedCancel(chain(), 'alice', ended) }
    await eventually(
      'the end is seen',
      async () => (await call('getOrder', { params: late.params })).body.state === 'REFUNDED',
    )
    await call.gets('409 order-ended', 'postCancel', late)
  })

  test('authorizations that the chain would not take, and none at all', async () => {
    const { call } = await setUp()
    await call.gets('404 receipt-not-found', 'getReceipt')
    const body = bodyOf(chain(), write(), `0x${'99'.repeat(32)}`)
    await call.gets('422 invalid-signature', 'postAuthorization', { body })
    const late = portfolioUpdate(grantedOrder(chain().account('dave')), { version: 7n })
    await call.gets('422 would-revert', 'postAuthorization', { body: bodyOf(chain(), late) })
    await call.gets(200, 'postAttestation', { body: EVIDENCE })
  })
})

test('a server of an attested enclave knows no key before that has posted its evidence', async () => {
  const { app } = await buildApp({ chain: chain(), env: { INTENT_PUBKEY: '', ENCLAVE_SIGNER: '' } })
  await caller(app).gets('503 keys-awaited', 'getEnclaveKey')
})

test('a challenge is answered by an attested enclave', async () => {
  const body = { nonce: bytes32('nonce') }
  const { call } = await setUp()
  await call.gets('404 unattested-enclave', 'challengeEnclave', { body })
  let status = 200
  const url = await startRawServer((_req, res) => res.writeHead(status).end(JSON.stringify(EVIDENCE)))
  const attested = await setUp({ ENCLAVE_URL: url })
  await attested.call.gets(200, 'challengeEnclave', { body })
  status = 503
  await attested.call.gets('503 enclave-unavailable', 'challengeEnclave', { body })
})

describe('openings', () => {
  const opening = (name: string, changes = {}) =>
    sponsoredOrder(chain(), 'alice', bytes32(name), { amount: 0n, ...changes })

  test('an opening is refused if the account did not sign it, is in no institution, or the chain would not take it', async () => {
    const { call } = await setUp()
    const body = await opening('forged')
    const forged = { ...body, opening: { ...body.opening, deadline: 4_000_000_000 } }
    await call.gets('422 invalid-opening', 'postOrder', { body: forged })
    const late = await opening('late', { validBefore: 1 })
    await call.gets('422 would-revert', 'postOrder', { body: late })
    const ofCarol = await sponsoredOrder(chain(), 'carol', bytes32('of carol'), { amount: 0n })
    await call.gets('422 opening-not-sponsored', 'postOrder', { body: ofCarol })
  })

  test('two openings of one order at once, and more openings at once than the relay accepts, are refused as documented', async () => {
    const { call } = await setUp({ RELAY_MAX_OPENINGS: '2' })
    await stopMining(chain())
    const first = await opening('first')
    await call.gets(202, 'postOrder', { body: first })
    const again = await opening('first', { validBefore: Number(first.opening.validBefore) + 1 })
    await call.gets('409 opening-under-way', 'postOrder', { body: again })
    await call.gets(202, 'postOrder', { body: await opening('second') })
    await call.gets('503 relay-overloaded', 'postOrder', { body: await opening('third') })
    await mineAgain(chain())
  })

  test('an opening is refused to an account above its quota', async () => {
    const { call } = await setUp({ RELAY_ACCOUNT_DAILY_GAS: '21000' })
    await call.gets(202, 'postOrder', { body: await opening('first of the day') })
    await call.gets('429 relay-quota-exhausted', 'postOrder', { body: await opening('more than the quota') })
  })
})

describe('authorizations that the relay cannot afford', () => {
  test.each([
    ['relayer-underfunded', { RELAY_MIN_BALANCE: '1000000' }],
    ['relay-budget-exhausted', { RELAY_DAILY_GAS: '21000' }],
  ])('%s', async (code, env) => {
    const { call } = await setUp(env)
    await call.gets(`503 ${code}`, 'postAuthorization', { body: bodyOf(chain(), write()) })
    const sponsored = await sponsoredOrder(chain(), 'alice', bytes32(code), { amount: 0n })
    await call.gets(`503 ${code}`, 'postOrder', { body: sponsored })
  })

  test('more of an institution’s rulebooks than its quota has gas for', async () => {
    const { call } = await setUp({ RELAY_INSTITUTION_DAILY_GAS: '21000' })
    const publish = (version: bigint) => ({
      body: bodyOf(chain(), policyUpdate(ORG, chain().account('admin'), { version })),
    })
    await call.gets(200, 'postAuthorization', publish(1n))
    await call.gets('429 relay-quota-exhausted', 'postAuthorization', publish(2n))
  })

  test('more authorizations at once than the relay accepts', async () => {
    const { call } = await setUp({ RELAY_MAX_IN_FLIGHT: '1', RELAY_MAX_QUEUED: '0' })
    await stopMining(chain())
    await call.gets(202, 'postAuthorization', { body: bodyOf(chain(), write()), headers: NO_WAIT })
    const mint = bodyOf(chain(), batchMint(AAPL, shares(1)))
    await call.gets('503 relay-overloaded', 'postAuthorization', { body: mint, headers: NO_WAIT })
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
      await call.gets(expected, 'postPolicy', { body: await sealOrder(expected) })
      const shared = expected.replace('policy-rejected', 'resolution-rejected')
      await call.gets(shared, 'postResolution', { body: await signedResolution(chain()) })
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
    await call.gets('503 chain-unavailable', 'postPolicy', { body: await sealOrder('rules') })
    const cancel = await signedCancel(chain(), 'alice', UNKNOWN)
    await call.gets('503 chain-unavailable', 'postCancel', { body: cancel })
    await call.gets('503 chain-unavailable', 'postAuthorization', { body: bodyOf(chain(), write()) })
    const posted = async (n: number) => ({ body: { ...(await junk(`${n}`)), orderId: UNKNOWN } })
    for (let n = 0; n < 8; n++) await call.gets(202, 'postOrder', await posted(n))
    await call.gets('503 chain-unavailable', 'postOrder', await posted(9))
  })

  test('no node answers, for a receipt that there is', async () => {
    const { call, stop, dataDir } = await setUp()
    await call.gets(200, 'postAuthorization', { body: bodyOf(chain(), write()) })
    await stop()
    const later = await setUp({ DATA_DIR: dataDir, RPC_URL: 'http://127.0.0.1:9', RPC_TIMEOUT: '1s' })
    const params = { digest: digestOf(chain(), write()) }
    await later.call.gets('503 chain-unavailable', 'getReceipt', { params })
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
    await call.gets('503 storage-unavailable', 'postCancel', cancel)
    const unread = ['getEnclaveKey', 'getOrder', 'getOrderTimeline', 'getReceipt']
    await expectAll(call, unread, '503 storage-unavailable')
    for (const [operationId, body] of [
      ['postAttestation', EVIDENCE],
      ['postOrder', await junk('o')],
      ['postPolicy', await sealOrder('r')],
      ['postResolution', await signedResolution(chain())],
      ['postAuthorization', bodyOf(chain(), write())],
    ] as const)
      await call.gets('503 storage-unavailable', operationId, { body })
  })

  test.each([
    ['postRunResult', { body: { outcome: 'settled' } }],
    ['postRunNotice', { body: { code: 'reclaimed-after-fill' } }],
  ])('the storage, or the run, does not answer %s', async (operationId, message) => {
    const root = await temporaryDirectory()
    const { app } = await buildApp({ chain: chain(), root })
    expect((await caller(app)(operationId, message)).body.result).toBe('not-awaited')
    breakStores(root)
    await caller(app).gets('503 storage-unavailable', operationId, message)
  })

  test.each([
    ['there is no room for orders without an escrow', 'ENVELOPE_MAX_WAITING', '503 intake-full'],
    ["one client's share of that room is used up", 'ENVELOPE_MAX_PER_CLIENT', '429 too-many-waiting'],
  ])('%s', async (_what, limit, refusal) => {
    const { call } = await setUp({ [limit]: '1' })
    await call.gets(202, 'postOrder', { body: await junk('early') })
    await call.gets(refusal, 'postOrder', { body: await junk('late') })
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

test('bytes that never become a request are answered as documented of any operation', async () => {
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

// The last test of the file: it looks at what those above have seen.
test('every answer in the document was seen by the whole file', () => {
  expect(contract.unseen(), 'add a request to this file that gets each of these answers').toEqual([])
})
