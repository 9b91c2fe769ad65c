import '../../support/seed.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checksum } from '../../../src/protocol/address.js'
import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { gasPurposeOf } from '../../../src/server/relay/authorization.js'
import {
  createGasBudget,
  type GasLimits,
  type RemainingGas,
  restOf,
} from '../../../src/server/relay/gasBudget.js'
import { confirmed, failed, pendingRecord, withLimit } from '../../../src/server/relay/record.js'
import type { Engine } from '../../../src/server/store/engine.js'
import { createReceiptStore, type GasPurpose, type RelayRecord } from '../../../src/server/store/receipts.js'
import {
  batchBurn,
  batchMint,
  grantedOrder,
  policyUpdate,
  portfolioUpdate,
  refund as refundOf,
  settlement,
} from '../../support/authorizations.js'
import { AAPL, shares } from '../../support/institution.js'
import { LENGTH } from '../../support/length.js'
import { createLogLines } from '../../support/logLines.js'
import { gasSums, storedBookings } from '../../support/storedGas.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const PLATFORM: GasPurpose = { kind: 'platform' }
const ALICE = checksum(`0x${'a1'.repeat(20)}`)
const BOB = checksum(`0x${'b0'.repeat(20)}`)

const digest = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const ofOrder =
  (kind: 'hold' | 'finish') =>
  (order: number, account = ALICE): GasPurpose => ({ kind, orderId: digest(order), account })
const [hold, finish] = [ofOrder('hold'), ofOrder('finish')]

/** The gas of authorizations, as their jobs write it. */
function createGasDriver(options: { engine: Engine; limits: GasLimits; now: () => number }) {
  const { engine } = options
  const { logger } = createLogLines()
  const store = createReceiptStore({ engine, logger })
  const budget = createGasBudget({ ...options, store, logger })

  function newRecord(digest: Hex, purpose: GasPurpose, earlier?: RelayRecord): RelayRecord {
    const call = { primaryType: 'PortfolioUpdate', target: ALICE, data: '0x01020304' } as const
    return pendingRecord({ digest, purpose, ...call }, undefined, earlier)
  }

  return {
    ...budget,
    /** An authorization that comes, or is sent again. */
    async reserve(digest: Hex, purpose: GasPurpose, gas: bigint, bookable?: bigint): Promise<void> {
      const stored = await store.find(digest)
      const isUnderWay = stored !== undefined && stored.record.receipt.status !== 'failed'
      const record = isUnderWay ? stored.record : newRecord(digest, purpose, stored?.record)
      if (!(await budget.put(withLimit(record, gas), stored, bookable))) throw new Error('another version')
    },
    /** One of its transactions was mined. */
    async spend(digest: Hex, used: bigint, excused = 0n): Promise<void> {
      const stored = await store.find(digest)
      if (stored === undefined) throw new Error('nothing is stored')
      const { gas } = stored.record
      const counted = { setAside: 0n, used: gas.used + used, excused: gas.excused + excused }
      if (!(await budget.put({ ...stored.record, gas: counted }, stored))) throw new Error('another version')
    },
    /** Makes its record final; one that another party brought to the chain may have none. */
    async end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): Promise<void> {
      const stored = await store.find(digest)
      const record = stored?.record ?? newRecord(digest, purpose)
      const next = isConfirmed ? confirmed(record, null) : failed(record, null, { name: 'Failed', args: {} })
      if (!(await budget.put(next, stored))) throw new Error('another version')
    },
    async rest(): Promise<RemainingGas> {
      await budget.refresh()
      return budget.remaining()
    },
  }
}

const DAY_MS = 86_400_000

const refund = (account = ALICE): GasPurpose => ({ kind: 'account', account })
const rulebook = (org: number): GasPurpose => ({ kind: 'institution', orgId: digest(org) })
/** Gas booked for an order's end beyond its write-ahead. */
const EXTRA = 120_000n

/** Limits that no test reaches. */
const AMPLE = { reserve: 0n, perAccount: 1n << 60n, perInstitution: 1n << 60n }

async function budgetOf(limits: bigint | GasLimits) {
  const clock = { ms: 20_000 * DAY_MS + 1_000 }
  const { engine } = await openStores(await temporaryDirectory())
  const of = typeof limits === 'bigint' ? { perDay: limits, ...AMPLE } : limits
  const restart = () => createGasDriver({ engine, limits: of, now: () => clock.ms })
  return { budget: restart(), restart, clock }
}

const refusal = { reason: { code: 'relay-budget-exhausted' } }

describe('the gas of a day', () => {
  test('is what was used and what is set aside', async () => {
    const { budget } = await budgetOf(1_000n)
    await budget.reserve(digest(1), PLATFORM, 600n)
    await expect(budget.reserve(digest(2), PLATFORM, 401n)).rejects.toMatchObject(refusal)
    await budget.spend(digest(1), 300n)
    expect((await budget.rest()).gasRemaining).toBe(700n)
    await budget.reserve(digest(2), PLATFORM, 700n)
    expect((await budget.rest()).gasRemaining).toBe(0n)
  })

  test('begins anew at midnight, but for what is still set aside; a refusal says when', async () => {
    const { budget, clock } = await budgetOf(1_000n)
    await budget.reserve(digest(1), PLATFORM, 600n)
    budget.spendOther(300n)
    await expect(budget.reserve(digest(2), PLATFORM, 400n)).rejects.toMatchObject({
      reason: { code: 'relay-budget-exhausted', retryAfterMs: DAY_MS - 1_000 },
    })
    clock.ms += DAY_MS - 1_000
    expect((await budget.rest()).gasRemaining).toBe(400n)
    await budget.reserve(digest(2), PLATFORM, 400n)
  })

  test('counts what an authorization used before it failed, when it comes again', async () => {
    const { budget } = await budgetOf(1_000n)
    await budget.reserve(digest(1), PLATFORM, 600n)
    await budget.spend(digest(1), 300n)
    await budget.end(digest(1), PLATFORM, false)
    await budget.reserve(digest(1), PLATFORM, 600n)
    await budget.spend(digest(1), 200n)
    expect((await budget.rest()).gasRemaining).toBe(500n)
  })
})

describe('an order written ahead', () => {
  const limits = { ...AMPLE, perDay: 10_000_000n, reserve: 2_000_000n }
  const GAS = 1_000_000n

  test('has its mark and its end booked with its write-ahead, until it has ended', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    expect((await budget.rest()).gasRemaining).toBe(8_000_000n - 3n * GAS - EXTRA)
    await budget.spend(digest(1), 800_000n)
    await budget.end(digest(1), hold(1), true)
    expect((await budget.rest()).gasRemaining).toBe(8_000_000n - 800_000n - 2n * GAS - EXTRA)
    // The end takes the gas that was booked for it.
    await budget.reserve(digest(2), finish(1), GAS)
    expect((await budget.rest()).gasRemaining).toBe(8_000_000n - 800_000n - 2n * GAS - EXTRA)
    await budget.spend(digest(2), 700_000n)
    await budget.end(digest(2), finish(1), true)
    expect((await budget.rest()).gasRemaining).toBe(8_000_000n - 1_500_000n)
  })

  test.each([
    ['after', [2, 1], GAS / 2n + EXTRA],
    ['before', [1, 2], GAS + EXTRA],
  ])(
    'keeps its booking where the write-ahead that booked fails %s another one has taken effect',
    async (_when, ends, booked) => {
      const { budget } = await budgetOf(limits)
      for (const number of [1, 2]) await budget.reserve(digest(number), hold(1), GAS / 2n)
      for (const number of ends) {
        if (number === 2) await budget.spend(digest(2), GAS / 2n)
        await budget.end(digest(number), hold(1), number === 2)
      }
      expect((await budget.rest()).booked).toBe(booked)
    },
  )

  test('is not written ahead when its write-ahead fails, and still is when its end does', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    await budget.end(digest(1), hold(1), false)
    expect((await budget.rest()).gasRemaining).toBe(8_000_000n)
    await budget.reserve(digest(2), hold(1), GAS)
    await budget.end(digest(2), hold(1), true)
    await budget.reserve(digest(3), finish(1), GAS)
    await budget.spend(digest(3), 50_000n)
    await budget.end(digest(3), finish(1), false)
    expect((await budget.rest()).gasRemaining).toBe(8_000_000n - 50_000n - 2n * GAS - EXTRA)
  })

  test('is finished when nothing is left for anything else, and has the reserve for what was not booked', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    await budget.end(digest(1), hold(1), true)
    const rest = (await budget.rest()).gasRemaining
    await budget.reserve(digest(2), PLATFORM, rest)
    for (const purpose of [PLATFORM, hold(2), refund(), rulebook(3)]) {
      await expect(budget.reserve(digest(9), purpose, 21_000n)).rejects.toMatchObject(refusal)
    }
    expect(await budget.rest()).toMatchObject({ gasRemaining: 0n, reserveRemaining: limits.reserve })
    await budget.reserve(digest(3), hold(1), GAS)
    await budget.reserve(digest(4), finish(1), GAS)
    expect((await budget.rest()).reserveRemaining).toBe(limits.reserve)
    // A further write of it, longer by what its booking has left for the end.
    await budget.reserve(digest(7), hold(1), GAS + EXTRA)
    expect((await budget.rest()).reserveRemaining).toBe(limits.reserve - GAS)
    // One that was booked by a server whose directory is lost.
    await budget.reserve(digest(5), finish(7), GAS)
    expect((await budget.rest()).reserveRemaining).toBe(0n)
    await expect(budget.reserve(digest(6), finish(8), 21_000n)).rejects.toMatchObject(refusal)
    await budget.end(digest(4), finish(1), false)
    // Booked gas is never refused, even so.
    await budget.reserve(digest(4), finish(1), GAS)
  })

  test('keeps what is booked for it overnight, and over a restart', async () => {
    const { budget, restart, clock } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    await budget.spend(digest(1), 800_000n)
    await budget.end(digest(1), hold(1), true)
    clock.ms += DAY_MS
    const next = restart()
    expect((await next.rest()).gasRemaining).toBe(8_000_000n - 2n * GAS - EXTRA)
    await next.end(digest(2), finish(1), true)
    expect((await next.rest()).gasRemaining).toBe(8_000_000n)
  })

  test('is forgotten when nothing has ended it for longer than any order lasts', async () => {
    const { budget, clock } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    await budget.end(digest(1), hold(1), true)
    clock.ms += 40 * DAY_MS
    await budget.endOld()
    expect(await budget.rest()).toMatchObject({ gasRemaining: 8_000_000n - 2n * GAS - EXTRA })
    clock.ms += DAY_MS
    await budget.endOld()
    expect(await budget.rest()).toMatchObject({ gasRemaining: 8_000_000n, booked: 0n })
  })

  test('is not begun where the account could not pay for all that is booked, and is taken further', async () => {
    const { budget } = await budgetOf(limits)
    const underfunded = { reason: { code: 'relayer-underfunded' } }
    const need = 2n * GAS + EXTRA
    await expect(budget.reserve(digest(1), hold(1), GAS, need - 1n)).rejects.toMatchObject(underfunded)
    await budget.reserve(digest(1), hold(1), GAS, need)
    await expect(budget.reserve(digest(2), PLATFORM, 21_000n, need - 1n)).rejects.toMatchObject(underfunded)
    await budget.reserve(digest(2), PLATFORM, 21_000n, need)
    await budget.reserve(digest(3), finish(1), GAS, -1n)
  })

  const order = grantedOrder(ALICE)
  const of = { orderId: order.orderId, account: ALICE }
  const EMPTY = { enclaveBlob: '0x', userBlob: '0x' } as const
  const orgId = nameToBytes32('Umbrella')

  test.each<[string, Authorization, GasPurpose]>([
    ['a write for it while it is open', portfolioUpdate(order), { kind: 'hold', ...of }],
    ['the write after a reclaim', portfolioUpdate(order, { state: 3n }), { kind: 'finish', ...of }],
    ['its settlement', settlement(order), { kind: 'finish', ...of }],
    ['a withdrawal', settlement(order, { payoutAsset: AAPL, payout: 1n }), refund()],
    ['its refund', refundOf(order), { kind: 'finish', ...of }],
    ['a refund without a portfolio', refundOf(order, EMPTY), refund()],
    ['a rulebook', policyUpdate(orgId, ALICE), { kind: 'institution', orgId }],
    ['a mint', batchMint(AAPL, shares(5)), PLATFORM],
    ['a burn', batchBurn(AAPL, shares(5)), PLATFORM],
  ])('is told from others: %s', (_what, authorization, purpose) => {
    expect(gasPurposeOf(authorization)).toEqual(purpose)
  })
})

describe('a quota', () => {
  const limits = { perDay: 1n << 50n, reserve: 1n << 40n, perAccount: 5_000_000n, perInstitution: 3_000_000n }
  const overQuota = (quota: string) => ({ reason: { code: 'relay-quota-exhausted', quota } })

  test('an account’s quota counts its orders’ whole gas, and its refunds, and no other account’s', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), 700_000n)
    await budget.reserve(digest(2), refund(), 2_000_000n)
    await expect(budget.reserve(digest(3), hold(3), 500_000n)).rejects.toMatchObject({
      reason: { ...overQuota('account').reason, retryAfterMs: DAY_MS - 1_000 },
    })
    await expect(budget.reserve(digest(4), refund(), 1_000_000n)).rejects.toMatchObject(overQuota('account'))
    await budget.reserve(digest(5), hold(5, BOB), 1_000_000n)
    await budget.reserve(digest(6), rulebook(6), 1_000_000n)
    // Gas that was set aside and not used is hers again.
    await budget.spend(digest(2), 100_000n)
    await budget.reserve(digest(3), hold(3), 500_000n)
  })

  test('does not refuse the first of a day, however large, nor what finishes an order written ahead', async () => {
    const { budget, clock } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), 9_000_000n)
    await expect(budget.reserve(digest(2), refund(), 21_000n)).rejects.toMatchObject(overQuota('account'))
    await budget.end(digest(1), hold(1), true)
    await budget.reserve(digest(3), finish(1), 20_000_000n)
    await budget.spend(digest(3), 20_000_000n)
    await budget.end(digest(3), finish(1), true)
    await expect(budget.reserve(digest(2), refund(), 21_000n)).rejects.toMatchObject(overQuota('account'))
    clock.ms += DAY_MS
    await budget.reserve(digest(2), refund(), 21_000n)
  })
})

const LIMITS = { perDay: 10_000_000n, reserve: 1_000_000n, perAccount: 4_000_000n, perInstitution: 1n << 60n }

/** Budgets of two servers on one database. */
async function budgetsOf() {
  const { engine } = await openStores(await temporaryDirectory())
  const start = () => createGasDriver({ engine, limits: LIMITS, now: () => 20_000 * DAY_MS })
  return { one: start(), other: start(), engine }
}

test('several servers make and end one booking, whichever of them takes two writes of its order at once', async () => {
  const { one, other, engine } = await budgetsOf()
  await Promise.all([one.reserve(digest(1), hold(1), 300_000n), other.reserve(digest(2), hold(1), 300_000n)])
  const booking = (await storedBookings(engine)).get(digest(1))
  expect(booking?.drawn).toHaveLength(1)
  expect(await one.rest()).toMatchObject({ booked: restOf(booking) })
  const [first, second] = booking?.by === digest(1) ? [1, 2] : [2, 1]
  await Promise.all([one.end(digest(first), hold(1), true), other.end(digest(second), hold(1), false)])
  expect(await one.rest()).toMatchObject({ booked: 720_000n })
})

const ORDERS = [1, 2, 3] as const
const accountOf = (order: number) => (order === 3 ? BOB : ALICE)
const purpose: fc.Arbitrary<GasPurpose> = fc.oneof(
  fc
    .record({ of: fc.constantFrom(hold, finish), order: fc.constantFrom(...ORDERS) })
    .map(({ of, order }) => of(order, accountOf(order))),
  fc.constantFrom(ALICE, BOB).map((account) => ({ kind: 'account', account }) as const),
  fc.constant({ kind: 'institution', orgId: digest(9) } as const),
  fc.constant(PLATFORM),
)
const step = fc.record({
  do: fc.constantFrom('reserve', 'spend', 'excuse', 'confirm', 'fail'),
  number: fc.nat(7),
  gas: fc.bigInt({ min: 1n, max: 600_000n }),
  isOther: fc.boolean(),
})
/** Up to three at once. */
const turns = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 30 })

test('the sums are those of records and bookings, whatever two servers do at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(purpose, { minLength: 8, maxLength: 8 }), turns, async (purposes, told) => {
      const { one, other, engine } = await budgetsOf()
      async function take(next: (typeof told)[number][number]): Promise<void> {
        const { do: action, number, gas, isOther } = next
        const [budget, hash, of] = [isOther ? other : one, digest(100 + number), purposes[number]]
        if (of === undefined) throw new TypeError('a digest of no purpose')
        if (action === 'reserve') return budget.reserve(hash, of, gas)
        if (action === 'confirm' || action === 'fail') return budget.end(hash, of, action === 'confirm')
        return budget.spend(hash, gas, action === 'excuse' ? gas : 0n)
      }
      for (const turn of told) {
        // Refused, or another of the turn has come first.
        await Promise.all(turn.map((each) => take(each).catch(() => undefined)))
        const { stored, added } = await gasSums(engine)
        expect(stored).toEqual(added)
      }
    }),
    { numRuns: 20 * LENGTH },
  )
})
