import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import express from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'
import { addressOf, clientOf } from '../../../src/server/http/rateLimit.js'

const FORWARDED = [
  undefined,
  '',
  '192.0.2.1',
  '192.0.2.1, 192.0.2.2',
  ' 192.0.2.1 ,192.0.2.2,  2001:db8::1',
  ',192.0.2.1,,192.0.2.2,',
  'no address, at all',
]

test.each([0, 1, 2, 3, 16])(
  'behind %i proxies a client has the address that Express reports',
  async (proxies) => {
    const app = express().set('trust proxy', proxies)
    app.use((req, res) => {
      res.json({ express: req.ip, ours: addressOf(req, proxies) })
    })
    for (const forwarded of FORWARDED) {
      const asked = request(app).get('/')
      const { body } = await (forwarded === undefined ? asked : asked.set('X-Forwarded-For', forwarded))
      expect([forwarded, body.ours]).toEqual([forwarded, body.express])
      expect(body.ours).toBeTypeOf('string')
    }
  },
)

test('one who has hung up has none', () => {
  expect(addressOf(new IncomingMessage(new Socket()), 0)).toBeUndefined()
})

test.each([
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1.1', '::ffff:192.0.2.1.1'],
])('the client at %s counts as %s', (address, client) => {
  expect(clientOf(address)).toBe(client)
})
