import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DOCUMENTED_FEES, feeScheduleText } from '../../src/protocol/fees.js'
import { parseDecimal } from '../../src/protocol/units.js'
import { createAlpacaRoutes } from '../../src/simulator/alpacaRoutes.js'
import { createLifecycle, type Lifecycle } from '../../src/simulator/lifecycle.js'
import { createMarket } from '../../src/simulator/market.js'
import { createMarketClock } from '../../src/simulator/marketClock.js'
import { CASH_DECIMALS, isLive, shownCash } from '../../src/simulator/money.js'
import type { FillBehaviour, Reply, StandInAccount } from '../../src/simulator/types.js'
import { REPEAT } from '../support/seed.js'

const SYMBOLS = ['AAPL', 'MSFT'] as const
const START_CASH = parseDecimal('1500', CASH_DECIMALS)

/** The stand-in's inside without HTTP: one account, every order's behaviour chosen by the sequence. */
function books() {
  const now = () => new Date()
  const market = createMarket({
    seed: 1,
    symbols: SYMBOLS.map((symbol) => ({ symbol, name: symbol, price: '123.45' })),
    now,
  })
  const account: StandInAccount = {
    name: 'a',
    id: 'a',
    number: 'a',
    createdAt: now(),
    keyId: 'k',
    secretKey: 's',
    fees: feeScheduleText.parse(DOCUMENTED_FEES),
    cash: START_CASH,
    accrued: new Map(),
    positions: new Map(),
    orders: new Map(),
    activities: [],
  }
  const clock = createMarketClock({ now, onOpen: () => lifecycle.opened() })
  const lifecycle: Lifecycle = createLifecycle({
    accounts: [account],
    market,
    clock,
    now,
    onStatus: () => undefined,
  })
  let behaviour: FillBehaviour = { mode: 'immediate' }
  const alpaca = createAlpacaRoutes({ market, clock, lifecycle, now, behaviourFor: () => behaviour })
  const call = (method: string, path: string, body?: unknown): Reply =>
    alpaca({ method, path, query: new URLSearchParams(), body, account })
  return {
    account,
    market,
    lifecycle,
    setOpen(open: boolean) {
      if (!open) lifecycle.closed()
      clock.set({ open })
    },
    place(order: Record<string, string>, next: FillBehaviour): Reply {
      behaviour = next
      return call('POST', '/v2/orders', { type: 'market', time_in_force: 'day', ...order })
    },
    cancel: (id: string) => call('DELETE', `/v2/orders/${id}`),
    stop() {
      clock.stop()
      lifecycle.stop()
    },
  }
}

type Books = ReturnType<typeof books>

const symbol = fc.constantFrom(...SYMBOLS)
// Small against the cash, large against a position: most orders are taken, and many meet a limit later.
const mode = fc.constantFrom<FillBehaviour['mode']>(
  'immediate',
  'hold',
  'partial',
  'reject',
  'expire',
  'replace',
)
const waitsAs = fc.constantFrom(undefined, 'held', 'suspended', 'stopped')
const endsThrough = fc.constantFrom(undefined, 'calculated', 'done_for_day')
const fraction = fc.integer({ min: 0, max: 999_999_999 }).map((n) => `0.${n.toString().padStart(9, '0')}`)
const endDelayMs = fc.constantFrom(0, 60_000)
const behaviour = fc.record({ mode, fraction, waitsAs, endsThrough, endDelayMs })
const size = fc.oneof(
  fc.integer({ min: 1, max: 60_000 }).map((cents) => ({ notional: (cents / 100).toFixed(2) })),
  fc.bigInt({ min: 1n, max: 5_000_000_000n }).map((units) => ({
    qty: `${units / 10n ** 9n}.${(units % 10n ** 9n).toString().padStart(9, '0')}`,
  })),
)

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constant('place'), symbol, fc.constantFrom('buy', 'sell'), size, behaviour),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constant('release'), fc.nat(20), fc.option(fraction)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('cancel'), fc.nat(20)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('price'), symbol, fc.integer({ min: 2, max: 50_000 })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('clock'), fc.boolean()) },
)

function take(stand: Books, [kind, ...args]: [string, ...unknown[]]) {
  const live = [...stand.account.orders.values()].filter(isLive)
  const chosen = live[Number(args[0]) % Math.max(1, live.length)]
  if (kind === 'place')
    stand.place({ symbol: String(args[0]), side: String(args[1]), ...Object(args[2]) }, Object(args[3]))
  if (kind === 'release' && chosen) stand.lifecycle.fill(stand.account, chosen, String(args[1] ?? '1'))
  if (kind === 'cancel' && chosen) stand.cancel(chosen.id)
  if (kind === 'price') stand.market.setPrice(String(args[0]), BigInt(Number(args[1])) * 10_000n)
  if (kind === 'clock') stand.setOpen(args[0] === true)
}

const cashUnits = (text = '0') => parseDecimal(text, CASH_DECIMALS)
const CENT = cashUnits('0.01')

/** Cash and shares are what fills and fees say, to the last digit, and nothing but fees takes cash below zero. */
function reconcile({ account }: Books): void {
  const orders = [...account.orders.values()]
  const fees = account.activities.filter((activity) => activity.activity_type === 'FEE')
  const spent = orders.reduce((sum, o) => sum + (o.side === 'buy' ? o.movedCash : -o.movedCash), 0n)
  const charged = fees.reduce((sum, fee) => sum + cashUnits(fee.net_amount), 0n)
  expect(account.cash + spent - charged).toBe(START_CASH)
  expect(account.cash % CENT).toBe(0n)
  expect(shownCash(account) > -100n * CENT).toBe(true)
  for (const name of SYMBOLS) {
    const bought = orders
      .filter((o) => o.symbol === name)
      .reduce((sum, o) => sum + (o.side === 'buy' ? o.filledQty : -o.filledQty), 0n)
    expect(account.positions.get(name)?.qty ?? 0n).toBe(bought)
    expect(bought >= 0n).toBe(true)
    const sides = new Set(orders.filter((o) => isLive(o) && o.symbol === name).map((o) => o.side))
    expect(sides.size).toBeLessThan(2)
  }
  for (const order of orders) {
    const fills = account.activities.filter(({ order_id }) => order_id === order.id)
    if (order.status === 'filled') expect(fills.length).toBeGreaterThan(0)
    if (fills.length === 0) continue
    const total = fills.reduce((sum, fill) => sum + cashUnits(fill.price) * cashUnits(fill.qty), 0n)
    expect(total / cashUnits('1')).toBe(order.filledValue)
    const off = order.movedCash - order.filledValue
    expect((off < 0n ? -off : off) * 2n <= CENT * BigInt(fills.length)).toBe(true)
    if (order.qty !== null) expect(order.filledQty <= order.qty).toBe(true)
    if (order.notional !== null) expect(order.filledValue <= order.notional * 10n ** 9n).toBe(true)
    if (order.status === 'filled' && order.qty !== null) expect(order.filledQty).toBe(order.qty)
  }
}

describe("the stand-in's books", () => {
  it('reconcile exactly over any sequence of orders, fills, cancellations, prices and sessions', () => {
    const met = new Map<string, number>()
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 50 }), (steps) => {
        const stand = books()
        for (const each of steps) {
          take(stand, each)
          reconcile(stand)
        }
        for (const { status } of stand.account.orders.values()) met.set(status, (met.get(status) ?? 0) + 1)
        stand.stop()
      }),
      { numRuns: 250 },
    )
    // The sequences are worth something only if they come to every end.
    expect([...met.keys()].sort(), REPEAT).toEqual(
      expect.arrayContaining([
        'accepted',
        'calculated',
        'canceled',
        'done_for_day',
        'expired',
        'filled',
        'held',
        'new',
        'partially_filled',
        'rejected',
        'replaced',
        'stopped',
        'suspended',
      ]),
    )
  })
})
