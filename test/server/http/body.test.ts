import { gzipSync } from 'node:zlib'
import express from 'express'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { jsonBody } from '../../../src/server/http/body.js'
import { errorHandler } from '../../../src/server/http/errors.js'
import { requestId } from '../../../src/server/http/middleware.js'
import { createLogLines } from '../../support/logLines.js'

const LIMIT = 1_024

function createEcho() {
  const reached: unknown[] = []
  const app = express()
  app.use(requestId())
  app.post('/echo', jsonBody(LIMIT), (req, res) => {
    reached.push(req.body)
    res.json({ body: req.body })
  })
  app.use(errorHandler(createLogLines().logger))
  return { app, reached }
}

async function post(body: string | Buffer, headers: Record<string, string>) {
  const { app, reached } = createEcho()
  const pending = request(app).post('/echo')
  for (const [name, value] of Object.entries(headers)) pending.set(name, value)
  // Bytes as they are: superagent would turn an object or a JSON-typed string into something else.
  const response = await pending.serialize((raw) => raw).send(body)
  return { response, reached }
}

const json = { 'Content-Type': 'application/json' }

describe('jsonBody takes', () => {
  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    '%s',
    async (type) => {
      const { response } = await post('{"a":[1]}', { 'Content-Type': type })
      expect(response.status).toBe(200)
      expect(response.body).toEqual({ body: { a: [1] } })
    },
  )

  test('a body of exactly the limit', async () => {
    const { response } = await post(JSON.stringify('x'.repeat(LIMIT - 2)), json)
    expect(response.status).toBe(200)
  })

  test('Content-Encoding: identity', async () => {
    const { response } = await post('{}', { ...json, 'Content-Encoding': 'identity' })
    expect(response.status).toBe(200)
  })
})

describe('jsonBody refuses', () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000, ' '))
  test.each<[string, number, string, string | Buffer, Record<string, string>]>([
    ['no media type', 415, 'unsupported-media-type', Buffer.from('{}'), { 'Content-Type': '' }],
    ['text/plain', 415, 'unsupported-media-type', '{}', { 'Content-Type': 'text/plain' }],
    ['a form', 415, 'unsupported-media-type', 'a=1', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    [
      'a look-alike type',
      415,
      'unsupported-media-type',
      '{}',
      { 'Content-Type': 'application/json-patch+json' },
    ],
    ['two types', 415, 'unsupported-media-type', '{}', { 'Content-Type': 'text/plain, application/json' }],
    [
      'another charset',
      415,
      'unsupported-media-type',
      '{}',
      { 'Content-Type': 'application/json; charset=utf-16' },
    ],
    [
      'an odd parameter',
      415,
      'unsupported-media-type',
      '{}',
      { 'Content-Type': 'application/json; x=text/plain' },
    ],
    ['gzip', 415, 'unsupported-media-type', bomb, { ...json, 'Content-Encoding': 'gzip' }],
    ['br', 415, 'unsupported-media-type', '{}', { ...json, 'Content-Encoding': 'br' }],
    ['two encodings', 415, 'unsupported-media-type', '{}', { ...json, 'Content-Encoding': 'identity, gzip' }],
    ['a byte above the limit', 413, 'body-too-large', JSON.stringify('x'.repeat(LIMIT - 1)), json],
    ['far more than the limit', 413, 'body-too-large', JSON.stringify('x'.repeat(1_000_000)), json],
    ['an empty body', 400, 'malformed-json', '', json],
    ['spaces alone', 400, 'malformed-json', '   ', json],
    ['half an object', 400, 'malformed-json', '{"a":', json],
    ['two values', 400, 'malformed-json', '{}{}', json],
    ['a byte order mark', 400, 'malformed-json', '\ufeff{}', json],
    ['invalid UTF-8', 400, 'malformed-json', Buffer.from([0x22, 0xff, 0xfe, 0x22]), json],
    ['an overlong UTF-8 quote', 400, 'malformed-json', Buffer.from([0x22, 0xc0, 0xa2, 0x22]), json],
    ['UTF-16', 400, 'malformed-json', Buffer.from('{}', 'utf16le'), json],
    ['a repeated name', 400, 'malformed-json', '{"a":1,"a":2}', json],
    ['__proto__', 400, 'malformed-json', '{"__proto__":{"admin":true}}', json],
    ['constructor', 400, 'malformed-json', '{"a":{"constructor":{"prototype":{}}}}', json],
    ['deep nesting', 400, 'malformed-json', '['.repeat(500) + ']'.repeat(500), json],
  ])('%s', async (_what, status, code, body, headers) => {
    const { response, reached } = await post(body, headers)
    expect(response.status).toBe(status)
    expect(response.body).toMatchObject({ code, status })
    expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(reached).toEqual([])
  })

  test('a chunked body that grows above the limit', async () => {
    const { app, reached } = createEcho()
    const pending = request(app).post('/echo').set(json).set('Transfer-Encoding', 'chunked')
    pending.write(`"${'x'.repeat(LIMIT)}`)
    pending.write('"')
    const response = await pending
    expect(response.status).toBe(413)
    expect(reached).toEqual([])
  })
})
