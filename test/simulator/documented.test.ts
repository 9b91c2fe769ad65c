import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BrokerStandIn } from '../../src/simulator/index.js'
import { alpacaExample } from '../support/alpacaExamples.js'
import { ENCLAVE_ACCOUNT, startStandIn } from '../support/brokerStandIn.js'

let standIn: BrokerStandIn
beforeEach(async () => {
  standIn = await startStandIn()
})
afterEach(() => standIn.stop())

async function call(path: string, init: RequestInit = {}, secretKey = ENCLAVE_ACCOUNT.secretKey) {
  const response = await fetch(standIn.url + path, {
    ...init,
    headers: { 'APCA-API-KEY-ID': ENCLAVE_ACCOUNT.keyId, 'APCA-API-SECRET-KEY': secretKey },
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

function place(order: Record<string, string>) {
  const body = JSON.stringify({ symbol: 'AAPL', side: 'buy', type: 'market', time_in_force: 'day', ...order })
  return call('/v2/orders', { method: 'POST', body })
}

/**
 * The form of a JSON value: its keys, and each leaf's type. Strings also have a type by their contents, because
 * Alpaca's decimals, times and ids are all strings. Arrays count by their first item.
 */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [formOf(value[0])]
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, formOf(member)]))
  }
  if (typeof value !== 'string') return value === null ? 'null' : typeof value
  if (/^-?\d+(\.\d+)?$/.test(value)) return 'decimal'
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return 'utc time'
  if (/^\d{4}-\d\d-\d\dT[\d:.]+-0[45]:00$/.test(value)) return 'new york time'
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return 'date'
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value) ? 'uuid' : 'text'
}

it("the stand-in answers in Alpaca's documented form, member for member: GET /v2/clock", async () => {
  expect(formOf((await call('/v2/clock')).body)).toEqual(formOf(alpacaExample('clock')))
})

it("the stand-in answers in Alpaca's documented form, member for member: GET /v2/stocks/snapshots", async () => {
  const { body } = await call('/v2/stocks/snapshots?symbols=AAPL,NOPE&feed=iex')
  expect(formOf(body)).toEqual(formOf(alpacaExample('snapshots')))
})

it("the stand-in answers in Alpaca's documented form, member for member: GET /v2/stocks/bars", async () => {
  const since = new Date(Date.now() - 5 * 86_400_000).toISOString()
  const query = `symbols=NOPE,AAPL&timeframe=15Min&start=${since}&limit=2&feed=iex`
  const { body } = await call(`/v2/stocks/bars?${query}`)
  const { next_page_token: token, ...form } = Object(body)
  const { next_page_token: _, ...documented } = Object(alpacaExample('bars'))
  expect(formOf(form)).toEqual(formOf(documented))
  const next = Object((await call(`/v2/stocks/bars?${query}&page_token=${token}`)).body)
  expect(next.bars.AAPL[0].t > form.bars.AAPL[1].t).toBe(true)
  expect((await call('/v2/stocks/bars?symbols=AAPL&timeframe=7Min')).status).toBe(400)
  expect((await call('/v2/stocks/bars')).status).toBe(400)
})

it("the stand-in answers in Alpaca's documented form, member for member: GET /v2/assets/{symbol}", async () => {
  const { attributes, ...form } = Object(formOf((await call('/v2/assets/AAPL')).body))
  const { attributes: documented, ...expected } = Object(formOf(alpacaExample('asset')))
  expect(form).toEqual(expected)
  expect([Array.isArray(attributes), Array.isArray(documented)]).toEqual([true, true])
})

it("the stand-in answers in Alpaca's documented form, member for member: GET /v2/account", async () => {
  expect(formOf((await call('/v2/account')).body)).toEqual(formOf(alpacaExample('account')))
})

it("the stand-in answers in Alpaca's documented form, member for member: POST /v2/orders, by amount", async () => {
  const { status, body } = await place({
    notional: '500',
    client_order_id: 'eb9e2aaa-f71a-4f51-b5b4-52a6c565dad4',
  })
  expect(status).toBe(200)
  expect(formOf(body)).toEqual(formOf(alpacaExample('order-accepted')))
})

it("the stand-in answers in Alpaca's documented form, member for member: GET /v2/orders:by_client_order_id, filled by quantity", async () => {
  const id = 'cc8cc104-fe43-476c-b25c-f62650fb73f9'
  await place({ qty: '3', client_order_id: id })
  const { body } = await call(`/v2/orders:by_client_order_id?client_order_id=${id}`)
  expect(formOf(body)).toEqual(formOf(alpacaExample('order-filled')))
})

it("the stand-in answers in Alpaca's documented form, member for member: GET /v2/orders/{id}", async () => {
  const { body } = await place({ notional: '500' })
  standIn.control.fill({ mode: 'hold' })
  const held = await place({ notional: '500' })
  expect((await call(`/v2/orders/${body.id}`)).body).toMatchObject({ id: body.id, status: 'filled' })
  expect(formOf((await call(`/v2/orders/${held.body.id}`)).body)).toEqual(
    formOf(alpacaExample('order-accepted')),
  )
})

it("the stand-in answers in Alpaca's documented form, member for member: GET /v2/account/activities, of all types and of one", async () => {
  await place({ qty: '3' })
  standIn.control.clock({ open: false })
  const { body } = await call('/v2/account/activities?activity_types=FILL,FEE&direction=asc')
  expect(body.map(formOf)).toEqual([
    formOf(alpacaExample('activity-fill')),
    formOf(alpacaExample('activity-fee')),
  ])
  expect((await call('/v2/account/activities/FEE')).body).toEqual([body[1]])
})

it("the stand-in answers in Alpaca's documented form, member for member: GET /v2/positions", async () => {
  await place({ qty: '3' })
  expect(formOf((await call('/v2/positions')).body)).toEqual(formOf(alpacaExample('positions')))
})

it("the stand-in answers in Alpaca's documented form, member for member: DELETE /v2/orders/{id}", async () => {
  standIn.control.fill({ mode: 'hold' })
  const { body } = await place({ qty: '3' })
  expect(await call(`/v2/orders/${body.id}`, { method: 'DELETE' })).toMatchObject({
    status: 204,
    body: undefined,
  })
})

it("the stand-in answers in Alpaca's documented form: the refusals", async () => {
  const used = { notional: '500', client_order_id: 'used' }
  const { body: filled } = await place(used)
  standIn.control.fill({ mode: 'hold' })
  await place({ qty: '1' })
  standIn.control.limit({ perMinute: 200 })
  const lookUp = '/v2/orders:by_client_order_id?client_order_id=61e69015-8549-4bfd-b9c3-01e75843f47d'

  const refusals: [string, number, Awaited<ReturnType<typeof call>>][] = [
    ['error-duplicate', 422, await place(used)],
    ['error-not-found', 404, await call(lookUp)],
    ['error-minimum', 403, await place({ notional: '0.99' })],
    ['error-buying-power', 403, await place({ notional: '1000000' })],
    ['error-wash-trade', 403, await place({ qty: '1', side: 'sell' })],
    ['error-not-cancelable', 422, await call(`/v2/orders/${filled.id}`, { method: 'DELETE' })],
    ['error-unauthorized', 401, await call('/v2/clock', {}, 'wrong')],
  ]
  standIn.control.limit({ perMinute: 1 })
  await call('/v2/clock')
  refusals.push(['error-rate-limit', 429, await call('/v2/clock')])

  for (const [name, status, answer] of refusals) {
    const documented = Object(alpacaExample(name))
    expect({ name, status: answer.status, form: formOf(answer.body) }).toEqual({
      name,
      status,
      form: formOf(documented),
    })
    expect(answer.body.code).toBe(documented.code)
  }
})

it("the stand-in answers in Alpaca's documented form: X-RateLimit-* on every answer to good keys, for each of the two APIs", async () => {
  standIn.control.limit({ perMinute: 200 })
  for (const path of ['/v2/clock', '/v2/stocks/snapshots?symbols=AAPL']) {
    const { headers } = await call(path)
    expect(headers.get('x-ratelimit-limit')).toBe('200')
    expect(headers.get('x-ratelimit-remaining')).toBe('199')
    expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1000)
  }
  standIn.control.limit({ perMinute: null })
  expect((await call('/v2/clock')).headers.get('x-ratelimit-limit')).toBeNull()
})
