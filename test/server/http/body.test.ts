import { AsyncLocalStorage } from 'node:async_hooks'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import express from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { jsonBody, parseBody } from '../../../src/server/http/body.js'
import { errorHandler } from '../../../src/server/http/errors.js'
import { requestId } from '../../../src/server/http/middleware.js'
import { createLogLines } from '../../support/logLines.js'
import { startRawServer } from '../../support/rawServer.js'

const LIMIT = 1_024

function createEcho(limit = LIMIT) {
  const reached: unknown[] = []
  const app = express()
  app.use(requestId())
  app.post('/', jsonBody(limit), (req, res) => {
    reached.push(req.body)
    res.end()
  })
  app.use(errorHandler(createLogLines().logger))
  return { app, reached }
}

const json = { 'Content-Type': 'application/json' }

test('a handler after the body runs in the context of its request', async () => {
  const context = new AsyncLocalStorage<string>()
  const app = express()
  app.use((_req, _res, next) => context.run('the client', next))
  app.post('/', jsonBody(LIMIT), (_req, res) => void res.send(context.getStore()))
  const { text } = await request(app).post('/').set(json).send('{}')
  expect(text).toBe('the client')
})

const bomb = gzipSync(Buffer.alloc(10_000_000, ' '))
const typed = (type: string) => ({ 'Content-Type': type })

// test/server/openapi/contract.test.ts has what every route refuses, and the fuzzer any body.
test.each<[string, number, string | Buffer, Record<string, string>]>([
  ['a charset', 200, '{}', typed('application/json; charset=utf-8')],
  ['a charset in quotes, in any case', 200, '{}', typed('Application/JSON;charset="UTF-8"')],
  ['exactly the limit', 200, JSON.stringify('x'.repeat(LIMIT - 2)), json],
  ['identity as its encoding', 200, '{}', { ...json, 'Content-Encoding': 'identity' }],
  ['no media type', 415, Buffer.from('{}'), typed('')],
  ['a look-alike type', 415, '{}', typed('application/json-patch+json')],
  ['two types', 415, '{}', typed('text/plain, application/json')],
  ['an odd parameter', 415, '{}', typed('application/json; x=text/plain')],
  ['gzip', 415, bomb, { ...json, 'Content-Encoding': 'gzip' }],
  ['two encodings', 415, '{}', { ...json, 'Content-Encoding': 'identity, gzip' }],
  ['a byte above the limit', 413, JSON.stringify('x'.repeat(LIMIT - 1)), json],
  ['an overlong UTF-8 quote', 400, Buffer.from([0x22, 0xc0, 0xa2, 0x22]), json],
  ['UTF-16', 400, Buffer.from('{}', 'utf16le'), json],
])('a JSON body with %s is answered with %i', async (_what, status, body, headers) => {
  const { app, reached } = createEcho()
  // Bytes as they are: superagent would turn an object or a JSON-typed string into something else.
  const posted = request(app).post('/').set(headers)
  const response = await posted.serialize((raw) => raw).send(body)
  expect([response.status, reached.length]).toEqual([status, status === 200 ? 1 : 0])
  if (status !== 200) expect(response.headers['content-type']).toMatch(/^application\/problem\+json/)
})

test('a chunked body that grows above the limit is refused', async () => {
  const { app, reached } = createEcho()
  const pending = request(app).post('/').set(json).set('Transfer-Encoding', 'chunked')
  pending.write(`"${'x'.repeat(LIMIT)}`)
  pending.write('"')
  expect((await pending).status).toBe(413)
  expect(reached).toEqual([])
})

test('a body in pieces of a single byte has its connection closed, because each takes as much memory as two hundred', async () => {
  const { app, reached } = createEcho(65_536)
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(await startRawServer(app)).port) })
  socket.on('error', () => undefined)
  const head =
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  socket.write(`${head}${'1\r\n1\r\n'.repeat(60_000)}`)
  await new Promise((resolve) => socket.once('close', resolve))
  expect(reached).toEqual([])
})

test('a body names unknown members by names like its own alone: any other may be a secret at the wrong place', () => {
  const schema = z.strictObject({ epk: z.string() })
  const expectRefused = (body: object, message: string) => {
    const extensions = { errors: [expect.objectContaining({ message })] }
    const refused = () => parseBody(schema, { epk: '', ...body })
    expect(refused).toThrow(expect.objectContaining({ extensions: expect.objectContaining(extensions) }))
  }
  const odd = { AAPL: 2, '12345': 3, [`0x${'ca'.repeat(32)}`]: 4 }
  expectRefused({ maxSpend: 1, ...odd }, 'unknown members: maxSpend')
  expectRefused(odd, 'unknown members')
})
