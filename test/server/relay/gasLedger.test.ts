import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checksum } from '../../../src/protocol/address.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createGasLedger } from '../../../src/server/relay/gasLedger.js'
import type { GasPurpose } from '../../../src/server/store/receipts.js'

const id = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const account = (number: number) => checksum(`0x${String(number).repeat(40)}`)

/** Order 1 and 2 are of the first account, order 3 of the second. */
const ORDERS = [1, 2, 3] as const
const accountOf = (order: number) => account(order === 3 ? 2 : 1)
const HOLDERS = [account(1), account(2), id(9)]

const purpose: fc.Arbitrary<GasPurpose> = fc.oneof(
  fc
    .record({ kind: fc.constantFrom('hold', 'finish'), order: fc.constantFrom(...ORDERS) })
    .map(({ kind, order }) => ({ kind, orderId: id(order), account: accountOf(order) }) as const),
  fc.constantFrom(1, 2).map((number) => ({ kind: 'account', account: account(number) }) as const),
  fc.constant({ kind: 'institution', orgId: id(9) } as const),
)
/** A digest is of one purpose. */
const purposes = fc.array(purpose, { minLength: 8, maxLength: 8 })
const digest = fc.integer({ min: 0, max: 7 })
const gas = fc.bigInt({ min: 1n, max: 1_000_000n })
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('put' as const), digest, gas }),
    fc.record({ do: fc.constant('try' as const), digest, gas }),
    fc.record({ do: fc.constant('spend' as const), digest, gas }),
    fc.record({ do: fc.constant('lose' as const), digest, gas }),
    fc.record({ do: fc.constant('end' as const), digest, isConfirmed: fc.boolean() }),
  ),
  { maxLength: 40 },
)

test('after any steps the holders’ gas adds up, and an ended one leaves its spent gas', () => {
  fc.assert(
    fc.property(purposes, steps, (of, taken) => {
      const ledger = createGasLedger(() => 0)
      const sum = () => HOLDERS.reduce((all, holder) => all + ledger.totalOf(holder), 0n)
      let spent = 0n
      for (const step of taken) {
        const [hash, what] = [id(100 + step.digest), of[step.digest]]
        if (what === undefined) throw new TypeError('a digest of no purpose')
        if (step.do === 'put') {
          ledger.put(hash, what, step.gas)
        } else if (step.do === 'try') {
          const before = [ledger.total(), sum()]
          const { total } = ledger.after(hash, what, step.gas)
          expect([ledger.total(), sum()]).toEqual(before)
          const undo = ledger.put(hash, what, step.gas)
          expect(ledger.total()).toBe(total)
          undo()
          expect([ledger.total(), sum()]).toEqual(before)
        } else if (step.do === 'spend') {
          // A resumed one, counted before: its gas is set aside for no account.
          ledger.put(hash, what, step.gas)
          ledger.spend(hash, step.gas)
          spent += step.gas
        } else if (step.do === 'lose') {
          ledger.put(hash, what, step.gas)
          ledger.lose(hash)
          spent += step.gas
        } else {
          ledger.end(hash, what, step.isConfirmed)
        }
        expect(sum()).toBe(ledger.total())
        expect(ledger.total()).toBeGreaterThanOrEqual(spent)
      }
      of.forEach((what, number) => {
        ledger.end(id(100 + number), what, false)
      })
      for (const order of ORDERS) {
        ledger.end(id(200), { kind: 'finish', orderId: id(order), account: accountOf(order) }, true)
      }
      expect(ledger.total()).toBe(spent)
    }),
  )
})

test('spent gas can be taken off its quota: it stays on the total of the same day', () => {
  let now = 0
  const ledger = createGasLedger(() => now)
  const purpose: GasPurpose = { kind: 'account', account: account(1) }
  const spend = () => {
    ledger.put(id(1), purpose, 90n)
    return ledger.spend(id(1), 60n)
  }
  const excuse = spend()
  expect([ledger.totalOf(account(1)), ledger.total()]).toEqual([60n, 60n])
  excuse()
  expect([ledger.totalOf(account(1)), ledger.total()]).toEqual([0n, 60n])
  const tooLate = spend()
  now = 86_400_000
  tooLate()
  expect([ledger.totalOf(account(1)), ledger.total()]).toEqual([0n, 0n])
})
