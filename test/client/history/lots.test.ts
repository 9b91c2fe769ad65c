// Tax lots, and what corporate actions make of them. enclave.test.ts compares them with the broker's books.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ActionTerms, planOf } from '../../../src/broker/index.js'
import { actionEntry, afterActions, type Known, NOTHING_WRITTEN } from '../../../src/client/history/derive.js'
import type { EntryBody } from '../../../src/client/history/entries.js'
import {
  adjustedPrices,
  costLeft,
  type HistoryEntry,
  holdingsOf,
  lotsOf,
  statementFile,
} from '../../../src/client/history.js'
import type { Booking } from '../../../src/protocol/actionReport.js'
import { type CorporateAction, carry, corporateActionSchema } from '../../../src/protocol/corporateActions.js'
import { emptyPortfolio } from '../../../src/protocol/portfolio.js'
import { floor } from '../../../src/protocol/ratio.js'
import { ONE_CENT, ONE_SHARE, ONE_USDC } from '../../../src/protocol/units.js'
import { pdfText } from '../../support/pdfText.js'
import {
  ACCOUNT,
  bought,
  carried,
  cellsOf,
  DAY,
  FROM,
  HASH,
  history,
  sold,
  splitOf,
  statementIn,
} from './statementSetting.js'

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

const rename: CorporateAction = {
  ...{ kind: 'SYMBOL_CHANGE', index: 0, symbol: 'FB', recordAt: 0, successor: 'AAPL' },
}

it('a new symbol keeps the dates and costs of its lots, and worthless shares are a loss', () => {
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
  const term = fc.bigInt({ min: 1n, max: 20n })
  const step = fc.oneof(
    fc.record({ is: fc.constantFrom('buy', 'sell'), shares: amount, value: amount }),
    fc.record({ is: fc.constant('split'), shares: term, value: term }),
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
      const parts = lots.map(({ shares }) => (shares.numerator * under) / shares.denominator)
      expect(sum(parts)).toBe(held * under)
    }),
  )
})

const SOLD_AT = 700n * ONE_USDC
type Paid = Pick<Booking, 'kind' | 'made' | 'cash'> & { readonly successor?: string }

/** What is entered for a booking of 100 shares, in the plan's order or with the payment last. */
function entered({ kind, made, cash, successor = '' }: Paid, isPaidLast: boolean): CorporateAction[] {
  const booked: Booking = {
    ...{ kind, made, cash, successor, symbol: 'AAPL', day: '2026-01-20', recordedOn: null },
    ...{ isIncome: true, gross: cash, before: 100n * ONE_SHARE },
  }
  const terms = { asBooked: true, ...(kind !== 'merger' && { cash }) }
  const plan = planOf({ ...booked, announced: null, booked }, terms)
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
it.each<[string, Paid, disposals: object[], realised: bigint]>([
  [
    'a cash merger',
    { kind: 'merger', made: 0n, cash: 15_000n * ONE_USDC },
    [{ ...whole, proceeds: 1_500n * ONE_USDC, paidFor: 'merger' }],
    500n * ONE_USDC,
  ],
  [
    'a merger for shares with cash beside them',
    { kind: 'merger', made: 50n * ONE_SHARE, cash: 2_000n * ONE_USDC, successor: 'MSFT' },
    [
      { ...unknownPart(200n * ONE_USDC), symbol: 'AAPL', paidFor: 'merger' },
      { ...whole, shares: 5n * ONE_SHARE, symbol: 'MSFT', proceeds: SOLD_AT, paidFor: null },
    ],
    -100n * ONE_USDC,
  ],
  [
    'cash in lieu of the fractions of a split',
    { kind: 'split', made: 333n * ONE_SHARE, cash: 30n * ONE_USDC },
    [
      { ...unknownPart(3n * ONE_USDC), paidFor: 'split' },
      { ...whole, shares: (333n * ONE_SHARE) / 10n, proceeds: SOLD_AT },
    ],
    -297n * ONE_USDC,
  ],
  [
    'the proceeds of a spin-off',
    { kind: 'spin-off', made: 0n, cash: 1_000n * ONE_USDC },
    [
      { ...unknownPart(100n * ONE_USDC), paidFor: 'spin-off' },
      { ...whole, proceeds: SOLD_AT },
    ],
    -200n * ONE_USDC,
  ],
])(
  '%s: the cash is paid for shares, and is no dividend, whichever entry comes first',
  (...[, paid, disposals, realised]) => {
    for (const isPaidLast of [false, true]) {
      const entries = through(entered(paid, isPaidLast))
      const statement = statementIn(entries, '2026')
      expect(statement.dividends).toBe(0n)
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
