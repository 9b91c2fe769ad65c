import { expect, it, onTestFinished, vi } from 'vitest'
import { alpacaExample } from '../support/alpacaExamples.js'
import { ENCLAVE_ACCOUNT, startStandIn } from '../support/brokerStandIn.js'

async function setUp() {
  const { url, control, stop } = await startStandIn()
  onTestFinished(stop)
  async function call(path: string, init: RequestInit = {}, secretKey = ENCLAVE_ACCOUNT.secretKey) {
    const headers = { 'APCA-API-KEY-ID': ENCLAVE_ACCOUNT.keyId, 'APCA-API-SECRET-KEY': secretKey }
    const response = await fetch(url + path, { ...init, headers })
    const text = await response.text()
    const body = text === '' ? undefined : JSON.parse(text)
    return { status: response.status, headers: response.headers, body }
  }
  function place(order: Record<string, string>) {
    const common = { symbol: 'AAPL', side: 'buy', type: 'market', time_in_force: 'day' }
    return call('/v2/orders', { method: 'POST', body: JSON.stringify({ ...common, ...order }) })
  }
  return { url, control, call, place }
}

type StandIn = Awaited<ReturnType<typeof setUp>>

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

const BARS = 'symbols=NOPE,AAPL&timeframe=15Min&limit=2&feed=iex'
const since = () => new Date(Date.now() - 5 * 86_400_000).toISOString()

it.each<[string, string, (standIn: StandIn) => Promise<{ body: unknown }>]>([
  ['GET /v2/clock', 'clock', ({ call }) => call('/v2/clock')],
  [
    'GET /v2/stocks/snapshots',
    'snapshots',
    ({ call }) => call('/v2/stocks/snapshots?symbols=AAPL,NOPE&feed=iex'),
  ],
  ['GET /v2/account', 'account', ({ call }) => call('/v2/account')],
  ['POST /v2/orders', 'order-accepted', ({ place }) => place({ notional: '500' })],
  [
    'GET /v2/orders:by_client_order_id',
    'order-filled',
    async ({ call, place }) => {
      const id = 'cc8cc104-fe43-476c-b25c-f62650fb73f9'
      await place({ qty: '3', client_order_id: id })
      return call(`/v2/orders:by_client_order_id?client_order_id=${id}`)
    },
  ],
  [
    'GET /v2/orders/{id}',
    'order-accepted',
    async ({ call, place, control }) => {
      control.fill({ mode: 'hold' })
      return call(`/v2/orders/${(await place({ notional: '500' })).body.id}`)
    },
  ],
  [
    'POST /v2/orders of a limit order',
    'order-limit',
    ({ place }) => place({ notional: '500', type: 'limit', limit_price: '190.5' }),
  ],
  [
    'GET /v2/positions',
    'positions',
    async ({ call, place }) => {
      await place({ qty: '3' })
      return call('/v2/positions')
    },
  ],
])("the stand-in answers in Alpaca's documented form, member for member: %s", async (_route, name, ask) => {
  expect(formOf((await ask(await setUp())).body)).toEqual(formOf(alpacaExample(name)))
})

it("the stand-in answers in Alpaca's documented form, member for member: bars, assets, activities", async () => {
  const { call, place, control } = await setUp()
  const { next_page_token: token, ...bars } = Object(
    (await call(`/v2/stocks/bars?${BARS}&start=${since()}`)).body,
  )
  const { next_page_token: _, ...documented } = Object(alpacaExample('bars'))
  expect(formOf(bars)).toEqual(formOf(documented))
  const next = await call(`/v2/stocks/bars?${BARS}&start=${since()}&page_token=${token}`)
  expect(next.body.bars.AAPL[0].t > bars.bars.AAPL[1].t).toBe(true)
  const { attributes: none, ...asset } = (await call('/v2/assets/AAPL')).body
  const { attributes, ...expected } = Object(alpacaExample('asset'))
  expect(formOf(asset)).toEqual(formOf(expected))
  expect([none, attributes].map(Array.isArray)).toEqual([true, true])
  await place({ qty: '3' })
  control.clock({ open: false })
  const { body } = await call('/v2/account/activities?activity_types=FILL,FEE&direction=asc')
  const activities = ['activity-fill', 'activity-fee'].map(alpacaExample)
  expect(body.map(formOf)).toEqual(activities.map(formOf))
})

it("the stand-in answers in Alpaca's documented form: the refusals", async () => {
  const { call, place, control } = await setUp()
  const used = { notional: '500', client_order_id: 'used' }
  const { body: filled } = await place(used)
  control.fill({ mode: 'hold' })
  await place({ qty: '1' })
  const lookUp = '/v2/orders:by_client_order_id?client_order_id=61e69015-8549-4bfd-b9c3-01e75843f47d'
  const refusals: [string, number, Awaited<ReturnType<typeof call>>][] = [
    ['error-duplicate', 422, await place(used)],
    ['error-not-found', 404, await call(lookUp)],
    ['error-sub-penny', 422, await place({ qty: '1', type: 'limit', limit_price: '290.123' })],
    ['error-minimum', 403, await place({ notional: '0.99' })],
    ['error-buying-power', 403, await place({ notional: '1000000' })],
    ['error-wash-trade', 403, await place({ qty: '1', side: 'sell' })],
    ['error-not-cancelable', 422, await call(`/v2/orders/${filled.id}`, { method: 'DELETE' })],
    ['error-unauthorized', 401, await call('/v2/clock', {}, 'wrong')],
  ]
  control.limit({ perMinute: 1 })
  await call('/v2/clock')
  refusals.push(['error-rate-limit', 429, await call('/v2/clock')])
  for (const [name, status, answer] of refusals) {
    const documented = Object(alpacaExample(name))
    expect([name, answer.status, formOf(answer.body)]).toEqual([name, status, formOf(documented)])
    expect(answer.body.code).toBe(documented.code)
  }
})

it.each([
  [{ notional: '10.001' }, 422, 42210000],
  [{ qty: '1.0000000001' }, 422, 42210000],
  [{ qty: '1', notional: '1' }, 422, 40010001],
  [{}, 422, 40010001],
  [{ qty: '1', type: 'limit' }, 422, 40010001],
  [{ qty: '1', type: 'limit', limit_price: '0.99999' }, 422, 42210000],
  [{ qty: '2', type: 'limit', limit_price: '0.9999' }, 200, undefined],
  [{ notional: '10.50', type: 'limit', limit_price: '190.50' }, 200, undefined],
  [{ notional: '10.50', type: 'limit', limit_price: '190.50', time_in_force: 'gtc' }, 422, 40010001],
  [{ qty: '1', client_order_id: 'x'.repeat(129) }, 422, 40010001],
  [{ qty: '1', order_class: 'bracket' }, 422, 40010001],
  [{ qty: '1', symbol: 'NOPE' }, 422, 42210000],
  [{ qty: '1', side: 'sell' }, 403, 40310000],
  [{ notional: '10.50', client_order_id: 'x'.repeat(128) }, 200, undefined],
])('the stand-in takes the orders that Alpaca takes, and no others: %j', async (order, status, code) => {
  const { place } = await setUp()
  const answer = await place(order)
  expect([answer.status, answer.body.code]).toEqual([status, code])
})

it("the stand-in's books are exact: a buy fills at the ask, floored to nine decimals, and cash moves in whole cents", async () => {
  const { call, place, control } = await setUp()
  await place({ notional: '1000', client_order_id: 'b' })
  const { body } = await call('/v2/orders:by_client_order_id?client_order_id=b')
  // 1000 / 200.01 = 4.99975001249937…, which costs a thousand dollars to the cent, and a cent of it is a fee.
  expect(body).toMatchObject({ filled_qty: '4.999750012', filled_avg_price: '200.01' })
  expect((await call('/v2/account')).body.cash).toBe('98999.99')
  control.account({ name: 'enclave', cash: '1000', positions: { AAPL: '2' } })
  control.price({ symbol: 'AAPL', price: '100', bid: '99.999' })
  await place({ qty: '0.123456789', side: 'sell' })
  // 0.123456789 × 99.999 = 12.3455554…: 12.35, less the cents of the day's fees.
  expect((await call('/v2/account')).body.cash).toBe('1012.33')
})

/** A connection to the stream, and what it hears. */
async function connect(url: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/stream`)
  onTestFinished(() => socket.close())
  socket.binaryType = 'arraybuffer'
  const heard: unknown[] = []
  socket.addEventListener('message', ({ data }) => heard.push(JSON.parse(new TextDecoder().decode(data))))
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  return {
    heard,
    say: (message: unknown) => socket.send(JSON.stringify(message)),
    hears: (count: number) => vi.waitFor(() => expect(heard).toHaveLength(count)),
  }
}
const AUTH = { ...Object(alpacaExample('stream-auth')), key: ENCLAVE_ACCOUNT.keyId }

it("the stand-in's stream answers as documented: keys, streams and nonsense", async () => {
  const { url } = await setUp()
  const { heard, say, hears } = await connect(url)
  say(alpacaExample('stream-listen'))
  say(alpacaExample('stream-auth'))
  say({ ...AUTH, secret: ENCLAVE_ACCOUNT.secretKey })
  say(alpacaExample('stream-listen'))
  say('nonsense')
  await hears(5)
  const answers = ['listen-unauthorized', 'unauthorized', 'authorized', 'listening', 'error']
  expect(heard).toEqual(answers.map((name) => alpacaExample(`stream-${name}`)))
})

it("the stand-in's stream tells of a fill as documented, member for member", async () => {
  const { url, place } = await setUp()
  const { heard, say, hears } = await connect(url)
  say({ ...AUTH, secret: ENCLAVE_ACCOUNT.secretKey })
  say(alpacaExample('stream-listen'))
  await hears(2)
  await place({ notional: '10', client_order_id: 'filled' })
  await hears(4)
  const { order, ...fill } = Object(heard[3]).data
  const { order: documentedOrder, ...documented } = Object(alpacaExample('stream-fill')).data
  expect(Object.keys(fill).sort()).toEqual(Object.keys(documented).sort())
  expect(fill).toMatchObject({ event: 'fill', qty: '0.0499975', price: '200.01' })
  // The documentation calls it the order of the REST API, whose examples have other members by now.
  const shared = Object.keys(documentedOrder).filter((key) => key !== 'cancel_requested_at')
  expect(Object.keys(order)).toEqual(expect.arrayContaining(shared))
  expect(order).toMatchObject({ client_order_id: 'filled', status: 'filled', filled_qty: '0.0499975' })
})
