// Lots, statements and their files. test/client/history/year.test.ts compares them with the broker's books.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ActionTerms, planOf } from '../../../src/broker/index.js'
import { parseCsv } from '../../../src/client/csv.js'
import { actionEntry, afterActions, type Known, NOTHING_WRITTEN } from '../../../src/client/history/derive.js'
import type { EntryBody } from '../../../src/client/history/entries.js'
import { pdfOf } from '../../../src/client/history/pdf.js'
import {
  adjustedPrices,
  costLeft,
  type HistoryEntry,
  holdingsOf,
  lotsOf,
  type Period,
  periodOf,
  statementFile,
  statementOf,
} from '../../../src/client/index.js'
import type { Booking } from '../../../src/protocol/actionReport.js'
import { type CorporateAction, carry, corporateActionSchema } from '../../../src/protocol/corporateActions.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { emptyPortfolio } from '../../../src/protocol/portfolio.js'
import { floor } from '../../../src/protocol/ratio.js'
import { ONE_CENT, ONE_SHARE, ONE_USDC } from '../../../src/protocol/units.js'
import { pdfText } from '../../support/pdfText.js'

const HASH: Hex = `0x${'01'.repeat(32)}`
const ACCOUNT: Hex = `0x${'0a'.repeat(20)}`
const at = { orderId: HASH, version: 1n, price: null }
const bought = (shares: bigint, cost: bigint, symbol = 'AAPL'): EntryBody => ({
  ...{ kind: 'bought', ...at, symbol, shares, cost, escrowed: cost, amount: cost },
})
const sold = (shares: bigint, proceeds: bigint, symbol = 'AAPL'): EntryBody => ({
  ...{ kind: 'sold', ...at, symbol, shares, proceeds, amount: proceeds },
})
const carried = (action: CorporateAction, shares: Record<string, bigint>, cash = 0n): EntryBody => ({
  ...{ kind: 'carried', orderId: null, action, cash, shares, paidFor: null },
})
const splitOf = (numerator: bigint, denominator: bigint): CorporateAction => ({
  ...{ kind: 'SPLIT', index: 0, symbol: 'AAPL', recordAt: 0, numerator, denominator },
})
const [FROM, DAY] = [Date.UTC(2026, 0, 15) / 1_000, 86_400]

/** One entry a day. */
const history = (...bodies: readonly EntryBody[]): HistoryEntry[] =>
  bodies.map((body, index) => ({
    ...body,
    ...{ timestamp: FROM + index * DAY, txHash: HASH, isFinal: true },
    cursor: { blockNumber: index, blockHash: HASH, logIndex: 0, part: 0 },
  }))

function period(name: string): Period {
  return periodOf(name) ?? expect.fail(`${name} is no period`)
}

const NEXT_YEAR = Date.UTC(2027, 0) / 1_000
/** Of a history that is final until the next year. */
const statementIn = (entries: readonly HistoryEntry[], name: string) =>
  statementOf(entries, period(name), NEXT_YEAR)

it('a sale takes the oldest lots first, and the parts of a lot have the parts of its cost', () => {
  const { lots, disposals } = lotsOf(
    history(
      bought(10n, 1_000n * ONE_CENT),
      bought(10n, 3_000n * ONE_CENT),
      carried(splitOf(3n, 1n), { AAPL: 40n }),
      sold(45n, 4_500n * ONE_CENT),
    ),
  )
  expect(disposals).toMatchObject([
    { acquiredAt: FROM, disposedAt: FROM + 3 * DAY, proceeds: 3_000n * ONE_CENT, cost: 1_000n * ONE_CENT },
    { acquiredAt: FROM + DAY, proceeds: 1_500n * ONE_CENT, cost: 1_500n * ONE_CENT },
  ])
  expect(lots.map((lot) => [floor(lot.shares), costLeft(lot)])).toEqual([[15n, 1_500n * ONE_CENT]])
})

it('the disposals of a sale are whole units and cents that add up to it, and none of them is of nothing', () => {
  // A third of each share: the first sale leaves two thirds of a unit of the first lot.
  const [third, units] = [333_333_333n, (2n * ONE_SHARE) / 3n]
  const { disposals } = lotsOf(
    history(
      bought(ONE_SHARE, 1_000n * ONE_USDC),
      bought(ONE_SHARE, 1_000n * ONE_USDC),
      carried(splitOf(1n, 3n), { AAPL: units - 2n * ONE_SHARE }),
      sold(third, 1_100n * ONE_USDC),
      sold(units - third, 1_100n * ONE_USDC),
    ),
  )
  expect(disposals).toMatchObject([
    { shares: third, proceeds: 1_100n * ONE_USDC, cost: 1_000n * ONE_USDC, acquiredAt: FROM },
    { shares: units - third, proceeds: 1_100n * ONE_USDC, cost: 1_000n * ONE_USDC, acquiredAt: FROM + DAY },
  ])
  expect(disposals).toHaveLength(2)
  const parts = lotsOf(history(bought(1n, 7n), bought(2n, 7n), sold(3n, 100n * ONE_USDC))).disposals
  expect(parts.map(({ proceeds }) => proceeds)).toEqual([33_330_000n, 66_670_000n])
})

it('a new symbol keeps the dates and costs of its lots, and worthless shares are a loss', () => {
  const rename: CorporateAction = {
    ...{ kind: 'SYMBOL_CHANGE', index: 0, symbol: 'FB', recordAt: 0, successor: 'AAPL' },
  }
  const removal: CorporateAction = { kind: 'REMOVAL', index: 1, symbol: 'AAPL', recordAt: 0 }
  const { lots, disposals } = lotsOf(
    history(
      bought(10n, 1_000n, 'FB'),
      bought(5n, 700n),
      carried(rename, { FB: -10n, AAPL: 10n }),
      sold(10n, 900n),
      carried(removal, { AAPL: -5n }),
    ),
  )
  expect(lots).toEqual([])
  expect(disposals).toMatchObject([
    { acquiredAt: FROM, proceeds: 900n, cost: 1_000n },
    { acquiredAt: FROM + DAY, proceeds: 0n, cost: 700n },
  ])
})

it('a price before a split is told in the shares of today, also under a former symbol', () => {
  const rename: CorporateAction = {
    ...{ kind: 'SYMBOL_CHANGE', index: 0, symbol: 'FB', recordAt: 0, successor: 'AAPL' },
  }
  const priced = (symbol: string): EntryBody => ({ ...bought(2n, 400n, symbol), ...{ price: 200n } })
  const entries = history(
    priced('FB'),
    carried(rename, { FB: -2n, AAPL: 2n }),
    priced('MSFT'),
    carried(splitOf(3n, 1n), { AAPL: 4n }),
    priced('AAPL'),
  )
  expect(adjustedPrices(entries)).toEqual([66n, null, 200n, null, 200n])
})

it('shares from a wallet have neither a date nor a cost, and shares that left for one are not sold', () => {
  const withdrawn: EntryBody = {
    ...{ kind: 'shares-withdrawn', orderId: HASH, version: 1n, symbol: 'AAPL', shares: 4n },
  }
  const entries = history(
    bought(4n, 400n),
    withdrawn,
    { ...withdrawn, kind: 'shares-deposited' },
    sold(4n, 1n),
  )
  expect(lotsOf(entries).disposals).toMatchObject([{ acquiredAt: null, cost: null, proceeds: 1n }])
  expect(statementIn(entries, '2026').gain).toBeNull()
})

it('the costs of all parts add up to what was paid, proceeds to what was received, and lots to the position', () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 12n })
  const step = fc.oneof(
    fc.record({ is: fc.constant('buy' as const), shares: amount, value: amount }),
    fc.record({ is: fc.constant('sell' as const), shares: amount, value: amount }),
    fc.record({
      is: fc.constant('split' as const),
      shares: fc.bigInt({ min: 1n, max: 20n }),
      value: fc.bigInt({ min: 1n, max: 20n }),
    }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let held = 0n
      const bodies = steps.flatMap(({ is, shares, value }): EntryBody[] => {
        if (is === 'buy') {
          held += shares
          return [bought(shares, value)]
        }
        const after = is === 'split' ? (held * shares) / value : held - (shares < held ? shares : held)
        const change = after - held
        if (change === 0n) return []
        held = after
        return [is === 'split' ? carried(splitOf(shares, value), { AAPL: change }) : sold(-change, value)]
      })
      const { lots, disposals } = lotsOf(history(...bodies))
      const sum = (amounts: readonly (bigint | null)[]) =>
        amounts.reduce<bigint>((all, one) => all + (one ?? 0n), 0n)
      const paid = bodies.map((body) => (body.kind === 'bought' ? body.cost : 0n))
      const received = bodies.map((body) => (body.kind === 'sold' ? body.proceeds : 0n))
      expect(sum([...lots.map(costLeft), ...disposals.map(({ cost }) => cost)])).toBe(sum(paid))
      expect(sum(disposals.map(({ proceeds }) => proceeds))).toBe(sum(received))
      const under = lots.reduce((all, { shares }) => all * shares.denominator, 1n)
      const whole = lots.reduce(
        (all, { shares }) => all + (shares.numerator * under) / shares.denominator,
        0n,
      )
      expect(whole).toBe(held * under)
    }),
  )
})

it.each([
  ['2026-02', '2026-02-01', '2026-03-01'],
  ['2026-12', '2026-12-01', '2027-01-01'],
  ['2026', '2026-01-01', '2027-01-01'],
])('the period %s is from %s until %s', (name, from, to) => {
  expect(period(name)).toEqual({ name, from: Date.parse(from) / 1_000, to: Date.parse(to) / 1_000 })
})

it.each(['', '26', '2026-00', '2026-13', '2026-1', 'November'])('"%s" is no period', (name) => {
  expect(periodOf(name)).toBeNull()
})

const dividend: CorporateAction = {
  ...{
    kind: 'PAYMENT',
    index: 1,
    symbol: 'AAPL',
    recordAt: 0,
    numerator: 1n,
    denominator: 1n,
    entitlement: 0,
  },
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
  expect(march).toMatchObject({
    lines: [],
    disposals: [],
    opening: february.closing,
    closing: february.closing,
  })
  expect(march.closing.positions).toEqual({ AAPL: 5n * ONE_SHARE, MSFT: 20n * ONE_SHARE })
})

const [PAID_ON, SOLD_AT] = ['2026-01-20', 700n * ONE_USDC]
type Paid = Pick<Booking, 'kind' | 'made' | 'cash'> & { readonly successor?: string }

/** What is entered for a booking of 100 shares, in the plan's order or with the payment last. */
function entered({ kind, made, cash, successor = '' }: Paid, isPaidLast: boolean): CorporateAction[] {
  const booked: Booking = {
    ...{
      kind,
      made,
      cash,
      successor,
      symbol: 'AAPL',
      day: PAID_ON,
      recordedOn: null,
      isIncome: true,
      gross: cash,
    },
    before: 100n * ONE_SHARE,
  }
  const plan = planOf({ ...booked, announced: null, booked }, { asBooked: true, cash })
  if (typeof plan === 'string') return expect.fail(plan)
  const isPayment = ({ kind }: ActionTerms) => kind === 'PAYMENT'
  const ordered = isPaidLast ? plan.toSorted((a, b) => Number(isPayment(a)) - Number(isPayment(b))) : plan
  return ordered.map(({ numerator, denominator, successor, ...terms }, index) =>
    corporateActionSchema.parse({
      ...{ ...terms, index },
      ...(denominator > 0n && { numerator: numerator.toString(), denominator: denominator.toString() }),
      ...(terms.kind === 'PAYMENT' && { entitlement: 0 }),
      ...(terms.kind === 'SYMBOL_CHANGE' && { successor }),
    }),
  )
}

/** Ten shares for 1,000 USDC, these actions, and the sale of everything that is left for 700. */
function through(actions: readonly CorporateAction[]): HistoryEntry[] {
  const start = { ...emptyPortfolio('0x'), positions: { AAPL: { qty: 10n * ONE_SHARE, locked: 0n } } }
  const balance = { cash: 0n, shares: { AAPL: 10n * ONE_SHARE } }
  let known: Known = { ...NOTHING_WRITTEN, stored: start, portfolio: start, balance }
  const bodies = actions.flatMap((action, index) => {
    const before = known
    known = afterActions(before, index + 1, carry(start, actions.slice(0, index + 1)))
    return actionEntry([before, known], action, actions, false)
  })
  const left = Object.entries(known.balance.shares).map(([symbol, shares]) => sold(shares, SOLD_AT, symbol))
  return history(bought(10n * ONE_SHARE, 1_000n * ONE_USDC), ...bodies, ...left)
}

const unknownPart = (cash: bigint) => ({ shares: null, acquiredAt: null, cost: null, proceeds: cash })
const whole = { shares: 10n * ONE_SHARE, acquiredAt: FROM, cost: 1_000n * ONE_USDC }
it.each<[string, Paid, event: string, disposals: object[], realised: bigint]>([
  [
    'a cash merger',
    { kind: 'merger', made: 0n, cash: 15_000n * ONE_USDC },
    'merger cash',
    [{ ...whole, proceeds: 1_500n * ONE_USDC, paidFor: 'merger' }],
    500n * ONE_USDC,
  ],
  [
    'a merger for shares with cash beside them',
    { kind: 'merger', made: 50n * ONE_SHARE, cash: 2_000n * ONE_USDC, successor: 'MSFT' },
    'merger cash',
    [
      { ...unknownPart(200n * ONE_USDC), symbol: 'AAPL', paidFor: 'merger' },
      { ...whole, shares: 5n * ONE_SHARE, symbol: 'MSFT', proceeds: SOLD_AT, paidFor: null },
    ],
    -100n * ONE_USDC,
  ],
  [
    'cash in lieu of the fractions of a split',
    { kind: 'split', made: 333n * ONE_SHARE, cash: 30n * ONE_USDC },
    'cash in lieu',
    [
      { ...unknownPart(3n * ONE_USDC), paidFor: 'split' },
      { ...whole, shares: (333n * ONE_SHARE) / 10n, proceeds: SOLD_AT },
    ],
    -297n * ONE_USDC,
  ],
  [
    'the proceeds of a spin-off',
    { kind: 'spin-off', made: 0n, cash: 1_000n * ONE_USDC },
    'spin-off proceeds',
    [
      { ...unknownPart(100n * ONE_USDC), paidFor: 'spin-off' },
      { ...whole, proceeds: SOLD_AT },
    ],
    -200n * ONE_USDC,
  ],
])(
  '%s: the cash is paid for shares, and is no dividend, whichever entry comes first',
  (...[, paid, event, disposals, realised]) => {
    for (const isPaidLast of [false, true]) {
      const entries = through(entered(paid, isPaidLast))
      const statement = statementIn(entries, '2026')
      expect(statement.dividends).toBe(0n)
      expect(statement.lines.map((line) => line.event)).toContain(event)
      expect(statement.disposals).toMatchObject(disposals)
      expect(statement.disposals).toHaveLength(disposals.length)
      expect(statement.gain).toBe(paid.made === 0n && paid.kind === 'merger' ? realised : null)
      const held = holdingsOf(entries)
      expect(held).toMatchObject({ positions: {}, dividends: {}, isComplete: true })
      expect(Object.values(held.realised).reduce((sum, one) => sum + one, 0n)).toBe(realised)
    }
  },
)

it('cash for an unknown part of the shares is a line for tax software without shares, date and cost', () => {
  const entries = through(entered({ kind: 'spin-off', made: 0n, cash: 1_000n * ONE_USDC }, true))
  const statement = statementIn(entries, '2026-01')
  const [, line] = cellsOf(statementFile(statement, 'tax', ACCOUNT))
  expect(line).toEqual(['AAPL, spin-off proceeds', '', '01/17/2026', '100', '', '', 'AAPL', '', HASH])
  const text = pdfText(statementFile(statement, 'pdf', ACCOUNT))
    .flat()
    .join('\n')
  expect(text).toMatch(/^AAPL +unknown +2026-01-17 +100\.00$/m)
})

it('the shares of a merger are disposed of once they are gone and paid for, also in another month', () => {
  const [claim, removal, payment] = through(
    entered({ kind: 'merger', made: 0n, cash: ONE_USDC }, true),
  ).slice(1)
  if (!claim || !removal || !payment) return expect.fail('an entry is missing')
  const bodies = history(bought(10n * ONE_SHARE, ONE_USDC))
  const at = (entry: HistoryEntry, day: string) => ({ ...entry, timestamp: Date.parse(day) / 1_000 })
  const entries = [...bodies, at(claim, '2026-01-31'), at(removal, '2026-01-31'), at(payment, '2026-02-02')]
  expect(statementIn(entries, '2026-01')).toMatchObject({
    disposals: [],
    gain: 0n,
    closing: { positions: {} },
  })
  expect(statementIn(entries, '2026-02')).toMatchObject({ gain: ONE_USDC / 10n - ONE_USDC })
})

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const cellsOf = (bytes: Uint8Array) => [...parseCsv(textOf(bytes))].map(({ cells }) => cells)

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
      ...[
        'Description of property',
        'Date acquired (settled)',
        'Date sold or disposed of (settled)',
        'Proceeds',
      ],
      ...['Cost or other basis', 'Gain or loss', 'Symbol', 'Shares', 'Transaction'],
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
      const pages = pdfText(
        pdfOf(
          'a (title) \\',
          texts.map((text) => ({ text })),
        ),
      )
      expect(pages.flatMap((lines) => lines.slice(0, -1))).toEqual(texts)
      expect(pages.map((lines) => lines.at(-1))).toEqual(
        pages.map((_, page) => `${page + 1} / ${pages.length}`),
      )
    }),
  )
  expect(pdfText(pdfOf('', [{ text: 'Σ−\n\t€' }]))).toEqual([['?????', '1 / 1']])
})
