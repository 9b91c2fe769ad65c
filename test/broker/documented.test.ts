import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fillValue } from '../../src/broker/index.js'
import { priceSchema } from '../../src/broker/numbers.js'
import type { Announcement } from '../../src/protocol/actionReport.js'
import { alpacaExample } from '../support/alpacaExamples.js'
import { brokerOf, type PlacingBroker, shares, usd } from '../support/brokerStandIn.js'
import { startRawServer } from '../support/rawServer.js'

/** A client of a server that gives one answer after another, the last one again and again; and what it was asked. */
async function answering(status: number, ...answers: unknown[]) {
  const asked: string[] = []
  const url = await startRawServer((request, response) => {
    asked.push(request.url ?? '')
    const answer = answers[Math.min(asked.length, answers.length) - 1]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  const paramsOf = (name: string) => asked.map((path) => new URL(path, 'http://x').searchParams.get(name))
  return { broker: brokerOf(url), asked, paramsOf }
}

const ACCEPTED = 'eb9e2aaa-f71a-4f51-b5b4-52a6c565dad4'
const FILLED = 'cc8cc104-fe43-476c-b25c-f62650fb73f9'
const AFTER = new Date('2019-01-01T00:00:00Z')
const BARS = { symbols: ['AAPL', 'MSFT'], timeframe: '15Min', start: new Date('2022-01-01T00:00:00Z') }
const at = (minute: number) => new Date(Date.UTC(2022, 0, 3, 9, minute))
const bar = (minute: number, close: number) => ({ at: at(minute), close: usd(close) })

it.each<[string, (broker: PlacingBroker) => Promise<unknown>, unknown]>([
  [
    'clock',
    (broker) => broker.getClock(),
    {
      ...{ timestamp: new Date('2022-04-28T18:07:04.451Z'), isOpen: true },
      ...{ nextOpen: new Date('2022-04-29T13:30:00Z'), nextClose: new Date('2022-04-28T20:00:00Z') },
    },
  ],
  [
    'snapshots',
    async (broker) => [...(await broker.getSnapshots(['AAPL', 'MSFT'])).values()],
    [
      {
        ...{ symbol: 'AAPL', last: usd(125.91), lastAt: new Date('2021-05-11T20:00:00.435Z') },
        ...{ bid: usd(125.6), ask: usd(125.68) },
        ...{ previousClose: usd(126.85), previousAt: new Date('2021-05-10T04:00:00Z') },
      },
    ],
  ],
  ['bars', (broker) => broker.getBars(BARS), new Map([['AAPL', [bar(0, 178.08), bar(15, 178.21)]]])],
  [
    'asset',
    (broker) => broker.getAsset('AAPL'),
    {
      ...{ symbol: 'AAPL', name: 'Apple Inc. Common Stock', status: 'active' },
      ...{ tradable: true, fractionable: true },
    },
  ],
  [
    'order-accepted',
    (broker) => broker.getOrderByClientOrderId(ACCEPTED),
    expect.objectContaining({
      ...{ symbol: 'AAPL', side: 'buy', status: 'accepted', state: 'live' },
      ...{ filledQty: 0n, fills: [], notional: usd(500), qty: null, limitPrice: null },
    }),
  ],
  [
    'order-limit',
    (broker) => broker.getOrderByClientOrderId(ACCEPTED),
    expect.objectContaining({ state: 'live', notional: usd(500), limitPrice: usd(190.5) }),
  ],
  [
    'order-filled',
    async (broker) => {
      const order = await broker.getOrderByClientOrderId(FILLED)
      return { ...order, value: order && fillValue(order, 'exact') }
    },
    expect.objectContaining({
      ...{ state: 'filled', qty: shares(3), value: usd(1.29) },
      fills: [{ qty: shares(3), avgPrice: '0.43' }],
    }),
  ],
  ['positions', (broker) => broker.getPositions(), [{ symbol: 'AAPL', qty: shares(5) }]],
  [
    'account',
    (broker) => broker.getAccount(),
    {
      ...{ id: '1d9eed04-be39-4e01-9b84-a48ac5bbafcf', status: 'ACTIVE', tradingBlocked: false },
      ...{ cash: usd(122086.5), buyingPower: usd(245432.61) },
    },
  ],
])("the client reads Alpaca's documented example: %s", async (name, read, expected) => {
  expect(await read((await answering(200, alpacaExample(name))).broker)).toEqual(expected)
})

it.each([
  ['error-wash-trade', 403, { kind: 'rejected', code: 40310000, isOpposed: true }],
  ['error-buying-power', 403, { kind: 'rejected', code: 40310000, isOpposed: false }],
  ['error-minimum', 403, { kind: 'rejected', code: 40310000 }],
  ['error-unauthorized', 401, { kind: 'unauthorized', code: undefined }],
  ['error-forbidden', 403, { kind: 'unauthorized', code: undefined }],
  ['error-rate-limit', 429, { kind: 'rate-limited', code: 42910000 }],
  ['error-not-found', 404, { kind: 'not-found', code: 40410000 }],
])("the client reads Alpaca's documented example: %s", async (name, status, expected) => {
  const { broker } = await answering(status, alpacaExample(name))
  const placing = broker.placeOrder({ symbol: 'AAPL', side: 'buy', notional: usd(5), clientOrderId: 'a' })
  await expect(placing).rejects.toMatchObject({ ...expected, status })
})

it("the client reads Alpaca's documented example: error-not-cancelable", async () => {
  const { broker } = await answering(422, alpacaExample('error-not-cancelable'))
  expect(await broker.cancelOrder('61e69015-8549-4bfd-b9c3-01e75843f47d')).toBe('not-cancelable')
})

const FILL = Object(alpacaExample('activity-fill'))
const FEE = Object(alpacaExample('activity-fee'))
const DIVIDEND = Object(alpacaExample('activity-dividend'))

/** What the client makes of an account's entries. */
async function activitiesOf(...entries: unknown[]) {
  const { broker } = await answering(200, entries)
  return broker.getActivities({ after: AFTER })
}

it('account activities are fills and fees: a canceled fee counts nothing, one that was given back counts as less', async () => {
  const found = await activitiesOf(FILL, FEE, { ...FEE, status: 'canceled' }, { ...FEE, net_amount: '0.5' })
  const orderId = '904837e3-3b76-47ec-b432-046db621571b'
  const fill = { orderId, symbol: 'LPCN', side: 'buy', qty: shares(1), price: usd(1.63) }
  expect(found).toEqual({
    fills: [{ ...fill, at: new Date('2019-05-24T15:34:06.977Z') }],
    fees: [usd(0.01), 0n, -usd(0.5)].map((amount) => ({ day: '2019-08-01', amount })),
    ...{ booked: [], others: [] },
  })
})

it('account activities are also what corporate actions left; unknown kinds are named, canceled entries as well', async () => {
  const split = Array.from(Object(alpacaExample('activities-split')))
  const canceled = { ...DIVIDEND, status: 'canceled' }
  const former = { ...DIVIDEND, activity_type: 'SSP', qty: '-2', net_amount: null, per_share_amount: null }
  const unknown = { ...FEE, activity_type: 'NEW_KIND', qty: '0.0000000000000001' }
  const { booked, others } = await activitiesOf(DIVIDEND, ...split, canceled, former, unknown)
  const id = DIVIDEND.id
  const entry = { id, day: '2019-08-01', symbol: 'T', subType: '', description: '' }
  expect(booked).toMatchObject([
    { ...entry, type: 'DIV', qty: shares(2), cash: usd(1.02) },
    { type: 'SPLIT', subType: 'FSPLIT', day: '2024-12-04', symbol: 'ANET', qty: -807_009n, cash: 0n },
    { type: 'SPLIT', qty: 3_228_036n },
    { ...entry, type: 'DIV', isCanceled: true },
    { ...entry, type: 'SSP', qty: -shares(2), cash: 0n },
  ])
  expect(others).toEqual([{ id: FEE.id, type: 'NEW_KIND', day: '2019-08-01', symbol: '' }])
})

it.each([
  { ...FILL, price: '-1' },
  { ...FILL, qty: '0.0000000001' },
  { ...FEE, net_amount: null },
  { ...DIVIDEND, net_amount: '1.0000001', symbol: null },
  { ...DIVIDEND, date: null, id: 'd' },
])('account activities that cannot be read are not left out: %j', async (entry) => {
  await expect(activitiesOf(FILL, entry)).rejects.toMatchObject({ kind: 'unavailable', reason: 'unreadable' })
})

it.each([
  { net_amount: '1.0000001' },
  { qty: '0.0000000001' },
  { date: null },
  { date: 'x', status: 'canceled' },
])(
  'an entry of a corporate action that cannot be read is known by symbol and day, and hides no other: %j',
  async (strange) => {
    const { booked, fills } = await activitiesOf(FILL, DIVIDEND, { ...DIVIDEND, ...strange })
    const isCanceled = 'status' in strange && { isCanceled: true }
    const known = { type: 'DIV', symbol: 'T', day: '2019-08-01', cash: 0n, isUnreadable: true, ...isCanceled }
    expect([fills.length, booked]).toMatchObject([1, [{ cash: usd(1.02) }, known]])
  },
)

it('announced corporate actions are read with exact rates; an unknown kind, or one without its dates, is still named', async () => {
  const documented = Object(alpacaExample('corporate-actions'))
  const { cash_dividends: dividends } = documented.corporate_actions
  const strange = {
    name_changes: [{ ...dividends[0], old_symbol: 'A', new_symbol: 'A' }],
    new_kind: dividends,
  }
  const undated = { cash_dividends: [{ ...dividends[0], ex_date: 5, rate: 'x' }] }
  const pages = [{ ...documented, next_page_token: 'QQ==' }, pageOf(strange, 'Qg=='), pageOf(undated, null)]
  const { broker, asked, paramsOf } = await answering(200, ...pages)
  const found = await broker.getAnnouncements({ symbols: ['A', 'B'], start: '2023-01-01', end: '2024-12-31' })
  const terms = found.map(({ kind, symbol, successor, day, shares: each, cash }) =>
    [kind, symbol, successor, day, textOf(each), textOf(cash)].filter((part) => part !== ''),
  )
  expect(terms).toEqual([
    ['split', 'SRE', '2023-08-22', '2/1'],
    ['split', 'MNTS', '2023-08-24', '1/50'],
    ['stock-dividend', 'MSBC', '2023-05-19', '1/20'],
    ['cash-dividend', 'FCF', '2023-05-04', '1/8'],
    ['cash-dividend', 'GCAD', '2025-12-26', '28437/50000'],
    ['symbol-change', 'BSAQ', 'VFS', '2023-08-15', '1/1'],
    ['removal', 'BLPH', '2024-12-19'],
    ['merger', 'GLOP', '2023-07-17', '537/100'],
    ['merger', 'LSI', 'EXR', '2023-07-20', '179/200'],
    ['merger', 'MLVF', 'FRBA', '2023-07-18', '7733/10000', '39/5'],
    ['spin-off', 'JUPW', 'SRM', '2023-08-15', '20/387'],
    ['other', 'IFN', '2024-04-17'],
    ['other', 'TPBAU', '2023-03-01'],
    ['other', 'FCF', '2023-05-04'],
    ['other', 'FCF', '2023-05-19'],
  ])
  expect(found[3]).toMatchObject({
    ...{ id: dividends[0].id, recordedOn: '2023-05-05', days: ['2023-05-19', '2023-05-04'], foreign: false },
  })
  expect(paramsOf('page_token')).toEqual([null, 'QQ==', 'Qg=='])
  expect(asked[0]).toContain('symbols=A%2CB&start=2023-01-01&end=2024-12-31')
})

const pageOf = (actions: object, token: string | null) => ({
  ...{ corporate_actions: actions, next_page_token: token },
})
const textOf = (rate: Announcement['cash']) => (rate ? `${rate.numerator}/${rate.denominator}` : '')

it('lists are read to their last page: activities and bars', async () => {
  const entries = Array.from({ length: 230 }, (_, index) => ({ ...FILL, id: `id-${index}` }))
  const pages = [0, 100, 200].map((from) => entries.slice(from, from + 100))
  const activities = await answering(200, ...pages)
  expect((await activities.broker.getActivities({ after: AFTER })).fills).toHaveLength(230)
  expect(activities.paramsOf('page_token')).toEqual([null, 'id-99', 'id-199'])
  expect(activities.asked[0]).toContain('after=2019-01-01T00%3A00%3A00.000Z&direction=asc')

  const told = (minute: number, c: number | null) => ({ t: at(minute).toISOString(), c })
  const { broker, asked, paramsOf } = await answering(
    ...[200, { bars: { AAPL: [told(0, 1)] }, next_page_token: 'QQ==' }],
    ...[{ bars: { AAPL: [told(15, 2), told(30, null), told(45, 0)], MSFT: null }, next_page_token: 'Qg==' }],
    ...[{ bars: { MSFT: [told(0, 3)], constructor: [told(0, 4)] } }],
  )
  const found = await broker.getBars({ ...BARS, symbols: ['AAPL', 'MSFT', 'toString'] })
  const expected = { AAPL: [bar(0, 1), bar(15, 2)], MSFT: [bar(0, 3)] }
  expect(found).toEqual(new Map(Object.entries(expected)))
  expect(paramsOf('page_token')).toEqual([null, 'QQ==', 'Qg=='])
  expect((await broker.getBars({ ...BARS, symbols: [] })).size).toBe(0)
  expect(asked).toHaveLength(3)
})

it('any symbol of a snapshot, and any member of it, may be missing or null', async () => {
  const { broker } = await answering(200, {
    A: null,
    B: {},
    C: { latestTrade: null, latestQuote: { bp: 0, ap: 10.5 }, unknown: 1 },
    D: { latestTrade: { t: '2021-05-11T20:00:00Z', p: 1.25 }, prevDailyBar: { c: 1e-7 } },
  })
  const found = await broker.getSnapshots(['A', 'B', 'C', 'D', 'E', 'constructor'])
  expect([...found.keys()]).toEqual(['B', 'C', 'D'])
  expect(found.get('B')).toMatchObject({ last: null, bid: null, ask: null, previousClose: null })
  expect(found.get('C')).toMatchObject({ last: null, bid: null, ask: usd(10.5) })
  expect(found.get('D')).toMatchObject({ last: usd(1.25), previousClose: null })
})

it('every price with four decimals is read exactly, others as told, and no price as null', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 9_999_999_999n }), (tenThousandths) => {
      const text = `${tenThousandths / 10_000n}.${(tenThousandths % 10_000n).toString().padStart(4, '0')}`
      expect(priceSchema('exact').parse(JSON.parse(text))).toBe(tenThousandths * 100n)
    }),
  )
  const prices = [1.2345678, 1e-7, 0, null, undefined]
  expect(prices.map((price) => priceSchema('down').parse(price))).toEqual([
    1_234_567n,
    null,
    null,
    null,
    null,
  ])
  expect(prices.map((price) => priceSchema('up').parse(price))).toEqual([1_234_568n, 1n, null, null, null])
  for (const price of [-1, '1.5', Number.NaN, {}, 1e21])
    expect(priceSchema('down').safeParse(price).success).toBe(false)
})
