import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import {
  type CorporateAction,
  carry,
  corporateActionSchema,
  lateMoments,
  standsAt,
} from '../../src/protocol/corporateActions.js'
import { emptyPortfolio, freeShares, type Portfolio, portfolioSchema } from '../../src/protocol/portfolio.js'
import { readVectors } from '../support/vectors.js'

const vectors = readVectors(
  'corporateActions',
  z.array(
    z.object({
      name: z.string(),
      portfolio: portfolioSchema,
      actions: z.array(corporateActionSchema),
      earlier: z.record(z.string(), z.array(portfolioSchema)).default({}),
      carried: portfolioSchema,
    }),
  ),
)

it.each(vectors)('a portfolio is carried over corporate actions as frozen: $name', (vector) => {
  const earlier = new Map(Object.entries(vector.earlier).map(([moment, value]) => [Number(moment), value]))
  expect(lateMoments(vector.portfolio, vector.actions)).toEqual([...earlier.keys()].toReversed())
  expect(carry(vector.portfolio, vector.actions, earlier)).toEqual(vector.carried)
})

it('a portfolio is carried over no gap, and never without the portfolio of a late record moment', () => {
  const portfolio: Portfolio = { ...emptyPortfolio('0x'), writtenAt: 10 }
  const dividend: CorporateAction = { kind: 'ENTITLEMENT', index: 0, symbol: 'AAPL', recordAt: 5 }
  expect(() => carry(portfolio, [{ ...dividend, index: 1 }])).toThrow('an action is missing')
  expect(() => carry(portfolio, [dividend])).toThrow('a record moment has no portfolio')
})

const symbol = fc.constantFrom('AAPL', 'FB', 'META')
const qty = fc.bigInt({ min: 0n, max: 10n ** 12n })
const term = fc.bigInt({ min: 1n, max: 1_000n })
const kinds = ['SPLIT', 'STOCK_DIVIDEND', 'ENTITLEMENT', 'PAYMENT', 'SYMBOL_CHANGE', 'REMOVAL'] as const

/** What happens on a day: a trade, or an action that comes `lag` days after its record moment. */
const trade = fc.record({ is: fc.constant('trade' as const), symbol, qty, sells: fc.boolean() })
const announcement = fc.record({
  is: fc.constant('action' as const),
  kind: fc.constantFrom(...kinds),
  symbol,
  numerator: term,
  denominator: term,
  lag: fc.nat(3),
})
type Announcement = Parameters<Parameters<typeof announcement.map>[0]>[0]

function actionOf(
  { kind, symbol, numerator, denominator, lag }: Announcement,
  before: readonly CorporateAction[],
  day: number,
): CorporateAction {
  const entry = { index: before.length, symbol, recordAt: Math.max(day - lag, 0) }
  if (kind === 'SYMBOL_CHANGE') return { kind, ...entry, successor: 'META' }
  if (kind === 'ENTITLEMENT' || kind === 'REMOVAL') return { kind, ...entry }
  if (kind !== 'PAYMENT') return { kind, ...entry, numerator, denominator }
  const entitlement = before.findLast((action) => action.kind === 'ENTITLEMENT')?.index ?? 0
  return { kind, ...entry, numerator, denominator, entitlement }
}

/** An account whose every write is kept, as the chain keeps it. */
function createAccount() {
  const written: Portfolio[] = []
  const opened = (actions: readonly CorporateAction[]) => {
    const last = written.at(-1) ?? emptyPortfolio('0x')
    const earlier = lateMoments(last, actions).map(
      (moment) => [moment, written.filter((portfolio) => standsAt(portfolio, moment)).slice(-1)] as const,
    )
    return carry(last, actions, new Map(earlier))
  }
  return {
    opened,
    write(portfolio: Portfolio, actions: readonly CorporateAction[], writtenAt: number) {
      written.push({ ...portfolio, actions: actions.length, writtenAt })
    },
  }
}

function traded(
  portfolio: Portfolio,
  { symbol, qty, sells }: { symbol: string; qty: bigint; sells: boolean },
) {
  const held = freeShares(portfolio, symbol)
  const after = sells ? held - (qty < held ? qty : held) : held + qty
  const { [symbol]: _, ...others } = portfolio.positions
  const positions = after === 0n ? others : { ...others, [symbol]: { qty: after, locked: 0n } }
  return { ...portfolio, positions }
}

it('an account has the same whether it is carried at each action or at its trades alone, however late an action comes', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(trade, announcement), { maxLength: 24 }), (days) => {
      const [daily, sleepy] = [createAccount(), createAccount()]
      const actions: CorporateAction[] = []
      for (const [day, event] of days.entries()) {
        if (event.is === 'action') {
          actions.push(actionOf(event, actions, day))
          daily.write(daily.opened(actions), actions, day)
        } else {
          for (const account of [daily, sleepy]) {
            account.write(traded(account.opened(actions), event), actions, day)
          }
        }
      }
      const { writtenAt: _, ...expected } = { actions: 0, ...daily.opened(actions) }
      const { writtenAt: __, ...got } = { actions: 0, ...sleepy.opened(actions) }
      expect(got).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})

it('shares that are spread and moved among accounts never become more than the same shares in one', () => {
  const step = fc.oneof(
    fc.record({ is: fc.constant('ratio' as const), numerator: term, denominator: term }),
    fc.record({ is: fc.constant('move' as const), from: fc.nat(3), to: fc.nat(3), qty }),
  )
  fc.assert(
    fc.property(fc.array(qty, { minLength: 4, maxLength: 4 }), fc.array(step), (held, steps) => {
      const holding = (amount: bigint): Portfolio => ({
        ...emptyPortfolio('0x'),
        positions: { AAPL: { qty: amount, locked: 0n } },
      })
      let accounts = held.map(holding)
      let whole = holding(held.reduce((sum, amount) => sum + amount, 0n))
      for (const event of steps) {
        if (event.is === 'ratio') {
          const { is: _, ...terms } = event
          const entry = { index: whole.actions ?? 0, symbol: 'AAPL', recordAt: 0 }
          const split: CorporateAction = { kind: 'SPLIT', ...entry, ...terms }
          accounts = accounts.map((account) => carry(account, [split]))
          whole = carry(whole, [split])
        } else {
          const { from, to, qty } = event
          const trade = (sells: boolean, qty: bigint) => {
            const [at, amount] = [sells ? from : to, { symbol: 'AAPL', qty, sells }]
            accounts = accounts.map((account, index) => (index === at ? traded(account, amount) : account))
          }
          const moving = freeShares(accounts[from] ?? emptyPortfolio('0x'), 'AAPL')
          trade(true, qty)
          trade(false, qty < moving ? qty : moving)
        }
        const sum = accounts.reduce((shares, account) => shares + freeShares(account, 'AAPL'), 0n)
        expect(sum).toBeLessThanOrEqual(freeShares(whole, 'AAPL'))
      }
    }),
  )
})
