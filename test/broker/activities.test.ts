import { expect, it } from 'vitest'
import { alpacaExample } from '../support/alpacaExamples.js'
import { brokerOf, shares, usd } from '../support/brokerStandIn.js'
import { startRawServer } from '../support/rawServer.js'

const AFTER = new Date('2019-01-01T00:00:00Z')
const FILL = Object(alpacaExample('activity-fill'))
const FEE = Object(alpacaExample('activity-fee'))

/** Answers every request with these entries. */
async function answering(...entries: unknown[]) {
  return brokerOf(await startRawServer((_request, response) => response.end(JSON.stringify(entries))))
}

it('account activities are read as Alpaca documents them', async () => {
  expect(await (await answering(FILL, FEE)).getActivities({ after: AFTER })).toEqual({
    fills: [
      {
        symbol: 'LPCN',
        side: 'buy',
        qty: shares(1),
        price: usd(1.63),
        at: new Date('2019-05-24T15:34:06.977Z'),
      },
    ],
    fees: [{ day: '2019-08-01', amount: usd(0.01) }],
  })
})

it('account activities count no fee that was canceled, and one that was given back as less', async () => {
  const broker = await answering({ ...FEE, status: 'canceled' }, { ...FEE, net_amount: '0.5' })
  const { fees } = await broker.getActivities({ after: AFTER })
  expect(fees.map(({ amount }) => amount)).toEqual([0n, -usd(0.5)])
})

it.each([
  { ...FILL, price: '-1' },
  { ...FILL, qty: '0.0000000001' },
  { ...FEE, net_amount: null },
  { ...FEE, activity_type: 'JNLC' },
])('account activities that cannot be read are not left out: %j', async (entry) => {
  const reading = (await answering(FILL, entry)).getActivities({ after: AFTER })
  await expect(reading).rejects.toMatchObject({ kind: 'unavailable', reason: 'unreadable' })
})

it('account activities are read to their last page', async () => {
  const entries = Array.from({ length: 230 }, (_, index) => ({ ...FILL, id: `id-${index}` }))
  const asked: string[] = []
  const url = await startRawServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://broker')
    asked.push(searchParams.toString())
    const token = searchParams.get('page_token')
    const from = token === null ? 0 : entries.findIndex(({ id }) => id === token) + 1
    response.end(JSON.stringify(entries.slice(from, from + Number(searchParams.get('page_size')))))
  })
  expect((await brokerOf(url).getActivities({ after: AFTER })).fills).toHaveLength(230)
  expect(asked).toHaveLength(3)
  expect(asked[0]).toBe(
    'activity_types=FILL%2CFEE&after=2019-01-01T00%3A00%3A00.000Z&direction=asc&page_size=100',
  )
})
