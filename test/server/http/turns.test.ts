import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { takeTurns } from '../../../src/server/http/turns.js'
import { startRawServer } from '../../support/rawServer.js'

/** An app that notes whose requests begin, and answers them. */
async function setUp() {
  const begun: (string | undefined)[] = []
  const app = express().set('trust proxy', 1)
  app.use(takeTurns(), (req, res) => {
    begun.push(req.ip)
    res.end()
  })
  const url = await startRawServer(app)
  async function open() {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  return { url, open, begun }
}

const requestOf = (client: string, ...headers: string[]) =>
  `${['GET / HTTP/1.1', 'Host: a', `X-Forwarded-For: ${client}`, ...headers].join('\r\n')}\r\n\r\n`

test('the clients of a site, an IPv6 /48, share its turns', async () => {
  const { open, begun } = await setUp()
  const socket = await open()
  const clients = Array.from({ length: 99 }, (_, n) => `2001:db8:1:${n}00::1`)
  // One write is one read of the server, whose requests all come in the same turn.
  socket.write(
    clients.map((client) => requestOf(client)).join('') + requestOf('192.0.2.9', 'Connection: close'),
  )
  const answers = await text(socket)
  expect(begun).toEqual([...clients.slice(0, 16), '192.0.2.9', ...clients.slice(16)])
  expect(answers.match(/^HTTP\/1\.1 200 OK\r$/gm)).toHaveLength(100)
})

test('a connection that pipelines more than ten thousand requests is closed, and others are served', async () => {
  const { url, open, begun } = await setUp()
  const socket = await open()
  socket.on('error', () => undefined).resume()
  socket.write(requestOf('192.0.2.1').repeat(30_000))
  await new Promise((resolve) => socket.once('close', resolve))
  expect(begun.length).toBeLessThan(30_000)
  expect((await fetch(url)).status).toBe(200)
})
