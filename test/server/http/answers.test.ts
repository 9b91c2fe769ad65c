import express from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { preparing, sendPrepared } from '../../../src/server/http/answers.js'

/** Answers with whatever `value()` gives; counts how often it is encoded. */
function appOf(value: () => { price: bigint }) {
  let encodings = 0
  const price = z.codec(z.string(), z.bigint(), {
    decode: BigInt,
    encode(amount) {
      encodings++
      return String(amount)
    },
  })
  const prepared = preparing(z.object({ price }))
  const app = express().get('/', (_req, res) => sendPrepared(res, prepared(value())))
  return { app, encodings: () => encodings }
}

test('one object is encoded once, another one afresh', async () => {
  let value = { price: 1n }
  const { app, encodings } = appOf(() => value)
  const first = await request(app).get('/').expect(200, { price: '1' })
  expect(first.headers['content-type']).toBe('application/json; charset=utf-8')
  const second = await request(app).get('/').expect(200, { price: '1' })
  expect(second.headers.etag).toBe(first.headers.etag)
  expect(encodings()).toBe(1)

  value = { price: 2n }
  const third = await request(app).get('/').expect(200, { price: '2' })
  expect(third.headers.etag).not.toBe(first.headers.etag)
  expect(encodings()).toBe(2)
})

test('equal values have one ETag, which is answered 304', async () => {
  const { app } = appOf(() => ({ price: 1n }))
  const { headers } = await request(app).get('/').expect(200)
  await request(app).get('/').set('If-None-Match', String(headers.etag)).expect(304, '')
  await request(app).head('/').expect('etag', String(headers.etag)).expect(200)
})
