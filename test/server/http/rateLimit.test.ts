import { createServer } from 'node:http'
import type { RequestHandler } from 'express'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { read, routerOf } from '../../../src/server/http/routes.js'
import { limitedApp } from '../../support/limitedApp.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'

const ORIGIN = SERVER_ENVIRONMENT.FRONTEND_ORIGIN

/** A server that takes two reads a minute unless told otherwise, and a clock that the test moves. */
function setUp(rateLimitPerMinute = 2, answer?: RequestHandler) {
  let nowMs = 0
  const options = { rateLimitPerMinute, trustProxy: 1, now: () => nowMs }
  const { app, ...rest } = limitedApp({ ...options, ...(answer !== undefined && { answer }) })
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  return {
    ...rest,
    pass(ms: number) {
      nowMs += ms
    },
    read: (ip = '192.0.2.1', path = '/market') => request(server).get(path).set('X-Forwarded-For', ip),
    post: (path = '/orders') => request(server).post(path).set('X-Forwarded-For', '192.0.2.1'),
    preflight: () =>
      request(server)
        .options('/market')
        .set({ Origin: ORIGIN, 'Access-Control-Request-Method': 'GET', 'X-Forwarded-For': '192.0.2.1' }),
  }
}

const leftOf = ({ headers }: request.Response) => headers.ratelimit?.split('; ')[1]

describe('a client over its rate', () => {
  test('is refused with a problem that says when its minute is over, and may go on then', async () => {
    const { read, pass, taken } = setUp()
    expect((await read()).headers).toMatchObject({
      ratelimit: '"default"; r=1; t=60',
      'ratelimit-policy': expect.stringContaining('"default"; q=2; w=60'),
    })
    pass(20_500)
    expect((await read()).headers.ratelimit).toBe('"default"; r=0; t=40')
    const refused = await read().set('Origin', ORIGIN)
    expect([refused.status, refused.headers.ratelimit]).toEqual([429, '"default"; r=0; t=40'])
    expect(refused.headers).toMatchObject({ 'retry-after': '40', 'access-control-allow-origin': ORIGIN })
    expect(refused.body).toMatchObject({ code: 'rate-limited', instance: '/market' })
    expect(taken).toHaveLength(2)
    pass(39_000)
    expect((await read()).headers['retry-after']).toBe('1')
    pass(500)
    expect((await read()).headers.ratelimit).toBe('"default"; r=1; t=60')
  })

  test('may still probe, and has its preflights answered', async () => {
    const { read, preflight } = setUp(1)
    await read()
    expect((await read()).status).toBe(429)
    for (let n = 0; n < 3; n++) {
      expect((await read('192.0.2.1', '/health')).status).toBe(200)
      expect((await preflight()).status).toBe(204)
    }
  })

  test('is refused what costs more than is left: a post costs thirty reads, a file of the documentation a hundred', async () => {
    const { read, post } = setUp(162)
    const file = await read('192.0.2.1', '/docs/swagger-ui-bundle.js')
    const answers = [file, await post(), await post(), await read()]
    expect(answers.map(leftOf).join()).toBe('r=62,r=32,r=2,r=1')
    expect((await post()).status).toBe(429)
  })

  test('has results of runs taken: only those that are refused with 4xx count', async () => {
    let status = 200
    const { post } = setUp(10, (_req, res) => {
      res.status(status).end()
    })
    const result = async () => (await post('/runs/1/result')).status
    for (const each of [200, 503]) {
      status = each
      for (let n = 0; n < 3; n++) expect(await result()).toBe(each)
    }
    status = 401
    expect([await result(), await result()]).toEqual([401, 429])
  })

  test('a client behind a proxy is the address that the proxy names', async () => {
    const { read } = setUp()
    for (const claimed of ['10.0.0.1', '10.0.0.2'])
      expect((await read(`${claimed}, 192.0.2.1`)).status).toBe(200)
    expect((await read('10.0.0.3, 192.0.2.1')).status).toBe(429)
    expect((await read('192.0.2.1, 192.0.2.2')).status).toBe(200)
  })
})

describe('the rate counts', () => {
  test.each([
    ['two IPv4 addresses apart', '192.0.2.1', '192.0.2.2', 'r=1'],
    ['two IPv6 networks of /56 apart', '2001:db8:0:100::1', '2001:db8:0:200::1', 'r=1'],
    ['an IPv6 network of /56 as one', '2001:db8:0:100::1', '2001:db8:0:1ff:ffff::2', 'r=0'],
    ['the same address in two spellings as one', '2001:DB8::1', '2001:db8:0:0:0:0:0:1', 'r=0'],
    ['IPv4 written as IPv6 as one', '192.0.2.1', '::ffff:192.0.2.1', 'r=0'],
    ['IPv4 written as IPv6 in hex as one', '192.0.2.1', '::FFFF:c000:201', 'r=0'],
  ])('%s', async (_name, one, other, left) => {
    const { read } = setUp()
    await read(one)
    expect(leftOf(await read(other))).toBe(left)
  })

  test('an IPv6 /48 as four clients, and refuses its fifth; what one is refused counts for no neighbour', async () => {
    const { read } = setUp(10)
    for (let n = 0; n < 60; n++) await read('2001:db8:1:100::1')
    for (const net of ['200', '300', '400'])
      for (let n = 0; n < 10; n++) expect((await read(`2001:db8:1:${net}::1`)).status).toBe(200)
    for (const net of ['100', '500']) expect((await read(`2001:db8:1:${net}::1`)).status).toBe(429)
    expect((await read('2001:db8:2:100::1')).status).toBe(200)
  })
})

test('an office pays nothing for a view that has not changed', async () => {
  let view = { prices: 1 }
  const router = routerOf([read('/market', z.strictObject({ prices: z.number() }), async () => view)])
  const { read: ask } = setUp(2, router)
  const first = await ask()
  const known = { 'If-None-Match': String(first.headers.etag) }
  for (let n = 0; n < 10; n++) expect((await ask().set(known)).status).toBe(304)
  for (const status of [200, 429]) {
    view = { ...view }
    expect((await ask()).status).toBe(status)
  }
})
