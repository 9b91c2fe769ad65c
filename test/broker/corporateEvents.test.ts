// What the broker has announced, what it has booked, and what follows for holders: read from the stand-in, and from documented entries.
import { expect, it, onTestFinished } from 'vitest'
import { activityPageSchema, asActivities } from '../../src/broker/activities.js'
import { bookingsOf, everBookedOf } from '../../src/broker/bookings.js'
import { type ActionTerms, type Decision, eventsOf, planOf } from '../../src/broker/corporateEvents.js'
import { haltedOn, isInForce, unborneActions } from '../../src/broker/inForce.js'
import { dayAt, startOf } from '../../src/broker/newYork.js'
import type { CorporateAction } from '../../src/protocol/corporateActions.js'
import type { ControlInput } from '../../src/simulator/index.js'
import { alpacaExample } from '../support/alpacaExamples.js'
import { brokerOf, shares, startStandIn, usd } from '../support/brokerStandIn.js'

const DAY = '2026-03-02'
const MIDNIGHT = Date.parse('2026-03-02T05:00:00Z') / 1_000
const AAPL = { symbol: 'AAPL', day: DAY }
const RATES = { newRate: '3', oldRate: '2' }

type Input = ControlInput<'book'>
interface Told {
  /** Left out: as it is booked. */
  readonly announced?: ControlInput<'announce'> | null
  readonly booked?: Input | null
  readonly held?: string
}

/** The plan's entries in a list of their own. */
function listed(plan: readonly ActionTerms[]): CorporateAction[] {
  return plan.map((terms, index) => corporateAction({ ...terms, index }))
}

function corporateAction({
  kind,
  numerator,
  denominator,
  successor,
  ...common
}: ActionTerms & { index: number }) {
  const ratio = { numerator, denominator }
  if (kind === 'SPLIT' || kind === 'STOCK_DIVIDEND') return { kind, ...common, ...ratio }
  if (kind === 'PAYMENT') return { kind, ...common, ...ratio, entitlement: 0 }
  return kind === 'SYMBOL_CHANGE' ? { kind, ...common, successor } : { kind, ...common }
}

/** The one event that comes of an announcement and a booking, and its plan. */
async function planned({ announced, booked, held = '1.5' }: Told, decision: Decision = {}) {
  const { url, control, stop } = await startStandIn()
  onTestFinished(stop)
  control.account({ name: 'enclave', positions: { AAPL: held } })
  const told = announced === undefined ? announcementOf(booked) : announced
  if (told) control.announce(told)
  if (booked) control.book(booked)
  const broker = brokerOf(url)
  const filter = { symbols: ['AAPL'], start: '2026-01-01', end: '2027-01-01' }
  const entries = await broker.getBookedEntries({ after: new Date(0) })
  const events = eventsOf(await broker.getAnnouncements(filter), bookingsOf(entries))
  expect(events).toHaveLength(1)
  const [event] = events
  if (!event) throw new Error('there is no event')
  const plan = planOf(event, decision)
  // Whatever the owner is shown to propose, the books bear.
  if (typeof plan !== 'string') expect(unborneActions(listed(plan), everBookedOf(entries))).toEqual([])
  return plan
}

/** The announcement of what is booked. */
function announcementOf(booked: Input | null | undefined): ControlInput<'announce'> | null {
  if (booked?.type !== 'cash_dividend') return booked ?? null
  const { withholding: _withholding, qty: _qty, account: _account, ...announced } = booked
  return announced
}

/** What is to be entered, in short. */
function shortOf(plan: Awaited<ReturnType<typeof planned>>) {
  if (typeof plan === 'string') return plan
  return plan.map(({ kind, symbol, recordAt, numerator, denominator, successor }) => {
    expect(symbol).toBe('AAPL')
    const before =
      kind === 'ENTITLEMENT' ? recordAt < MIDNIGHT && recordAt > MIDNIGHT - 3_600 : recordAt === MIDNIGHT
    expect([kind, before]).toEqual([kind, true])
    return [kind, ...(denominator > 0n ? [`${numerator}/${denominator}`] : []), successor].join(' ').trim()
  })
}

it.each<[Input, plan: string[]]>([
  [{ type: 'forward_split', ...AAPL, ...RATES }, ['SPLIT 3/2']],
  [{ type: 'reverse_split', ...AAPL, newRate: '1', oldRate: '7' }, ['SPLIT 1/7']],
  [{ type: 'stock_dividend', ...AAPL, rate: '0.05' }, ['STOCK_DIVIDEND 21/20']],
  [{ type: 'cash_dividend', ...AAPL, rate: '0.26' }, ['ENTITLEMENT', 'PAYMENT 260000/1']],
  // 0.39 less 15 %, without the part of a cent: 0.34 for one and a half.
  [
    { type: 'cash_dividend', ...AAPL, rate: '0.26', withholding: '0.15' },
    ['ENTITLEMENT', 'PAYMENT 680000/3'],
  ],
  [{ type: 'name_change', ...AAPL, successor: 'APPL' }, ['SYMBOL_CHANGE APPL']],
  [{ type: 'worthless_removal', ...AAPL }, ['REMOVAL']],
  [{ type: 'cash_merger', ...AAPL, cashRate: '12.6' }, ['ENTITLEMENT', 'PAYMENT 12600000/1', 'REMOVAL']],
  [{ type: 'stock_merger', ...AAPL, ...RATES, successor: 'MSFT' }, ['SPLIT 3/2', 'SYMBOL_CHANGE MSFT']],
  [
    { type: 'stock_and_cash_merger', ...AAPL, newRate: '1', oldRate: '1', successor: 'MSFT', cashRate: '9' },
    ['ENTITLEMENT', 'PAYMENT 9000000/1', 'SYMBOL_CHANGE MSFT'],
  ],
])('a corporate action that is announced and booked alike has one plan: %j', async (booked, plan) => {
  expect(shortOf(await planned({ booked }))).toEqual(plan)
})

const split = { type: 'forward_split', ...AAPL, newRate: '10', oldRate: '1' } as const

it.each<[reason: string, Told]>([
  ['terms-differ', { booked: split, announced: { ...split, newRate: '9' } }],
  ['days-differ', { booked: split, announced: { ...split, day: '2026-03-03' } }],
  ['not-announced', { booked: split, announced: null }],
  ['not-booked', { booked: null, announced: split }],
  ['needs-cash', { booked: { type: 'spin_off', ...AAPL, ...RATES, successor: 'MSFT' } }],
  [
    'terms-differ',
    {
      booked: { type: 'cash_dividend', ...AAPL, rate: '0.25' },
      announced: { type: 'cash_dividend', ...AAPL, rate: '0.5' },
    },
  ],
  [
    'terms-differ',
    {
      booked: { type: 'name_change', ...AAPL, successor: 'MSFT' },
      announced: { type: 'name_change', ...AAPL, successor: 'TSLA' },
    },
  ],
])('a corporate action without agreement has a reason in place of a plan: %s', async (reason, told) => {
  expect(await planned(told)).toBe(reason)
})

it('the booking decides where the owner says so, on its day and in its proportion', async () => {
  const announced = { ...split, day: '2026-03-05', newRate: '9' }
  expect(shortOf(await planned({ booked: split, announced }, { asBooked: true }))).toEqual(['SPLIT 10/1'])
  expect(shortOf(await planned({ booked: split, announced: null }, { asBooked: true }))).toEqual([
    'SPLIT 10/1',
  ])
  const dividend = { type: 'cash_dividend', ...AAPL, paidOn: DAY, rate: '0.25' } as const
  expect(shortOf(await planned({ booked: dividend, announced: null }, { asBooked: true }))).toEqual([
    'ENTITLEMENT',
    'PAYMENT 740000/3',
  ])
})

it('a spin-off is paid as the cash that the owner names, as is a merger whose shares cannot be entered, and they end', async () => {
  const spun = { type: 'spin_off', ...AAPL, ...RATES, successor: 'MSFT' } as const
  const paid = ['ENTITLEMENT', 'PAYMENT 2000000/1']
  expect(shortOf(await planned({ booked: spun }, { cash: usd(3) }))).toEqual(paid)
  const merged = { ...spun, type: 'stock_merger' } as const
  expect(shortOf(await planned({ booked: merged }, { cash: usd(3) }))).toEqual([...paid, 'REMOVAL'])
})

const ANNOUNCED = {
  ...{ id: 'a', kind: 'split' as const, symbol: 'AAPL', successor: '', day: DAY, days: [DAY] },
  ...{ recordedOn: null, shares: { numerator: 3n, denominator: 2n }, cash: null, foreign: false },
}

it('a split that the broker rounds to whole shares counts as booked, with the cash for the fraction', () => {
  const [remove, add] = Array.from(Object(alpacaExample('activities-split')), (entry) => Object(entry))
  const entry = { ...remove, date: DAY, symbol: 'AAPL' }
  const page = [
    { ...entry, qty: '-25' },
    { ...entry, ...{ id: add.id, qty: '2', net_amount: '10.5', description: add.description } },
  ]
  const announced = { ...ANNOUNCED, shares: { numerator: 1n, denominator: 10n } }
  const { booked } = asActivities(activityPageSchema.parse(page))
  const [event] = eventsOf([announced], bookingsOf(booked))
  expect(event && shortOf(planOf(event))).toEqual(['ENTITLEMENT', 'PAYMENT 420000/1', 'SPLIT 2/25'])
})

it.each(['DIVROC', 'DIVCGL', 'DIVCGS'])(
  'a distribution that is no income waits for the owner: %s',
  (type) => {
    const entries = Object.values(Object(alpacaExample('activities-dividend'))).map((entry) => ({
      ...Object(entry),
      ...(Object(entry).activity_type === 'DIV' && { activity_type: type }),
    }))
    const [booked] = bookingsOf(asActivities(activityPageSchema.parse(entries)).booked)
    if (!booked) throw new Error('nothing is booked')
    const announced = {
      ...{ id: 'a', kind: 'cash-dividend' as const, symbol: booked.symbol, successor: '', day: booked.day },
      ...{ days: [booked.day], recordedOn: booked.recordedOn, shares: null, cash: null, foreign: true },
    }
    const [event] = eventsOf([announced], [booked])
    if (!event) throw new Error('there is no event')
    expect(planOf(event)).toBe('not-income')
    expect(planOf(event, { asBooked: true })).toHaveLength(2)
  },
)

it.each([
  ['activities-dividend', { kind: 'cash-dividend', before: 2_607_144_585n, recordedOn: '2024-11-15' }],
  ['activities-stock-dividend', { kind: 'stock-dividend', before: shares(1), made: shares(1.12) }],
  ['activities-split', { kind: 'split', symbol: 'ANET', before: 807_009n, made: 3_228_036n, cash: 0n }],
  ['activities-symbol-change', { symbol: 'YTEN', successor: 'YTENQ', before: shares(1.25) }],
  ['activities-removal', { kind: 'removal', symbol: 'SRV.RT', before: shares(8), made: 0n }],
  ['activities-cash-merger', { kind: 'merger', before: shares(2), made: 0n, cash: usd(25.27) }],
  ['activities-merger', { kind: 'merger', successor: '737CVR019', before: 6_522_449_746n, cash: usd(58.7) }],
  ['activities-spin-off', { kind: 'spin-off', successor: 'CON', before: 67_337_044n, made: 54_339_042n }],
])('documented entries are put together by the action that left them: %s', (name, expected) => {
  const entries = Object.values(Object(alpacaExample(name)))
  const [booking] = bookingsOf(asActivities(activityPageSchema.parse(entries)).booked)
  expect(booking).toMatchObject(expected)
})

const reorganized = {
  ...{ id: 'r', type: 'REORG', subType: 'WRM', day: DAY, symbol: 'AAPL', description: '' },
  ...{ qty: -shares(4), cash: 0n },
}
const inCash = { ...reorganized, id: 's', qty: 0n, cash: usd(10) }
const PAID_OUT = ['ENTITLEMENT', 'PAYMENT 2500000/1', 'REMOVAL']

it.each([
  ['for nothing', [reorganized], 'removal', ['REMOVAL']],
  ['for cash', [{ ...reorganized, cash: usd(10) }], 'merger', PAID_OUT],
  ['for cash in another entry', [reorganized, inCash], 'merger', PAID_OUT],
])('shares that a reorganization takes %s end', (_what, entries, kind, plan) => {
  const [booked] = bookingsOf(entries)
  expect(booked).toMatchObject({ kind, before: shares(4), made: 0n })
  const [event] = eventsOf([], booked ? [booked] : [])
  if (!event) throw new Error('there is no event')
  expect(shortOf(planOf(event, { asBooked: true }))).toEqual(plan)
})

it('a split and a stock dividend of one week are two: each has an entry of its own', () => {
  const common = { symbol: 'AAPL', successor: '', before: shares(2), cash: 0n, gross: 0n } as const
  const booked = { ...common, isIncome: true, recordedOn: null, made: shares(3) } as const
  const events = eventsOf(
    [],
    [
      { ...booked, kind: 'split', day: DAY },
      { ...booked, kind: 'stock-dividend', day: '2026-03-05' },
    ],
  )
  const split = { index: 0, kind: 'SPLIT', symbol: 'AAPL', recordAt: MIDNIGHT } as const
  const listed = [{ ...split, numerator: 3n, denominator: 2n }]
  expect(events.map((event) => isInForce(event, listed))).toEqual([true, false])
  const dividend = { ...split, index: 1, kind: 'STOCK_DIVIDEND', recordAt: MIDNIGHT + 3 * 86_400 } as const
  const both = [...listed, { ...dividend, numerator: 3n, denominator: 2n }]
  expect(events.map((event) => isInForce(event, both))).toEqual([true, true])
})

const PAID = { qty: shares(4), cash: usd(10) }
const DIVIDEND = { id: 'd', type: 'DIV', subType: '', day: DAY, symbol: 'AAPL', description: '', ...PAID }
const payment = (numerator: bigint) => ({
  ...{ index: 1, kind: 'PAYMENT' as const, symbol: 'AAPL', recordAt: MIDNIGHT, entitlement: 0 },
  ...{ numerator, denominator: 1n },
})
const paying = (numerator: bigint, recordAt = MIDNIGHT - 600) => [
  { index: 0, kind: 'ENTITLEMENT' as const, symbol: 'AAPL', recordAt },
  payment(numerator),
]

it.each([
  ['its whole cash', paying(2_500_000n), 0],
  ['a base unit a share too much', paying(2_500_001n), 1],
  ['the cash of a spin-off, which its fills have', paying(9_000_000n, MIDNIGHT - 4), 0],
  ['another symbol’s', paying(1n).map((action) => ({ ...action, symbol: 'MSFT' })), 1],
  ['the same cash twice', [...paying(1n), { ...payment(1n), index: 2 }], 1],
  ['nothing', paying(0n), 0],
])('the books bear a payment, or do not, of %s', (_what, actions, unborne) => {
  expect(unborneActions(actions, everBookedOf([DIVIDEND]))).toHaveLength(unborne)
})

it.each([
  ['cancelled', [{ ...DIVIDEND, isCanceled: true }]],
  ['booked the other way on its day', [DIVIDEND, { ...DIVIDEND, qty: 0n, cash: -usd(10) }]],
  ['booked the other way later', [DIVIDEND, { ...DIVIDEND, day: '2026-03-05', cash: -usd(10) }]],
])('a dividend that the broker has taken back was booked: %s', (_how, entries) => {
  expect(unborneActions(paying(2_500_000n), everBookedOf(entries))).toEqual([])
  expect(unborneActions(paying(2_500_001n), everBookedOf(entries))).toHaveLength(1)
  const net = bookingsOf(entries).reduce((sum, { cash }) => sum + cash, 0n)
  expect(net).toBe(0n)
})

const SPLIT_ENTRIES = [shares(-2), shares(3)].map((qty, at) => ({
  ...{ id: `s${at}`, type: 'SPLIT', subType: 'FSPLIT', day: DAY, symbol: 'AAPL', qty, cash: 0n },
  description: '',
}))
const act = { index: 0, symbol: 'AAPL', recordAt: MIDNIGHT }
const splitting = (numerator: bigint, denominator: bigint, more: Partial<typeof act> = {}) => ({
  ...{ ...act, kind: 'SPLIT' as const, numerator, denominator },
  ...more,
})

it('a booking before the announced day halts its symbol at once, until the list has what was booked', () => {
  const [announced, bookings] = [
    { ...ANNOUNCED, day: '2026-03-05', days: ['2026-03-05'] },
    bookingsOf(SPLIT_ENTRIES),
  ]
  const events = eventsOf([announced], bookings)
  expect(events).toMatchObject([{ announced, booked: { day: DAY } }])
  const isHalted = (list: CorporateAction[]) => (day: string) => haltedOn(day, events, list).has('AAPL')
  const days = ['2026-03-01', DAY, '2026-03-04', '2026-03-05']
  expect(days.map(isHalted([]))).toEqual([false, true, true, true])
  expect(days.some(isHalted([splitting(3n, 2n)]))).toBe(false)
})

const renaming = { ...act, kind: 'SYMBOL_CHANGE' as const, successor: 'MSFT' }

it.each([
  ['the split as it was booked', [splitting(3n, 2n)], 0],
  ['one that makes more', [splitting(2n, 1n)], 1],
  ['the opposite', [splitting(2n, 3n)], 1],
  ['the split of another symbol', [splitting(3n, 2n, { symbol: 'MSFT' })], 1],
  ['the split twice', [splitting(3n, 2n), splitting(3n, 2n, { index: 1, recordAt: MIDNIGHT - 86_400 })], 1],
  ['the split of half a year before', [splitting(3n, 2n, { recordAt: MIDNIGHT - 180 * 86_400 })], 1],
  ['a new symbol', [renaming], 1],
  ['a removal', [{ ...act, kind: 'REMOVAL' as const }], 1],
])(
  'the books bear no other change of shares than the split that was booked: %s',
  (_what, actions, unborne) => {
    const taken = SPLIT_ENTRIES.map((entry) => ({ ...entry, isCanceled: true }))
    for (const entries of [SPLIT_ENTRIES, taken])
      expect(unborneActions(actions, everBookedOf(entries))).toHaveLength(unborne)
  },
)

it('the books bear another name where they name it, and a spin-off neither multiplies its source’s shares nor ends them', () => {
  const named = (type: string, symbol: string, qty: bigint) => ({
    ...{ id: symbol + qty, type, subType: '', day: DAY, symbol, qty, cash: 0n },
    description: '',
  })
  const change = everBookedOf([named('NC', 'AAPL', shares(-2)), named('NC', 'MSFT', shares(2))])
  expect(unborneActions([renaming], change)).toEqual([])
  expect(unborneActions([{ ...renaming, successor: 'TSLA' }], change)).toHaveLength(1)
  const own = [shares(2), shares(-2)].map((qty) => named('SPIN', 'AAPL', qty))
  const spun = everBookedOf([named('SPIN', 'MSFT', shares(3)), ...own])
  expect(spun).toMatchObject([{ kind: 'spin-off', symbol: 'AAPL', made: shares(3) }])
  const changes = [renaming, splitting(3n, 2n), { ...act, kind: 'REMOVAL' as const }]
  expect(unborneActions(changes, spun)).toHaveLength(3)
})

it("the exchange's days begin at midnight in New York, in summer and in winter", () => {
  for (const [day, begins] of [
    ['2026-01-15', '2026-01-15T05:00:00Z'],
    ['2026-03-08', '2026-03-08T05:00:00Z'],
    ['2026-07-01', '2026-07-01T04:00:00Z'],
    ['2026-11-01', '2026-11-01T04:00:00Z'],
  ] as const) {
    expect(new Date(startOf(day) * 1_000)).toEqual(new Date(begins))
    expect(dayAt(new Date(startOf(day) * 1_000))).toBe(day)
    expect(dayAt(new Date(startOf(day) * 1_000 - 1))).not.toBe(day)
  }
})
