// Statements and their files. enclave.test.ts compares them with the broker's books.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { EntryBody } from '../../../src/client/history/entries.js'
import { pdfOf } from '../../../src/client/history/pdf.js'
import { periodOf, statementFile } from '../../../src/client/history.js'
import type { CorporateAction } from '../../../src/protocol/corporateActions.js'
import { ONE_SHARE, ONE_USDC } from '../../../src/protocol/units.js'
import { pdfText } from '../../support/pdfText.js'
import { ACCOUNT, bought, carried, cellsOf, HASH, history, sold, statementIn } from './statementSetting.js'

it.each<[string, string | null, string?]>([
  ['2026-02', '2026-02-01', '2026-03-01'],
  ['2026-12', '2026-12-01', '2027-01-01'],
  ['2026', '2026-01-01', '2027-01-01'],
  ...['', '26', '2026-00', '2026-13', '2026-1', 'November'].map((name): [string, null] => [name, null]),
])('the period "%s" is from %s until %s', (name, from, to) => {
  const seconds = (day: string) => Date.parse(day) / 1_000
  expect(periodOf(name)).toEqual(from && to ? { name, from: seconds(from), to: seconds(to) } : null)
})

const dividend: CorporateAction = {
  ...{ kind: 'PAYMENT', index: 1, symbol: 'AAPL', recordAt: 0, entitlement: 0 },
  ...{ numerator: 1n, denominator: 1n },
}
const year = history(
  bought(10n * ONE_SHARE, 1_000n * ONE_USDC),
  { ...carried(dividend, {}, 5n * ONE_USDC), ...{ entitled: 10n * ONE_SHARE } },
  sold(5n * ONE_SHARE, 450n * ONE_USDC),
  ...new Array<EntryBody>(20).fill(bought(ONE_SHARE, 100n * ONE_USDC, 'MSFT')),
)

it('a statement carries the balance over its month, and a month without trades has the one before it', () => {
  const january = statementIn(year, '2026-01')
  expect(january).toMatchObject({ opening: { cash: 0n, positions: {} }, isFinal: true, isComplete: true })
  expect(january).toMatchObject({ gain: -50n * ONE_USDC, dividends: 5n * ONE_USDC })
  expect(january.lines.slice(0, 3)).toMatchObject([
    { event: 'bought', symbol: 'AAPL', shares: 10n * ONE_SHARE, amount: 1_000n * ONE_USDC, cash: 0n },
    { event: 'dividend', symbol: 'AAPL', shares: 10n * ONE_SHARE, cash: 5n * ONE_USDC },
    { event: 'sold', shares: -5n * ONE_SHARE, amount: 450n * ONE_USDC, cash: 450n * ONE_USDC },
  ])
  const february = statementIn(year, '2026-02')
  expect(february.opening).toEqual(january.closing)
  const march = statementIn(year, '2026-03')
  const { closing } = february
  expect(march).toMatchObject({ lines: [], disposals: [], opening: closing, closing })
  expect(march.closing.positions).toEqual({ AAPL: 5n * ONE_SHARE, MSFT: 20n * ONE_SHARE })
})

it('the CSV of a statement has each change and the cash after it, and that for tax software the columns of the form', () => {
  const statement = statementIn(year, '2026')
  const rows = cellsOf(statementFile(statement, 'csv', ACCOUNT))
  expect(rows.slice(0, 4)).toEqual([
    ['time (settled)', 'event', 'symbol', 'shares', 'price', 'amount', 'cash change', 'cash after'],
    ['2026-01-15T00:00:00Z', 'bought', 'AAPL', '10', '', '1000', '0', '0'],
    ['2026-01-16T00:00:00Z', 'dividend', 'AAPL', '10', '', '5', '5', '5'],
    ['2026-01-17T00:00:00Z', 'sold', 'AAPL', '-5', '', '450', '450', '455'],
  ])
  expect(rows).toHaveLength(24)
  expect(cellsOf(statementFile(statement, 'tax', ACCOUNT))).toEqual([
    [
      ...['Description of property', 'Date acquired (settled)', 'Date sold or disposed of (settled)'],
      ...['Proceeds', 'Cost or other basis', 'Gain or loss', 'Symbol', 'Shares', 'Transaction'],
    ],
    ['5 sh. AAPL', '01/15/2026', '01/17/2026', '450', '500', '-50', 'AAPL', '5', HASH],
  ])
})

it('the PDF of a statement has its account, activity, gains and balances, and no line beyond the margins', () => {
  const [lines = []] = pdfText(statementFile(statementIn(year, '2026-01'), 'pdf', ACCOUNT))
  const squeezed = lines.map((text) => text.replace(/ +/g, ' '))
  expect(squeezed).toEqual(
    expect.arrayContaining([
      'Account statement 2026-01',
      `Account ${ACCOUNT}`,
      '2026-01-01 to 2026-01-31 (UTC). Amounts in USDC; sales net of fees.',
      '2026-01-17 sold AAPL -5 450.00 450.00',
      'AAPL 2026-01-15 2026-01-17 5 450.00 500.00 -50.00',
      'Realised gain -50.00',
      'Dividends, net of withholding 5.00',
      'Cash 455.00',
      '1 / 1',
    ]),
  )
  const longest: CorporateAction = {
    ...{ kind: 'STOCK_DIVIDEND', index: 0, symbol: 'AAPL', recordAt: 0 },
    ...{ numerator: 101_234_567n, denominator: 100_000_000n },
  }
  const long = history(bought(10n, ONE_USDC), carried(longest, { AAPL: 4n * ONE_SHARE }))
  const [more = []] = pdfText(statementFile(statementIn(long, '2026-01'), 'pdf', ACCOUNT))
  const at = more.findIndex((text) => text.startsWith('2026-01-16 stock dividend 101234567:100000000 AAPL'))
  expect(more[at + 1]?.trim().replace(/ +/g, ' ')).toBe('4 0.00')
  expect(Math.max(...[...lines, ...more].map(({ length }) => length))).toBeLessThanOrEqual(97)
})

it.each([
  ['2026', true, true, null],
  ['2027', false, true, /^Preliminary: after 2027-01-01T00:00:00Z events are missing or may change\.$/],
  ['2026', true, false, /^Incomplete: parts of the portfolio could not be read\.$/],
])(
  'every file of a statement that is not final and complete says so: %s',
  (name, isFinal, isComplete, remark) => {
    const unknown: EntryBody = { ...carried({ ...dividend, kind: 'ENTITLEMENT' }, {}), ...{ entitled: null } }
    const statement = statementIn(isComplete ? year : [...year, ...history(unknown)], name)
    expect(statement).toMatchObject({ isFinal, isComplete })
    const texts = [
      ...pdfText(statementFile(statement, 'pdf', ACCOUNT)).flat(),
      ...(['csv', 'tax'] as const).flatMap((format) =>
        cellsOf(statementFile(statement, format, ACCOUNT)).flat(),
      ),
    ]
    const remarks = texts.filter((text) => /^(?:Preliminary|Incomplete):/.test(text))
    expect(remarks).toHaveLength(remark === null ? 0 : 3)
    if (remark !== null) expect(remarks[0]).toMatch(remark)
  },
)

it('a PDF gives back any text on as many pages as it takes, and a character that its font lacks as a question mark', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme-ascii' }), { maxLength: 150 }), (texts) => {
      const lines = texts.map((text) => ({ text }))
      const pages = pdfText(pdfOf('a (title) \\', lines))
      expect(pages.flatMap((page) => page.slice(0, -1))).toEqual(texts)
      const numbers = pages.map((_, at) => `${at + 1} / ${pages.length}`)
      expect(pages.map((page) => page.at(-1))).toEqual(numbers)
    }),
  )
  expect(pdfText(pdfOf('', [{ text: 'Σ−\n\t€' }]))).toEqual([['?????', '1 / 1']])
})
