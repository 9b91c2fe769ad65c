import fc from 'fast-check'
import { expect, test } from 'vitest'
import { restOf } from '../../../src/server/relay/gasBudget.js'
import type { GasPurpose } from '../../../src/server/store/receipts.js'
import '../../support/seed.js'
import { gasSums, storedBookings } from '../../support/storedGas.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { ALICE, BOB, createGasDriver, digest, finish, hold, PLATFORM } from './gasDriver.js'

const LIMITS = { perDay: 10_000_000n, reserve: 1_000_000n, perAccount: 4_000_000n, perInstitution: 1n << 60n }
const DAY_MS = 86_400_000

/** Budgets of several servers on one database. */
async function budgetsOf(limits = LIMITS) {
  const { engine } = await openStores(await temporaryDirectory())
  const start = () => createGasDriver({ engine, limits, now: () => 20_000 * DAY_MS })
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
      async function take({
        do: action,
        number,
        gas,
        isOther,
      }: (typeof told)[number][number]): Promise<void> {
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
    { numRuns: 60 },
  )
})
