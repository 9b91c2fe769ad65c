// Secrets are planted, the platform lives through a day of trades and troubles, and all that server and enclave let out is searched.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishRulebook } from '../../src/client/admin.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { INSTITUTION, ROOT } from '../../src/sandbox/settings.js'
import { eventually } from '../support/eventually.js'
import { hostileRequests, sendAll, sendRaw } from '../support/hostile.js'
import { startProgram } from '../support/program.js'
import type { Canary } from './support/canaries.js'
import { useDesk } from './support/desk.js'
import { enclaveProcesses, killEnclaves } from './support/enclaveProcesses.js'
import { createEvidence, type Kind } from './support/evidence.js'
import { startRecorder } from './support/recorder.js'
import { PLANTED, secretsOf } from './support/secrets.js'
import { brokerOrder } from './support/trader.js'
import { type Watch, watchFiles, watchProcesses } from './support/watch.js'

const { tradedSymbol: symbol, restrictedSymbol, saleAmount, maxOrderNotional } = PLANTED

const evidence = createEvidence()
const recorder = await startRecorder(evidence)
const desk = useDesk({
  recorder,
  serverSettings: {
    LOG_LEVEL: 'debug',
    RATE_LIMIT_PER_MINUTE: '1000000',
  },
})
const watches: Watch[] = []

beforeAll(() => {
  const { sandbox } = desk()
  watches.push(
    watchFiles(evidence, join(sandbox.directory, 'server')),
    watchProcesses(evidence, () => [sandbox.server().pid, sandbox.enclave().pid]),
  )
})
afterAll(async () => {
  await Promise.all(watches.map((watch) => watch.stop()))
  await recorder.stop()
})

it('a day of the platform: a rulebook, and one that is rejected', async () => {
  const { admin, traders } = desk()
  const [alice, bob, carol] = traders
  const all = { canBuy: true, canSell: true, restricted: [] }
  const employees = {
    [alice.account.address]: all,
    [bob.account.address]: { ...all, canSell: false },
    [carol.account.address]: { ...all, restricted: [restrictedSymbol] },
  }
  const policy = { employees, maxOrderNotional, allowWithdrawShares: true }
  await publishRulebook(admin, policy)
  const unlisted = { [bob.account.address]: { ...all, restricted: [PLANTED.unlistedSymbol] } }
  const rejected = publishRulebook(admin, { ...policy, employees: { ...employees, ...unlisted } })
  const error: unknown = await rejected.catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'policy-rejected' })
  evidence.add('error', 'a rejected rulebook', inspect(error, { depth: null }))
})

it('a day of the platform: a buy, and orders that the rulebook refuses', async () => {
  const [alice, , carol] = desk().traders
  const bought = await alice.trade({ side: 'BUY', symbol, usdc: 15_000n * ONE_USDC })
  expect(bought.state).toBe('SETTLED')
  const tooMuch = await alice.trade({ side: 'SELL', symbol, usdc: PLANTED.refusedAmount })
  expect(await alice.reason(tooMuch)).toBe('over-limit')
  const no = await carol.trade({ side: 'BUY', symbol: restrictedSymbol, usdc: 100n * ONE_USDC })
  expect(await carol.reason(no)).toBe('restricted-symbol')
})

it('a day of the platform: a sale in two parts, a withdrawal', async () => {
  const [alice] = desk().traders
  const { broker } = desk().sandbox
  broker.fill({ symbol, mode: 'partial', fraction: '0.3', times: 1 })
  const orderId = await alice.send({ side: 'SELL', symbol, usdc: saleAmount })
  await alice.reaches(orderId, 'placed')
  broker.release({ symbol })
  expect((await alice.ended(orderId)).state).toBe('SETTLED')
  const out = await alice.trade({ side: 'WITHDRAW', usdc: 10n * ONE_USDC })
  expect(out.state).toBe('SETTLED')
  for (const ended of [orderId, out.orderId]) {
    expect((await alice.client.getOrderTimeline(ended)).entries.length).toBeGreaterThan(4)
  }
})

it('a day of the platform: an enclave that is killed, then the server', async () => {
  const [alice] = desk().traders
  const { sandbox } = desk()
  sandbox.broker.fill({ symbol, mode: 'hold', times: 1 })
  const orderId = await alice.send({ side: 'BUY', symbol, usdc: 300n * ONE_USDC })
  await eventually('the order is at the broker', () => brokerOrder(sandbox, orderId))
  const [enclave] = await enclaveProcesses(sandbox)
  const names = enclave?.environment.map((variable) => variable.split('=')[0])
  // The tests' programs share a cache of compiled code; it has nothing of their data.
  expect(names?.filter((name) => name !== 'NODE_COMPILE_CACHE')).toEqual([
    'PATH',
    'MALLOC_ARENA_MAX',
    'ENCLAVE_ENV_FILE',
  ])
  expect(await killEnclaves(sandbox)).toBe(1)
  await alice.reaches(orderId, 'failed')
  await sandbox.server().kill()
  await sandbox.restartServer()
  sandbox.broker.release({ symbol })
  expect((await alice.ended(orderId)).state).toBe('SETTLED')
})

it('a day of the platform: a broker whose errors quote what it knows', async () => {
  const [alice] = desk().traders
  const { broker } = desk().sandbox
  const message = `${symbol} for ${saleAmount} by ${alice.account.privateKey}: try again`
  const respond = { status: 500, body: { code: 50_010_000, message }, headers: { 'x-note': symbol } }
  broker.fault({ method: 'POST', path: '/v2/orders', respond, times: 1 })
  broker.fault({ account: 'server', respond, times: 20 })
  const orderId = await alice.send({ side: 'SELL', symbol, usdc: saleAmount })
  const answer = async (status: number) => {
    for (const path of ['/market', '/market/clock']) {
      const answers = async () => (await fetch(recorder.url + path)).status === status
      await eventually(`${path} answers ${status}`, answers)
    }
  }
  await answer(503)
  broker.clear({ what: 'faults' })
  expect((await alice.ended(orderId)).state).toBe('SETTLED')
  // The server asks a broker that has failed again only after a pause.
  await answer(200)
})

it('a day of the platform: every view', async () => {
  const { sandbox, traders } = desk()
  const { address } = traders[0].account
  const org = nameToBytes32(INSTITUTION)
  const receipt = evidence.sources('file').find((path) => path.startsWith('relays/'))
  expect(receipt).toMatch(/0x[0-9a-f]{64}$/)
  const paths = [
    ...['enclave-key', 'health', 'market', 'market/clock', `orders/0x${'00'.repeat(32)}`],
    ...[`wallet/${address}`, `compliance/${address}`, `org/${org}`, `policy/${org}`],
    `relay/${receipt?.slice(-'0x'.length - 64)}`,
  ]
  const headers = { authorization: `Bearer ${sandbox.secrets.relayAuthToken}` }
  await sendAll(
    recorder.url,
    paths.map((path) => ({ path: `/${path}`, headers })),
  )
})

it('a day of the platform: requests that quote every secret, in paths, bodies and headers', async () => {
  const { relayAuthToken } = desk().sandbox.secrets
  for (const { name, written } of await secretsOf(desk())) {
    const statuses = await sendAll(recorder.url, hostileRequests(written, relayAuthToken))
    expect(statuses.filter((status) => status >= 500)).toEqual([])
    const answer = await sendRaw(await recorder.target, `GET /${written} ${written}\r\n${written}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    evidence.add('response', `no HTTP, with ${name}`, answer)
  }
})

it('a day of the platform: a configuration of server and enclave with every value at the wrong place', async () => {
  const { sandbox } = desk()
  for (const [program, file, args] of [
    ['server', '.env', []],
    ['enclave', '.env.enclave', ['serve']],
  ] as const) {
    const text = await readFile(join(sandbox.directory, file), 'utf8')
    const names = text.split('\n').map((line) => line.split('=')[0])
    const values = (await secretsOf(desk())).map(({ written }) => written)
    const wrong = names.map((name, index) => `${name}= ${values[index % values.length]} `)
    await writeFile(join(sandbox.directory, 'wrong.env'), wrong.join('\n'), { mode: 0o600 })
    const env = {
      [program === 'server' ? 'ENV_FILE' : 'ENCLAVE_ENV_FILE']: join(sandbox.directory, 'wrong.env'),
    }
    const started = startProgram(join(ROOT, `dist/${program}/main.js`), args, { env })
    expect(await started.exit).toBe(1)
    expect(started.err()).toMatch(/CHAIN_ID: /)
    evidence.add('error', `the configuration of the ${program}`, started.out() + started.err())
  }
})

describe('the platform’s output', () => {
  let canaries: Canary[] = []
  beforeAll(async () => {
    const { sandbox } = desk()
    canaries = await secretsOf(desk())
    await Promise.all(watches.map((watch) => watch.stop()))
    for (const name of ['server.log', 'enclave.log'])
      evidence.add('log', name, await readFile(join(sandbox.directory, name)))
    evidence.add('log', 'narration', desk().lines().join('\n'))
  })

  it.each<Kind>(['log', 'response', 'file', 'process', 'error'])('holds no secret in any %s', (kind) => {
    expect(evidence.sources(kind)).not.toEqual([])
    expect(evidence.search(kind, canaries)).toEqual([])
  })

  it('has been seen whole: every route with its kinds of answers, every kind of file', () => {
    const answers = new Set(evidence.sources('response').map((source) => source.replace(/0x\w+/, '*')))
    const expected = [
      ...['GET /enclave-key 200', 'GET /health 200', 'GET /market 200', 'GET /market/clock 200'],
      ...['GET /wallet/* 200', 'GET /org/* 200', 'GET /compliance/* 200', 'GET /policy/* 200'],
      ...['POST /orders 202', 'POST /orders 400', 'POST /orders 403', 'POST /orders 415'],
      ...['GET /orders/* 200', 'GET /orders/* 404', 'POST /policy 200', 'POST /policy 400'],
      ...['POST /policy 422', 'POST /relay 200', 'POST /relay 400', 'POST /relay 401'],
      ...['GET /relay/* 200', 'GET /market 503', 'GET /market/clock 503'],
    ]
    expect(expected.filter((answer) => !answers.has(answer))).toEqual([])
    for (const path of [
      /^orders\/open\/0x[0-9a-f]{64}$/,
      /^orders\/done\/0x[0-9a-f]{64}$/,
      /^relays\/done\/0x[0-9a-f]{64}$/,
      /^runs\/open\/[0-9a-f-]{36}$/,
      /^state\/open\/narrator$/,
      /^server\.db$/,
    ]) {
      expect(
        evidence.sources('file').some((source) => path.test(source)),
        String(path),
      ).toBe(true)
    }
    // Without what bounds their heaps.
    const commands = evidence.sources('process').map((command) => command.replaceAll(/ --\S+/g, ''))
    expect(new Set(commands)).toEqual(
      new Set(
        ['server/main.js', 'enclave/main.js serve'].map((name) => `${process.execPath} ${ROOT}dist/${name}`),
      ),
    )
  })
})
