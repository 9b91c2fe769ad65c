import { expect, it } from 'vitest'
import { alpacaExample } from '../support/alpacaExamples.js'
import { brokerOf, usd } from '../support/brokerStandIn.js'
import { startRawServer } from '../support/rawServer.js'

const START = new Date('2022-01-01T00:00:00Z')
const filter = { symbols: ['AAPL', 'MSFT'], timeframe: '15Min', start: START }
const at = (minute: number) => new Date(Date.UTC(2022, 0, 3, 9, minute))

/** A client of a server that gives one page after another, and what it was asked. */
async function paged(...pages: unknown[]) {
  const asked: string[] = []
  const url = await startRawServer((request, response) => {
    asked.push(request.url ?? '')
    response.end(JSON.stringify(pages[asked.length - 1]))
  })
  return { broker: brokerOf(url), asked }
}

it('the client reads Alpaca’s documented example', async () => {
  const { broker, asked } = await paged(alpacaExample('bars'))
  expect([...(await broker.getBars(filter))]).toEqual([
    [
      'AAPL',
      [
        { at: at(0), close: usd(178.08) },
        { at: at(15), close: usd(178.21) },
      ],
    ],
  ])
  expect(asked).toEqual([
    '/v2/stocks/bars?symbols=AAPL%2CMSFT&timeframe=15Min&start=2022-01-01T00%3A00%3A00.000Z&limit=10000&feed=iex&sort=asc',
  ])
})

it('reads on while there are more, and joins a symbol’s parts', async () => {
  const bar = (minute: number, c: number | null) => ({ t: at(minute).toISOString(), c })
  const { broker, asked } = await paged(
    { bars: { AAPL: [bar(0, 1)] }, next_page_token: 'QQ==' },
    { bars: { AAPL: [bar(15, 2), bar(30, null), bar(45, 0)], MSFT: null }, next_page_token: 'Qg==' },
    { bars: { MSFT: [bar(0, 3)], constructor: [bar(0, 4)] } },
  )
  const found = await broker.getBars({ ...filter, symbols: ['AAPL', 'MSFT', 'toString'] })
  expect(found.get('AAPL')).toEqual([
    { at: at(0), close: usd(1) },
    { at: at(15), close: usd(2) },
  ])
  expect(found.get('MSFT')).toEqual([{ at: at(0), close: usd(3) }])
  expect(found.size).toBe(2)
  expect(asked.map((url) => new URL(url, 'http://x').searchParams.get('page_token'))).toEqual([
    ...[null, 'QQ==', 'Qg=='],
  ])
})

it('no symbols are no request, and no bars are none', async () => {
  const { broker, asked } = await paged({ bars: null, next_page_token: null })
  expect((await broker.getBars({ ...filter, symbols: [] })).size).toBe(0)
  expect(asked).toEqual([])
  expect((await broker.getBars(filter)).size).toBe(0)
})
