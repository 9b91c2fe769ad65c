import { once } from 'node:events'
import { type IncomingMessage, request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import type { RequestHandler } from 'express'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { problemSchema } from '../../../src/protocol/api.js'
import { BODY_TIMEOUT_MS, MAX_ARRIVING } from '../../../src/server/http/limits.js'
import { highestShares } from '../../../src/server/limitUse.js'
import { eventually } from '../../support/eventually.js'
import { handled } from '../../support/handled.js'
import { limitedApp, TOKEN } from '../../support/limitedApp.js'
import { startRawServer } from '../../support/rawServer.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'

const ORIGIN = SERVER_ENVIRONMENT.FRONTEND_ORIGIN

async function setUp(options: Parameters<typeof limitedApp>[0]) {
  const { app, ...rest } = limitedApp(options)
  return { url: await startRawServer(app), ...rest }
}

describe('a server without room', () => {
  const NO_ROOM = { maxUnderWay: 0 }

  // test/server/openapi/contract.test.ts has every operation refused.
  test('takes probes of /health, results of runs and what shows the relay token, and nothing like them', async () => {
    const { url, taken } = await setUp(NO_ROOM)
    const digest = `0x${'00'.repeat(32)}`
    const probes = ['/health', '/health?query', '/runs/1/result']
    const relayed = ['/relay', '/relay?query', `/relay/${digest}`]
    const others = ['/', '/healthy', '/health/', '/relayed', '/market', '/market/health', '/Relay']
    const statusOf = async (path: string, init: RequestInit = {}) => (await fetch(url + path, init)).status
    for (const path of probes) expect([path, await statusOf(path)]).toEqual([path, 200])
    for (const path of relayed) expect([path, await statusOf(path, { headers: TOKEN })]).toEqual([path, 200])
    expect(taken.splice(0)).toHaveLength(probes.length + relayed.length)
    for (const path of [...relayed, ...others]) expect([path, await statusOf(path)]).toEqual([path, 503])
    for (const path of others) expect([path, await statusOf(path, { headers: TOKEN })]).toEqual([path, 503])
    expect(await statusOf('/relay', { headers: { authorization: `${TOKEN.authorization}0` } })).toBe(503)
    expect(await statusOf('/health', { headers: { Origin: ORIGIN } })).toBe(503)
    expect(await statusOf('/health', { method: 'POST' })).toBe(503)
    expect(taken).toEqual([])
  })

  test('refuses with a problem that the one origin may read, and says when to come back', async () => {
    const { url, observed } = await setUp(NO_ROOM)
    const response = await fetch(`${url}/market/clock?canary`, {
      headers: { 'X-Request-Id': 'mine', Origin: ORIGIN },
    })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'retry-after': '5',
      'x-request-id': 'mine',
      'access-control-allow-origin': ORIGIN,
      'access-control-expose-headers': expect.stringContaining('Retry-After'),
    })
    const body = await response.text()
    expect(problemSchema.parse(JSON.parse(body))).toMatchObject({
      code: 'overloaded',
      instance: '/market/clock',
      requestId: 'mine',
    })
    expect(body).not.toContain('canary')
    await eventually('its report', () => observed.length === 1)
    expect(observed).toMatchObject([{ method: 'GET', route: 'unmatched', status: 503, code: 'overloaded' }])
  })

  test('refuses a post before its body has come, and the connection serves on', async () => {
    const { url } = await setUp(NO_ROOM)
    const sent = send(`${url}/orders`, { method: 'POST', headers: { 'content-length': 1_000 } })
    onTestFinished(() => void sent.destroy())
    sent.flushHeaders()
    const [response] = await once(sent, 'response')
    expect(response.statusCode).toBe(503)
    expect(response.headers.connection).toBe('keep-alive')
  })
})

test('a read is refused while the calls of its client exceed their rate, a post only half a minute later', async () => {
  let waitMs = 9_001
  const { url } = await setUp({ readers: { waitMs: () => waitMs, answer: (_client, answer) => answer() } })
  const refused = await fetch(`${url}/market`)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  const post = () => fetch(`${url}/orders`, { method: 'POST' })
  expect((await post()).status).toBe(200)
  waitMs = 30_001
  const later = await post()
  expect([later.status, later.headers.get('retry-after')]).toEqual([429, '1'])
})

describe('as many under way as there may be', () => {
  /** An app that answers when told. */
  async function setUpHolding(maxUnderWay: number) {
    const held: (() => void)[] = []
    const answer: RequestHandler = (_req, res) => {
      held.push(() => res.end())
    }
    const { url } = await setUp({ maxUnderWay, answer })
    const ask = () => handled(fetch(`${url}/market`).then(({ status }) => status))
    return { url, held, ask }
  }

  test('further ones are refused until one is answered', async () => {
    const { ask, held } = await setUpHolding(2)
    const answers = [ask(), ask()]
    await eventually('both to be under way', () => held.length === 2)
    expect(await ask()).toBe(503)
    held.shift()?.()
    expect(await Promise.race(answers)).toBe(200)
    const third = ask()
    await eventually('the third to be taken', () => held.length === 2)
    for (const release of held) release()
    expect(await Promise.all([...answers, third])).toEqual([200, 200, 200])
  })

  test('reads leave a tenth of the room to orders', async () => {
    const { url, ask, held } = await setUpHolding(10)
    const reads = Array.from({ length: 9 }, ask)
    await eventually('nine reads to be under way', () => held.length === 9)
    expect([await ask(), (await fetch(`${url}/market`, { method: 'HEAD' })).status]).toEqual([503, 503])
    const order = handled(fetch(`${url}/orders`, { method: 'POST' }).then(({ status }) => status))
    await eventually('the order to be taken', () => held.length === 10)
    expect((await fetch(`${url}/orders`, { method: 'POST' })).status).toBe(503)
    for (const release of held) release()
    expect(await Promise.all([...reads, order])).toEqual(Array(10).fill(200))
  })

  /** Requests by client, behind a proxy, that the app takes and holds. */
  async function setUpClients(maxUnderWay: number, maxUnderWayPerClient: number) {
    const taken: (string | undefined)[] = []
    let arrived = 0
    const answer: RequestHandler = (req) => {
      taken.push(req.ip)
      req.resume().once('end', () => arrived++)
    }
    const { url } = await setUp({ maxUnderWay, maxUnderWayPerClient, trustProxy: 1, answer })
    /** @param body what is sent of nine bytes @returns the refusal; never resolves for a request that is held */
    function post(client: string, body: string, path = '/orders') {
      const headers = { 'X-Forwarded-For': client, 'content-length': 9 }
      const sent = send(`${url}${path}`, { method: 'POST', headers, agent: false })
      // The server ends with the test.
      sent.on('error', () => undefined)
      onTestFinished(() => void sent.destroy())
      sent.write(body)
      const answered = new Promise<IncomingMessage>((resolve) => sent.once('response', resolve))
      return answered.then(async (response) => {
        const { code } = problemSchema.parse(JSON.parse(await text(response)))
        return { statusCode: response.statusCode, code }
      })
    }
    /** Posts whole requests of these clients, one after the other, each of which takes a place. */
    async function fill(...clients: string[]) {
      for (const client of clients) {
        const before = arrived
        void post(client, WHOLE)
        await eventually('its body to have arrived', () => arrived === before + 1)
      }
    }
    return { post, fill, taken }
  }

  const WHOLE = '123456789'

  test('one client has its share of them, and others the rest', async () => {
    const { post, fill } = await setUpClients(4, 2)
    await fill('192.0.2.1', '192.0.2.1')
    expect(await post('192.0.2.1', WHOLE)).toEqual({ statusCode: 429, code: 'too-many-at-once' })
    await fill('192.0.2.2', '192.0.2.3')
    expect((await post('192.0.2.4', WHOLE)).statusCode).toBe(503)
  })

  test('a site, an IPv6 /48, has four clients’ share', async () => {
    const { post, fill } = await setUpClients(100, 1)
    const net = (last: number) => `2001:db8:1:${last}00::1`
    await fill(net(1), net(2), net(3), net(4))
    for (const client of [net(1), net(5)])
      expect(await post(client, WHOLE)).toEqual({ statusCode: 429, code: 'too-many-at-once' })
    await fill('2001:db8:2:100::1')
  })

  test.each([
    ['addresses', (n: number) => `192.0.2.${n}`],
    ['networks of one IPv6 /48', (n: number) => `2001:db8:1:${n.toString(16)}00::1`],
  ])('sixteen half-sent requests from each of 64 %s hold none', async (_of, client) => {
    const { post, fill, taken } = await setUpClients(2, 1)
    for (let n = 0; n < 1_024; n++) void post(client(n % 64), 'h')
    await eventually('all to be with the app', () => taken.length === 1_024)
    await fill('192.0.2.101', '192.0.2.102')
    expect((await post('192.0.2.103', WHOLE)).statusCode).toBe(503)
  })

  test.each(['/orders', '/runs/1/result'])('a body that never arrives at %s ends it', async (path) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { post, taken } = await setUpClients(2, 1)
    const ended = handled(post('192.0.2.1', 'h', path))
    await vi.waitFor(() => expect(taken).toHaveLength(1), { timeout: 60_000 })
    vi.advanceTimersByTime(BODY_TIMEOUT_MS)
    expect(await ended).toEqual({ statusCode: 408, code: 'request-timeout' })
  })

  test('a request that is answered before its body has come takes none for what comes later', async () => {
    const { url } = await setUp({ maxUnderWay: 1 })
    const sent = send(`${url}/orders`, { method: 'POST', headers: { 'content-length': 9 } })
    sent.write('h')
    const [response] = await once(sent, 'response')
    sent.end('12345678')
    await once(response.resume(), 'end')
    for (let n = 0; n < 3; n++) expect((await fetch(`${url}/market`)).status).toBe(200)
  })

  test('more bodies on their way than there may be cost the site that has most its oldest', async () => {
    const { post, fill, taken } = await setUpClients(2, 1)
    const net = (n: number) => `2001:db8:1:${(n % 64).toString(16)}00::1`
    const ended: Promise<unknown>[] = []
    for (const client of ['192.0.2.1', net(0)]) {
      ended.push(post(client, 'h').then(({ code }) => [client, code]))
      await eventually('it to be with the app', () => taken.length === ended.length)
    }
    for (let n = 2; n < MAX_ARRIVING; n++) void post(n <= MAX_ARRIVING / 10 ? '192.0.2.1' : net(n), 'h')
    await eventually('all to be with the app', () => taken.length === MAX_ARRIVING)
    await fill('192.0.2.3')
    expect(await Promise.race(ended)).toEqual([net(0), 'request-timeout'])
    expect(new Map(highestShares()).get('arriving')).toBe(1)
  })
})
