// Connections that send many requests at once.
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createBareApp } from '../../../src/server/http/middleware.js'
import { fairTurns } from '../../../src/server/http/turns.js'
import { bareServer } from '../../support/bareServer.js'
import { eventually } from '../../support/eventually.js'
import { startRawServer } from '../../support/rawServer.js'

/** A connection whose one write is one read of the server: its requests all come in the same turn. */
async function pipeline(url: string, requests: string) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(requests)
  return socket
}

function inTurns(answer: RequestListener) {
  const app = createBareApp(1)
  app.use(fairTurns(), answer)
  return startRawServer(app)
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
