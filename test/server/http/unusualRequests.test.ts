// Requests that Node or Express would answer by themselves, without a problem body.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { close, listen, portOf } from '../../../src/server/http/listener.js'
import { bareServer } from '../../support/bareServer.js'
import { sendRaw } from '../../support/hostile.js'
import { serverConfig } from '../../support/serverEnvironment.js'

const get = (target: string, ...headers: string[]) =>
  `${[`GET ${target} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n`

test('a request without Host is malformed, on either port', async () => {
  const { url, opsUrl } = await bareServer()
  for (const at of [url, opsUrl]) {
    const answer = await sendRaw(at, get('/livez'))
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"detail":"The Host header is missing."')
    expect(answer).toContain('"code":"malformed-request"')
  }
  expect(await sendRaw(opsUrl, 'GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
})

const FAULTY_HOSTS: Record<string, readonly string[]> = {
  'The Host header appears more than once.': [
    'Host: a.example\r\nhost: b.example',
    'Host: a\r\nX: y\r\nHOST: a',
  ],
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

test('a request with two Host lines, or one that names no host, is malformed, a probe too', async () => {
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

test('an answer that is on its way is sent whole, whatever follows its request', async () => {
  // More than the system takes at once from a sender whose reader is slow.
  const body = 'x'.repeat(32 * 2 ** 20)
  const { http } = serverConfig({ PORT: '0' })
  const server = await listen(http, (_req, res) => res.end(body))
  onTestFinished(() => close(server, 0))
  const socket = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const malformed = once(server, 'clientError')
  socket.write(`${get('/', 'Host: a')}GARBAGE\r\n\r\n`)
  await malformed
  const answer = await text(socket)
  expect(answer.slice(answer.indexOf('\r\n\r\n') + 4) === body).toBe(true)
})

test('an answer that the caller has not taken yet outlives more of what is malformed', async () => {
  // The system takes it all from the sender at once, and not from the caller, who does not read.
  const body = 'x'.repeat(2 ** 20)
  const { http } = serverConfig({ PORT: '0' })
  const server = await listen(http, (_req, res) => res.end(body))
  onTestFinished(() => close(server, 0))
  const connection = once(server, 'connection')
  const socket = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  // A connection that was reset fails what is sent to it; what was received tells.
  socket.on('error', () => undefined)
  const [served] = await connection
  const answered = once(served, 'finish')
  const closed = once(served, 'close')
  socket.write(`${get('/', 'Host: a')}GARBAGE\r\n\r\n`)
  await answered
  for (const _ of [1, 2, 3]) {
    const noticed = once(server, 'clientError')
    socket.write('GARBAGE\r\n\r\n')
    await Promise.race([noticed, closed])
  }
  let received = 0
  socket.on('data', (part) => {
    received += part.length
  })
  await once(socket, 'end')
  expect(received).toBeGreaterThan(body.length)
  // The caller stays; the server does not.
  await closed
})

test('bytes in one read with a request that closes the connection are left out', async () => {
  const begun: string[] = []
  const { http } = serverConfig({ PORT: '0' })
  const server = await listen(http, (req) => {
    begun.push(req.url ?? '')
    req.socket.destroy()
  })
  onTestFinished(() => close(server, 0))
  const socket = connect(portOf(server), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  socket.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n')
  await closed
  expect(begun).toEqual(['/1'])
})
