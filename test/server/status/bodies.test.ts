import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  complianceSchema,
  institutionSchema,
  marketClockSchema,
  marketSchema,
  walletSchema,
} from '../../../src/protocol/api.js'
import { startStandIn } from '../../support/brokerStandIn.js'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
import { ORG, setUpInstitution } from '../../support/institution.js'

const chain = useChain(setUpInstitution)

const ROUTES = [
  ['/wallet/{alice}', walletSchema],
  ['/org/{org}', institutionSchema],
  ['/compliance/{alice}', complianceSchema],
  ['/market', marketSchema],
  ['/market/clock', marketClockSchema],
] as const

async function setUp() {
  const broker = await startStandIn()
  onTestFinished(() => broker.stop())
  const { app } = await buildApp({ chain: chain(), brokerUrl: broker.url })
  return {
    app,
    fill: (path: string) => path.replace('{alice}', chain().account('alice')).replace('{org}', ORG),
  }
}

/** Every member name in a body, however deep. */
function names(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    Array.isArray(value) ? names(inner) : [name, ...names(inner)],
  )
}

describe.each(ROUTES)('GET %s', (path, schema) => {
  test('has the body that its schema says, in camelCase', async () => {
    const { app, fill } = await setUp()
    const response = await request(app).get(fill(path)).expect(200)
    expect(response.type).toBe('application/json')
    expect(Object.keys(response.body)).toEqual(Object.keys(schema.shape))
    expect(schema.safeParse(response.body).error).toBeUndefined()
    expect(names(response.body).filter((name) => !/^[a-z][a-zA-Z]*$/.test(name))).toEqual([])
  })

  test('may be kept, but is asked about each time, and is 304 when it has not changed', async () => {
    const { app, fill } = await setUp()
    const first = await request(app).get(fill(path))
    expect(first.headers['cache-control']).toBe('private, no-cache')
    const again = await request(app).get(fill(path)).set('If-None-Match', String(first.headers.etag))
    expect(again.status).toBe(304)
    expect(again.text).toBe('')
    await request(app).get(fill(path)).set('If-None-Match', '"other"').expect(200)
  })

  test('answers HEAD as GET, and no other method', async () => {
    const { app, fill } = await setUp()
    const head = await request(app).head(fill(path)).expect(200)
    expect(head.headers.etag).toBe((await request(app).get(fill(path))).headers.etag)
    for (const method of ['post', 'put', 'delete', 'patch'] as const) {
      const response = await request(app)[method](fill(path))
      expect(response.status).toBe(405)
      expect(response.headers.allow).toBe('GET, HEAD')
    }
  })
})

test('amounts are decimal strings and the clock is isOpen, never is_open', async () => {
  const { app } = await setUp()
  const { body } = await request(app).get('/market')
  expect(body.symbols[0]).toMatchObject({ symbol: 'AAPL', price: '200000000', previousClose: '200000000' })
  const clock = await request(app).get('/market/clock')
  expect(Object.keys(clock.body)).toEqual(['isOpen', 'nextOpen', 'nextClose'])
  expect(clock.text).not.toContain('_')
})
