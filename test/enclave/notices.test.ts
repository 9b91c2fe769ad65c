import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type NoticeCode, noticeCodes, noticeOf, tradeWords } from '../../src/enclave/notices.js'
import { openNotice } from '../../src/protocol/notice.js'
import { FEES } from '../support/brokerBooks.js'
import { shares, usd } from '../support/brokerStandIn.js'
import { USER_KEY, USER_PUBKEY } from './support/parties.js'

const page = readFileSync(new URL('../../docs/enclave.md', import.meta.url), 'utf8')
/** Without the spaces that align its tables. */
const rows = page.replace(/ +\|/g, ' |')
const ORDER_ID = `0x${'5a'.repeat(32)}` as const

it.each(noticeCodes.map((code) => [code]))(
  'a notice %s is sealed to the employee and on the page',
  async (code) => {
    const sealed = await noticeOf(ORDER_ID, code, USER_PUBKEY)
    const notice = await openNotice(sealed, USER_KEY, ORDER_ID)
    expect(notice).toMatchObject({ orderId: ORDER_ID, code })
    expect(rows).toContain(`| \`${code}\` | ${notice.message} |`)
  },
)

it('a notice is on the page only if it exists', () => {
  const table = page.slice(page.indexOf('## Notices'))
  const listed = [...table.matchAll(/^\| `([a-z-]+)`/gm)].map(([, code]) => code)
  expect(listed).toEqual(noticeCodes satisfies readonly NoticeCode[])
})

it('a notice has one size, whatever it says', async () => {
  const trade = {
    symbol: 'GOOGL',
    qty: shares(123_456.123456789),
    value: usd(12_345_678.99),
    fees: usd(543.21),
  }
  const words = tradeWords({ ...trade, side: 'SELL' }, FEES)
  const sealed = noticeCodes.map((code) => noticeOf(ORDER_ID, code, USER_PUBKEY))
  const all = await Promise.all([...sealed, noticeOf(ORDER_ID, 'filled', USER_PUBKEY, words)])
  expect(new Set(all.map(({ ct }) => ct.length)).size).toBe(1)
})

it('a notice of a fill says what it came to, and what its fees are', async () => {
  const trade = { symbol: 'AAPL', qty: shares(1.5), value: usd(300), fees: usd(0.02) }
  const sold = tradeWords({ ...trade, side: 'SELL' }, FEES)
  expect(sold).toBe('Sold 1.5 AAPL for 300.00 USDC, less 0.02 USDC in fees: 299.98 USDC.')
  const bought = 'Bought 1.5 AAPL for 300.00 USDC.'
  expect(tradeWords({ ...trade, side: 'BUY' }, FEES)).toBe(
    `${bought} When you sell, you pay the broker's fees for both trades.`,
  )
  expect(tradeWords({ ...trade, side: 'BUY' }, [])).toBe(bought)
})
