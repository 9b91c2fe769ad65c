// Connections as clients use them: with many requests at once, slowly, and with what Node or Express would answer without a problem body.
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { fairTurns } from '../../../src/server/http/clients.js'
import { close, listen, portOf } from '../../../src/server/http/listener.js'
import { createBareApp } from '../../../src/server/http/middleware.js'
import { highestShares } from '../../../src/server/limitUse.js'
import { bareServer } from '../../support/bareServer.js'
import { eventually } from '../../support/eventually.js'
import { sendRaw } from '../../support/hostile.js'
import { startRawServer } from '../../support/rawServer.js'
import { serverConfig } from '../../support/serverEnvironment.js'

/** A connection whose one write is one read of the server: its requests all come in the same turn. */
async function pipeline(url: string, requests: string) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(requests)
  return socket
}

async function inTurns(answer: RequestListener) {
  const app = createBareApp(1)
  app.use(fairTurns(), answer)
  const server = await listen(serverConfig({ PORT: '0' }).http, app)
  onTestFinished(() => close(server, 0))
  return `http://127.0.0.1:${portOf(server)}`
}

test('a site, an IPv6 /48, that pipelines many requests delays another client by sixteen of them', async () => {
  const asked: (string | undefined)[] = []
  const url = await inTurns((req, res) => {
    asked.push(req.url)
    res.end()
  })
  const head = (path: string, client: string) =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\n`
  const ofSite = Array.from({ length: 99 }, (_, n) => `${head('/many', `2001:db8:1:${n}00::1`)}\r\n`)
  await text(await pipeline(url, `${ofSite.join('')}${head('/one', '192.0.2.9')}Connection: close\r\n\r\n`))
  expect([asked.length, asked.indexOf('/one')]).toEqual([100, 16])
  const shares = new Map(highestShares())
  for (const limit of ['turns', 'all-turns'] as const) expect(shares.get(limit)).toBeGreaterThan(0)
})

test.each([
  ['more than four thousand requests', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(10_000)],
  [
    'requests of many small fields, which take much memory while they wait',
    `GET / HTTP/1.1\r\nHost: a\r\n${'b:c\r\n'.repeat(101)}\r\n`.repeat(20),
  ],
])('a connection that pipelines %s is closed', async (_what, requests) => {
  const url = await inTurns((_req, res) => res.end())
  const socket = await pipeline(url, requests)
  let answers = 0
  socket.setEncoding('latin1').on('data', (part: string) => {
    answers += part.match(/HTTP\/1\.1 /g)?.length ?? 0
  })
  await new Promise((resolve) => socket.once('close', resolve))
  expect(answers).toBeLessThan(10_000)
})

test.each([
  ['as the first begins', 1, (leave: () => void) => leave()],
  ['once all have come', 16, queueMicrotask],
])('pipelined requests of a client that leaves %s never begin', async (_when, begin, soon) => {
  let begun = 0
  const url = await inTurns((req) => {
    begun++
    soon(() => req.socket.destroy())
  })
  // The one on the second connection goes behind those that wait.
  for (const count of [99, 1]) await once(await pipeline(url, get('/', 'Host: a').repeat(count)), 'close')
  expect(begun).toBe(begin + 1)
})

test('a client that pipelines requests and leaves gives their room back, and each is logged', async () => {
  // A node that accepts connections and does not answer, until the test has ended.
  const asked = new Set<ServerResponse>()
  let isOver = false
  const rpcUrl = await startRawServer((_req, res) => {
    if (isOver) res.destroy()
    else asked.add(res)
  })
  const { url, log } = await bareServer({
    RPC_URL: rpcUrl,
    RPC_TIMEOUT: '1m',
    MAX_UNDER_WAY: '10',
    MAX_UNDER_WAY_PER_CLIENT: '10',
  })
  // Before the server's stop, which waits for what it has asked the node.
  onTestFinished(() => {
    isOver = true
    for (const res of asked) res.destroy()
  })
  const socket = await pipeline(url, `GET /org/0x${'11'.repeat(32)} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(9))
  const status = async () => (await fetch(`${url}/openapi.json`)).status
  await eventually('no room', async () => (await status()) === 503)
  socket.destroy()
  await eventually('room', async () => (await status()) === 200)
  const aborted = () => log.lines().filter(({ msg, aborted: isAborted }) => msg === 'request' && isAborted)
  await eventually('a line for each', () => aborted().length === 9)
})

const DRIBBLE_MS = 50
const HEALTH = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'

/** A connection that is never ended from here before the test is over. */
async function open(port: number, localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true })
  let received = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    received += part
  })
  // The server may hang up while a byte is on its way to it.
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return { socket, received: () => received, isEnded: () => socket.readableEnded || socket.closed }
}

test('Node bounds connections, and the time of headers, requests and rests, as configured', async () => {
  const { http } = serverConfig({ REQUEST_TIMEOUT: '33s', MAX_CONNECTIONS: '77' })
  const server = await listen(http, (_req, res) => res.end())
  onTestFinished(() => close(server, 0))
  expect(server).toMatchObject({
    ...{ headersTimeout: 11_000, requestTimeout: 33_000, keepAliveTimeout: 65_000, maxConnections: 77 },
  })
})

test('a client that does not read its answers is hung up on', async () => {
  const { port } = await bareServer({ ANSWER_TIMEOUT: '100ms' })
  const { socket, isEnded } = await open(port)
  socket.pause()
  // More than the system keeps for a reader.
  socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50))
  // A client that does not read notices the end when it writes.
  const timer = setInterval(() => socket.writable && socket.write('x'), DRIBBLE_MS)
  onTestFinished(() => clearInterval(timer))
  await eventually('the end of the connection', isEnded)
})

test('a client is not hung up on while it waits for its answer', async () => {
  const RPC_URL = await startRawServer(() => undefined)
  const { url } = await bareServer({ ANSWER_TIMEOUT: '50ms', RPC_URL, RPC_TIMEOUT: '300ms' })
  expect((await fetch(`${url}/enclave-key`)).status).toBe(503)
})

test('connections above MAX_CONNECTIONS_PER_CLIENT are closed; others are served, and room comes back', async () => {
  const { port, url } = await bareServer({ MAX_CONNECTIONS_PER_CLIENT: '5' })
  const held = await Promise.all(Array.from({ length: 25 }, () => open(port, '127.0.0.2')))
  await eventually('the surplus to be closed', () => held.filter(({ isEnded }) => isEnded()).length === 20)
  for (const { socket } of held) socket.write(HEALTH)
  await eventually('an answer on each of the others', () =>
    held.every(({ isEnded, received }) => isEnded() || received().startsWith('HTTP/1.1 200 ')),
  )
  expect((await fetch(`${url}/health`)).status).toBe(200)
  held.find(({ isEnded }) => !isEnded())?.socket.destroy()
  await eventually('room', async () => {
    const { isEnded, socket, received } = await open(port, '127.0.0.2')
    socket.write(HEALTH)
    await eventually('an answer, or the end', () => isEnded() || received() !== '')
    return received().startsWith('HTTP/1.1 200')
  })
})

test('a trusted proxy holds as many connections as there may be in all', async () => {
  const { port } = await bareServer({ MAX_CONNECTIONS_PER_CLIENT: '1', TRUST_PROXY: '1' })
  const held = await Promise.all(Array.from({ length: 20 }, () => open(port)))
  for (const { socket } of held) socket.write(HEALTH)
  await eventually('an answer on each', () =>
    held.every(({ received }) => received().startsWith('HTTP/1.1 200')),
  )
})

const get = (target: string, ...headers: string[]) =>
  `${[`GET ${target} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n`

const FAULTY_HOSTS: Record<string, readonly string[]> = {
  'The Host header appears more than once.': [
    'Host: a.example\r\nhost: b.example',
    'Host: a\r\nX: y\r\nHOST: a',
  ],
  'The Host header is missing.': ['X: y'],
  'The Host header names no host.': [
    'Host: a b',
    'Host: a/b',
    'Host: user@a',
    'Host: a:80:80',
    'Host: a, b',
    'Host: [::1',
    'Host: [1.2.3.4]',
    'Host: [::1%25eth0]',
    'Host: %zz',
    'Host: ä',
  ],
}

test('a request without a Host line, with two, or with one that names no host is malformed, a probe too', async () => {
  const { url, opsUrl } = await bareServer()
  for (const [detail, hosts] of Object.entries(FAULTY_HOSTS)) {
    for (const [at, path] of [
      [url, '/health'],
      [url, '/market/clock'],
      [opsUrl, '/livez'],
    ] as const) {
      for (const host of hosts) {
        const answer = await sendRaw(at, get(path, host))
        expect(answer, host).toMatch(/^HTTP\/1\.1 400 /)
        expect(answer).toContain(`"detail":"${detail}"`)
        expect(answer).toContain('"code":"malformed-request"')
        expect(answer).toContain('application/problem+json')
      }
    }
  }
  expect(await sendRaw(opsUrl, 'GET /livez HTTP/1.0\r\nHost: a b\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  expect(await sendRaw(opsUrl, 'GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
})

test('any other Host is taken, and so are an unknown expectation and a target in absolute form', async () => {
  const { url } = await bareServer()
  const hosts = ['a', 'a.example:8080', '127.0.0.1:80', '[::1]', '[::ffff:1.2.3.4]:1', 'a_b', '%41', '']
  for (const request of [
    ...hosts.map((host) => get('/health', `Host: ${host}`)),
    get('/health', 'Host: a', 'Expect: 200-maybe'),
    get('http://a.example/health?b', 'Host: a'),
  ])
    expect(await sendRaw(url, request), request).toMatch(/^HTTP\/1\.1 200 /)
})

test('a target that is no URL has no route, and passes every check before', async () => {
  const { url, log } = await bareServer()
  for (const target of ['http://[/health', 'http://%/health', '*', 'a://b']) {
    const answer = await sendRaw(url, get(target, 'Host: a', 'X-Request-Id: mine'))
    expect(answer, target).toContain('"code":"not-found","requestId":"mine"')
  }
  const foreign = await sendRaw(url, get('http://[/health', 'Host: a', 'Origin: https://evil.example'))
  expect(foreign).toContain('"code":"origin-not-allowed"')
  expect(log.lines().filter(({ requestId }) => requestId === 'mine').length).toBeGreaterThan(0)
})

/** A request with what is malformed behind it, to a server whose answer has this length. */
async function followedByGarbage(body: string) {
  const { http } = serverConfig({ PORT: '0' })
  const server = await listen(http, (_req, res) => res.end(body))
  onTestFinished(() => close(server, 0))
  const connection = once(server, 'connection')
  const socket = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  // A connection that was reset fails what is sent to it; what was received tells.
  socket.on('error', () => undefined)
  const [served] = await connection
  const [answered, closed] = [once(served, 'finish'), once(served, 'close')]
  const garbage = async (before = '') => {
    const noticed = once(server, 'clientError')
    socket.write(`${before}GARBAGE\r\n\r\n`)
    await Promise.race([noticed, closed])
  }
  await garbage(get('/', 'Host: a'))
  return { socket, answered, closed, garbage }
}

test('an answer that is on its way is sent whole, whatever follows its request', async () => {
  // More than the system takes at once from a sender whose reader is slow.
  const body = 'x'.repeat(32 * 2 ** 20)
  const answer = await text((await followedByGarbage(body)).socket)
  expect(answer.slice(answer.indexOf('\r\n\r\n') + 4) === body).toBe(true)
})

test('an answer that the caller has not taken yet outlives more of what is malformed', async () => {
  // The system takes it all from the sender at once, and not from the caller, who does not read.
  const body = 'x'.repeat(2 ** 20)
  const { socket, answered, closed, garbage } = await followedByGarbage(body)
  await answered
  for (const _ of [1, 2, 3]) await garbage()
  let received = 0
  socket.on('data', (part) => {
    received += part.length
  })
  await once(socket, 'end')
  expect(received).toBeGreaterThan(body.length)
  // The caller stays; the server does not.
  await closed
})
