import { describe, expect, test } from 'vitest'
import { checksum } from '../../../src/protocol/address.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createGasBudget, type GasLimits } from '../../../src/server/relay/gasBudget.js'
import { StorageError } from '../../../src/server/store/engine.js'
import type { GasPurpose } from '../../../src/server/store/receipts.js'
import { createLogLines } from '../../support/logLines.js'
import { storedGas } from '../../support/storedGas.js'
import { setStoredText, storedRows, storedText } from '../../support/storedRows.js'
import { createFailingEngine, openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const DAY_MS = 86_400_000
const digest = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`

const PLATFORM: GasPurpose = { kind: 'platform' }
const ALICE = checksum(`0x${'a1'.repeat(20)}`)
const BOB = checksum(`0x${'b0'.repeat(20)}`)
const hold = (order: number, account = ALICE): GasPurpose => ({
  kind: 'hold',
  orderId: digest(order),
  account,
})
const finish = (order: number, account = ALICE): GasPurpose => ({
  kind: 'finish',
  orderId: digest(order),
  account,
})
const refund = (account = ALICE): GasPurpose => ({ kind: 'account', account })
const rulebook = (org: number): GasPurpose => ({ kind: 'institution', orgId: digest(org) })
/** Gas booked for an order's end beyond its write-ahead. */
const EXTRA = 120_000n

/** Limits that no test reaches. */
const AMPLE = { reserve: 0n, perAccount: 1n << 60n, perInstitution: 1n << 60n }

async function budgetOf(limits: bigint | GasLimits, root?: string) {
  const dataDir = root ?? (await temporaryDirectory())
  const clock = { ms: 20_000 * DAY_MS + 1_000 }
  const log = createLogLines()
  const { engine, left } = createFailingEngine((await openStores(dataDir)).engine)
  const options = { engine, now: () => clock.ms, logger: log.logger }
  const restart = async () => {
    const budget = createGasBudget({
      ...options,
      limits: typeof limits === 'bigint' ? { perDay: limits, ...AMPLE } : limits,
    })
    await budget.service.start()
    return budget
  }
  return { budget: await restart(), restart, clock, dataDir, log, left }
}

const refusal = { reason: { code: 'relay-budget-exhausted' } }

describe('the gas of a day', () => {
  test('is what was used and what is set aside', async () => {
    const { budget } = await budgetOf(1_000n)
    await budget.reserve(digest(1), PLATFORM, 600n)
    await expect(budget.reserve(digest(2), PLATFORM, 401n)).rejects.toMatchObject(refusal)
    budget.spend(digest(1), 300n)
    expect(budget.left().gasLeft).toBe(700n)
    await budget.reserve(digest(2), PLATFORM, 700n)
    expect(budget.left().gasLeft).toBe(0n)
  })

  test('begins anew at midnight, but for what is still set aside; a refusal says when', async () => {
    const { budget, clock } = await budgetOf(1_000n)
    await budget.reserve(digest(1), PLATFORM, 600n)
    budget.spendOther(300n)
    await expect(budget.reserve(digest(2), PLATFORM, 400n)).rejects.toMatchObject({
      reason: { code: 'relay-budget-exhausted', retryAfterMs: DAY_MS - 1_000 },
    })
    clock.ms += DAY_MS - 1_000
    expect(budget.left().gasLeft).toBe(400n)
    await budget.reserve(digest(2), PLATFORM, 400n)
  })

  test('is remembered by the next process, whether this one was stopped or killed', async () => {
    const first = await budgetOf(1_000_000n)
    await first.budget.reserve(digest(1), PLATFORM, 300_000n)
    const killed = await first.restart()
    expect(killed.left().gasLeft).toBeLessThanOrEqual(700_000n)
    expect(killed.left().gasLeft).toBeGreaterThanOrEqual(699_000n)
    first.budget.spend(digest(1), 200_000n)
    await first.budget.service.stop()
    expect((await first.restart()).left().gasLeft).toBe(800_000n)
  })

  test('is not remembered on another day', async () => {
    const { budget, restart, dataDir } = await budgetOf(1_000n)
    await budget.reserve(digest(1), PLATFORM, 600n)
    const text = storedText(dataDir, 'state', 'relay-gas:0') ?? ''
    const yesterday = text.replace('"day":20000', '"day":19999')
    expect(yesterday).not.toBe(text)
    setStoredText(dataDir, 'state', 'relay-gas:0', yesterday)
    expect((await restart()).left().gasLeft).toBe(1_000n)
  })

  test('is written once for many, and always ahead of what is used', async () => {
    const { budget, dataDir } = await budgetOf(10_000_000n)
    const seen = new Set<string>()
    for (let each = 1; each <= 100; each++) {
      await budget.reserve(digest(each), PLATFORM, 1_000n)
      const stored = await storedGas((id) => storedText(dataDir, 'state', id))
      seen.add(String(stored?.gas))
      expect(stored?.gas).toBeGreaterThanOrEqual(each * 1_000)
    }
    expect(seen.size).toBeLessThan(12)
  })

  test('is read back after any number of writes, each small however many accounts there are', async () => {
    const { budget, restart, dataDir } = await budgetOf(1n << 60n)
    const account = (index: number) => checksum(`0x${index.toString(16).padStart(40, '0')}`)
    for (let each = 1; each <= 600; each++) {
      await budget.reserve(digest(each), hold(each, account(each)), 1_000n)
      budget.spend(digest(each), 900n)
      await budget.end(digest(each), hold(each, account(each)), true)
    }
    const [first, ...others] = storedRows(dataDir, 'state').toSorted((a, b) => b.doc.length - a.doc.length)
    expect(first?.id).toBe('relay-gas:0')
    expect(others).toHaveLength(255)
    for (const { doc } of others) expect(doc.length).toBeLessThan(2_000)
    await budget.service.stop()
    const next = await restart()
    expect(next.left()).toEqual(budget.left())
    expect(next.left().booked).toBe(600n * (2n * 1_000n + EXTRA))
  })

  test('that cannot be read is not taken for none: the start fails, and the log names the record', async () => {
    const { budget, restart, dataDir, log } = await budgetOf(1_000n)
    await budget.reserve(digest(1), PLATFORM, 600n)
    setStoredText(dataDir, 'state', 'relay-gas:0', '{"by":')
    await expect(restart()).rejects.toThrow(StorageError)
    expect(log.lines()).toContainEqual(
      expect.objectContaining({ msg: 'stored record not readable', store: 'state', recordId: 'relay-gas:0' }),
    )
  })

  test('of what could not be written is not set aside', async () => {
    const { budget, left } = await budgetOf(1_000_000n)
    left.writes = 1
    await expect(budget.reserve(digest(1), hold(1), 600n)).rejects.toThrow(StorageError)
    expect(budget.left().gasLeft).toBe(1_000_000n)
  })
})

describe('an order that is held', () => {
  const limits = {
    perDay: 10_000_000n,
    reserve: 2_000_000n,
    perAccount: 1n << 60n,
    perInstitution: 1n << 60n,
  }
  const GAS = 1_000_000n

  test('has its mark and its end booked with its write-ahead, until it has ended', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    expect(budget.left().gasLeft).toBe(8_000_000n - 3n * GAS - EXTRA)
    budget.spend(digest(1), 800_000n)
    await budget.end(digest(1), hold(1), true)
    expect(budget.left().gasLeft).toBe(8_000_000n - 800_000n - 2n * GAS - EXTRA)
    // The end takes the gas that was booked for it.
    await budget.reserve(digest(2), finish(1), GAS)
    expect(budget.left().gasLeft).toBe(8_000_000n - 800_000n - 2n * GAS - EXTRA)
    budget.spend(digest(2), 700_000n)
    await budget.end(digest(2), finish(1), true)
    expect(budget.left().gasLeft).toBe(8_000_000n - 1_500_000n)
  })

  test('is marked as never placed and ended when everything else is used up, the reserve too', async () => {
    const conspiracy = {
      perDay: 40_000_000n,
      reserve: 8_000_000n,
      perAccount: 10_000_000n,
      perInstitution: 1n,
    }
    const { budget } = await budgetOf(conspiracy)
    const accounts = [ALICE, BOB, checksum(`0x${'c4'.repeat(20)}`)]
    const held: { order: number; account: Hex }[] = []
    for (const account of accounts) {
      for (let order = held.length + 1, isTaken = true; isTaken; order++) {
        isTaken = await budget.reserve(digest(order), hold(order, account), 500_000n).then(
          () => true,
          () => false,
        )
        if (!isTaken) break
        budget.spend(digest(order), 500_000n)
        await budget.end(digest(order), hold(order, account), true)
        held.push({ order, account })
      }
    }
    await budget.reserve(digest(900), PLATFORM, budget.left().gasLeft)
    await budget.reserve(digest(901), finish(901), budget.left().reserveLeft)
    expect(budget.left()).toMatchObject({ gasLeft: 0n, reserveLeft: 0n })
    for (const { order, account } of held) {
      const [mark, end] = [digest(1_000 + order), digest(2_000 + order)]
      await budget.reserve(mark, hold(order, account), 500_000n)
      budget.spend(mark, 500_000n)
      await budget.end(mark, hold(order, account), true)
      await budget.reserve(end, finish(order, account), 620_000n)
      budget.spend(end, 620_000n)
      await budget.end(end, finish(order, account), true)
    }
    expect(budget.left()).toMatchObject({ gasLeft: 0n, reserveLeft: 0n })
    // Each needed three writes, and the extra of its end: 1.62 M of 10 M.
    expect(held).toHaveLength(3 * 6)
  })

  test('is freed by the second look that finds its write-ahead over, and not before', async () => {
    const { budget } = await budgetOf(limits)
    const states = new Map<Hex, 'open' | 'over'>([
      [digest(1), 'over'],
      [digest(2), 'open'],
      [digest(3), 'open'],
    ])
    for (const order of [1, 2, 3]) await budget.reserve(digest(order), hold(order), GAS / 2n)
    for (const order of [1, 2, 3]) budget.release(digest(order))
    const { booked } = budget.left()
    const look = () => budget.endOrphans(async (by) => states.get(by) ?? 'over')
    await look()
    expect(budget.left().booked).toBe(booked)
    states.set(digest(2), 'over')
    await look()
    expect(budget.left().booked).toBe((booked / 3n) * 2n)
    states.set(digest(2), 'open')
    await look()
    states.set(digest(2), 'over')
    await look()
    expect(budget.left().booked).toBe((booked / 3n) * 2n)
    await look()
    expect(budget.left().booked).toBe(booked / 3n)
  })

  test('keeps its booking when another write-ahead of it takes effect than the one that booked', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS / 2n)
    budget.release(digest(1))
    await budget.reserve(digest(2), hold(1), GAS / 2n)
    budget.spend(digest(2), GAS / 2n)
    await budget.end(digest(2), hold(1), true)
    const { booked } = budget.left()
    for (let look = 0; look < 3; look++)
      await budget.endOrphans(async (by) => (by === digest(2) ? 'open' : 'over'))
    await budget.end(digest(1), hold(1), false)
    expect(budget.left().booked).toBe(booked)
    expect(booked).toBeGreaterThan(0n)
  })

  test('is not held when its write-ahead fails, and is still held when its end does', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    await budget.end(digest(1), hold(1), false)
    expect(budget.left().gasLeft).toBe(8_000_000n)
    await budget.reserve(digest(2), hold(1), GAS)
    await budget.end(digest(2), hold(1), true)
    await budget.reserve(digest(3), finish(1), GAS)
    budget.spend(digest(3), 50_000n)
    await budget.end(digest(3), finish(1), false)
    expect(budget.left().gasLeft).toBe(8_000_000n - 50_000n - 2n * GAS - EXTRA)
  })

  test('is finished when nothing is left for anything else, and has the reserve for what was not booked', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    await budget.end(digest(1), hold(1), true)
    const rest = budget.left().gasLeft
    await budget.reserve(digest(2), PLATFORM, rest)
    for (const purpose of [PLATFORM, hold(2), refund(), rulebook(3)]) {
      await expect(budget.reserve(digest(9), purpose, 21_000n)).rejects.toMatchObject(refusal)
    }
    expect(budget.left()).toMatchObject({ gasLeft: 0n, reserveLeft: limits.reserve })
    await budget.reserve(digest(3), hold(1), GAS)
    await budget.reserve(digest(4), finish(1), GAS)
    expect(budget.left().reserveLeft).toBe(limits.reserve)
    // A further write of it, longer by what its booking has left for the end.
    await budget.reserve(digest(7), hold(1), GAS + EXTRA)
    expect(budget.left().reserveLeft).toBe(limits.reserve - GAS)
    // One that was booked by a server whose directory is lost.
    await budget.reserve(digest(5), finish(7), GAS)
    expect(budget.left().reserveLeft).toBe(0n)
    await expect(budget.reserve(digest(6), finish(8), 21_000n)).rejects.toMatchObject(refusal)
    await budget.end(digest(4), finish(1), false)
    // Booked gas is never refused, even so.
    await budget.reserve(digest(4), finish(1), GAS)
  })

  test('keeps what is booked for it overnight, and over a restart', async () => {
    const { budget, restart, clock } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    budget.spend(digest(1), 800_000n)
    await budget.end(digest(1), hold(1), true)
    await budget.service.stop()
    clock.ms += DAY_MS
    const next = await restart()
    expect(next.left().gasLeft).toBe(8_000_000n - 2n * GAS - EXTRA)
    await next.end(digest(2), finish(1), true)
    expect(next.left().gasLeft).toBe(8_000_000n)
    await next.service.stop()
    clock.ms += 41 * DAY_MS
    expect((await restart()).left().gasLeft).toBe(8_000_000n)
  })

  test('is remembered no more once it has ended, also by the next of a process that is killed', async () => {
    const { budget, restart, clock } = await budgetOf(limits)
    for (const order of [1, 2, 3]) {
      await budget.reserve(digest(order), hold(order), GAS / 2n)
      budget.spend(digest(order), 10_000n)
      await budget.end(digest(order), hold(order), true)
      await budget.reserve(digest(10 + order), finish(order), GAS)
      await budget.end(digest(10 + order), finish(order), true)
    }
    clock.ms += DAY_MS
    await expect.poll(async () => (await restart()).left()).toMatchObject({ gasLeft: 8_000_000n, booked: 0n })
  })

  test('is forgotten when nothing has ended it for longer than any order lasts', async () => {
    const { budget, clock } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    await budget.end(digest(1), hold(1), true)
    clock.ms += 40 * DAY_MS
    expect(budget.left().gasLeft).toBeLessThan(8_000_000n)
    clock.ms += DAY_MS
    expect(budget.left().gasLeft).toBe(8_000_000n)
  })

  test('is booked once, however often its write-ahead goes out', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), GAS)
    const { gasLeft } = budget.left()
    await budget.reserve(digest(1), hold(1), GAS)
    expect(budget.left().gasLeft).toBe(gasLeft)
  })
})

describe('a quota', () => {
  const limits = { perDay: 1n << 50n, reserve: 1n << 40n, perAccount: 5_000_000n, perInstitution: 3_000_000n }
  const overQuota = (quota: string) => ({ reason: { code: 'relay-quota-exhausted', quota } })

  test('of an account holds its orders’ whole gas, and its refunds, and no other account’s', async () => {
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
    budget.spend(digest(2), 100_000n)
    await budget.reserve(digest(3), hold(3), 500_000n)
  })

  test('of an institution holds its rulebooks alone', async () => {
    const { budget } = await budgetOf(limits)
    await budget.reserve(digest(1), rulebook(1), 2_000_000n)
    await expect(budget.reserve(digest(2), rulebook(1), 1_500_000n)).rejects.toMatchObject(
      overQuota('institution'),
    )
    await budget.reserve(digest(3), rulebook(3), 1_500_000n)
    await budget.reserve(digest(4), hold(4), 1_000_000n)
  })

  test('does not refuse the first of a day, however large, nor what finishes a held order', async () => {
    const { budget, clock } = await budgetOf(limits)
    await budget.reserve(digest(1), hold(1), 9_000_000n)
    await expect(budget.reserve(digest(2), refund(), 21_000n)).rejects.toMatchObject(overQuota('account'))
    await budget.end(digest(1), hold(1), true)
    await budget.reserve(digest(3), finish(1), 20_000_000n)
    budget.spend(digest(3), 20_000_000n)
    await budget.end(digest(3), finish(1), true)
    await expect(budget.reserve(digest(2), refund(), 21_000n)).rejects.toMatchObject(overQuota('account'))
    clock.ms += DAY_MS
    await budget.reserve(digest(2), refund(), 21_000n)
  })

  test('is remembered by the next process', async () => {
    const { budget, restart } = await budgetOf(limits)
    await budget.reserve(digest(1), refund(), 4_000_000n)
    await budget.reserve(digest(2), rulebook(2), 3_000_000n)
    await budget.reserve(digest(3), hold(3, BOB), 2_400_000n)
    budget.spend(digest(1), 3_900_000n)
    await budget.end(digest(3), hold(3, BOB), true)
    await budget.service.stop()
    const next = await restart()
    await expect(next.reserve(digest(4), refund(), 1_200_000n)).rejects.toMatchObject(overQuota('account'))
    await next.reserve(digest(4), refund(), 1_100_000n)
    await expect(next.reserve(digest(5), rulebook(2), 21_000n)).rejects.toMatchObject(
      overQuota('institution'),
    )
    await expect(next.reserve(digest(6), refund(BOB), 2_500_000n)).rejects.toMatchObject(overQuota('account'))
  })

  test('counts a lost transaction at its limit until midnight', async () => {
    const { budget, clock } = await budgetOf(limits)
    await budget.reserve(digest(1), refund(), 4_000_000n)
    budget.lose(digest(1))
    await expect(budget.reserve(digest(2), refund(), 2_000_000n)).rejects.toMatchObject(overQuota('account'))
    clock.ms += DAY_MS
    await budget.reserve(digest(2), refund(), 2_000_000n)
  })
})
