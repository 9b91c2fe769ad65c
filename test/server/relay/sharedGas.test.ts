import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { checksum } from '../../../src/protocol/address.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createGasBudget, type GasBudget } from '../../../src/server/relay/gasBudget.js'
import { type Engine, StorageError, storageError } from '../../../src/server/store/engine.js'
import type { GasPurpose } from '../../../src/server/store/receipts.js'
import { handled } from '../../support/handled.js'
import { createLogLines } from '../../support/logLines.js'
import { storedGas } from '../../support/storedGas.js'
import { storedText } from '../../support/storedRows.js'
import { createFailingEngine, openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const PLATFORM: GasPurpose = { kind: 'platform' }
const ALICE = checksum(`0x${'a1'.repeat(20)}`)
const LIMITS = { perDay: 10_000_000n, reserve: 1_000_000n, perAccount: 4_000_000n, perInstitution: 1n << 60n }
const DAY_MS = 86_400_000

const digest = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const hold = (order: number): GasPurpose => ({ kind: 'hold', orderId: digest(order), account: ALICE })
const finish = (order: number): GasPurpose => ({ kind: 'finish', orderId: digest(order), account: ALICE })
const refund: GasPurpose = { kind: 'account', account: ALICE }

/** Budgets of several servers on one database. */
async function budgetsOf(servers: number, limits = LIMITS, delayMs = 0) {
  const root = await temporaryDirectory()
  const clock = { ms: 20_000 * DAY_MS + 1_000 }
  const { engine, left } = createFailingEngine((await openStores(root)).engine)
  const { logger } = createLogLines()
  const delayed: Engine = {
    ...engine,
    isShared: true,
    async get(...args) {
      if (delayMs > 0) await sleep(delayMs)
      return engine.get(...args)
    },
    async put(...args) {
      if (delayMs > 0) await sleep(delayMs)
      return engine.put(...args)
    },
  }
  const start = async () => {
    const budget = createGasBudget({
      engine: delayed,
      limits,
      now: () => clock.ms,
      logger,
    })
    await budget.service.start()
    return budget
  }
  const budgets = await Promise.all(Array.from({ length: servers }, start))
  const stored = () => storedGas((id) => storedText(root, 'state', id))
  return { budgets, start, clock, left, stored }
}

const isTaken = (budget: GasBudget, number: number, purpose: GasPurpose, gas: bigint) =>
  budget.reserve(digest(number), purpose, gas).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ name: 'RelayRefusal' })
      return false
    },
  )

test('the limit of a day is one total, however many servers set gas aside at once', async () => {
  const { budgets } = await budgetsOf(3)
  const taken = await Promise.all(
    Array.from({ length: 60 }, async (_, number) => {
      const budget = budgets[number % budgets.length]
      return budget !== undefined && isTaken(budget, number + 1, PLATFORM, 299_000n)
    }),
  )
  const count = taken.filter((isIt) => isIt).length
  // Each server may keep a margin of a thousandth of the limit to itself.
  expect(count).toBeLessThanOrEqual(30)
  expect(count).toBeGreaterThanOrEqual(29)
})

test('the quota of an account is one, whichever server its orders come to', async () => {
  const { budgets } = await budgetsOf(2)
  const taken = await Promise.all(
    Array.from({ length: 40 }, async (_, number) => {
      const budget = budgets[number % budgets.length]
      return budget !== undefined && isTaken(budget, number + 1, refund, 300_000n)
    }),
  )
  expect(taken.filter((isIt) => isIt)).toHaveLength(13)
})

test('an order that one server holds is finished by another, with the gas that was booked for it', async () => {
  const { budgets, stored } = await budgetsOf(2)
  const [one, other] = budgets
  if (one === undefined || other === undefined) throw new Error('no budgets')
  await one.reserve(digest(1), hold(1), 400_000n)
  one.spend(digest(1), 400_000n)
  await one.end(digest(1), hold(1), true)
  await other.reserve(digest(2), PLATFORM, 7_480_000n)
  await expect(other.reserve(digest(3), PLATFORM, 300_000n)).rejects.toMatchObject({
    reason: { code: 'relay-budget-exhausted' },
  })
  // The mark is a write of an order that is held, as this server finds out.
  await other.reserve(digest(4), hold(1), 400_000n)
  other.spend(digest(4), 400_000n)
  await other.end(digest(4), hold(1), true)
  await other.reserve(digest(5), finish(1), 500_000n)
  other.spend(digest(5), 500_000n)
  other.spend(digest(2), 7_480_000n)
  await other.end(digest(2), PLATFORM, true)
  await other.end(digest(5), finish(1), true)
  await expect.poll(stored).toMatchObject({ held: [], gas: 8_780_000n })
  await one.refresh()
  expect(one.left()).toEqual({ gasLeft: 220_000n, reserveLeft: 1_000_000n, booked: 0n })
})

test('a server that is idle has stored what it used, and nothing beyond', async () => {
  const { budgets, stored } = await budgetsOf(2)
  const [one, other] = budgets
  if (one === undefined || other === undefined) throw new Error('no budgets')
  await one.reserve(digest(1), PLATFORM, 800_000n)
  await other.reserve(digest(2), refund, 700_000n)
  one.spend(digest(1), 500_000n)
  await one.end(digest(1), PLATFORM, true)
  other.spend(digest(2), 600_000n)
  await other.end(digest(2), refund, true)
  await expect.poll(stored).toMatchObject({ gas: 1_100_000n, holders: [{ holder: ALICE, gas: 600_000n }] })
})

test('a write whose answer was lost counts once', async () => {
  const { budgets, left, stored } = await budgetsOf(2)
  const [one, other] = budgets
  if (one === undefined || other === undefined) throw new Error('no budgets')
  await one.reserve(digest(3), refund, 100_000n)
  left.answers = 1
  await expect(one.reserve(digest(1), refund, 2_000_000n)).rejects.toMatchObject({ name: 'StorageError' })
  await one.reserve(digest(1), refund, 2_000_000n)
  await other.reserve(digest(2), refund, 1_800_000n)
  await one.end(digest(1), refund, false)
  await one.end(digest(3), refund, false)
  await other.end(digest(2), refund, false)
  await expect.poll(stored).toMatchObject({ gas: 0n, holders: [] })
})

test('the next day begins for all servers with the first, whose clock may be ahead', async () => {
  const { budgets, start, clock } = await budgetsOf(1)
  const [behind] = budgets
  if (behind === undefined) throw new Error('no budget')
  await behind.reserve(digest(1), refund, 3_000_000n)
  behind.spend(digest(1), 3_000_000n)
  await behind.end(digest(1), refund, true)
  await behind.refresh()
  const own = clock.ms
  clock.ms += DAY_MS
  const ahead = await start()
  await ahead.reserve(digest(2), refund, 2_500_000n)
  clock.ms = own
  await expect(behind.reserve(digest(3), refund, 2_000_000n)).rejects.toMatchObject({
    reason: { code: 'relay-quota-exhausted' },
  })
  await behind.reserve(digest(3), refund, 1_500_000n)
})

test('a request that comes while another server’s count is being read is decided by that count', async () => {
  const { budgets } = await budgetsOf(2, LIMITS, 3)
  const [one, other] = budgets
  if (one === undefined || other === undefined) throw new Error('no budgets')
  let taken = 0
  const posts: Promise<void>[] = []
  for (let number = 1; number <= 60; number++) {
    const post = isTaken(number % 3 === 0 ? other : one, number, refund, 300_000n)
    const counted = post.then((isIt) => {
      if (isIt) taken++
    })
    posts.push(handled(counted))
    // Between the steps of a write, whichever it is at.
    await sleep(1)
  }
  await Promise.all(posts)
  expect(taken).toBe(13)
})

test('a server that has slept while the others wrote more than all rows hold goes on from the newest count', async () => {
  const { budgets } = await budgetsOf(2, { ...LIMITS, perAccount: 9_000_000n })
  const [sleeper, other] = budgets
  if (sleeper === undefined || other === undefined) throw new Error('no budgets')
  await sleeper.reserve(digest(1), refund, 1_000_000n)
  for (let number = 2; number <= 600; number++) {
    await other.reserve(digest(number), refund, 10_000n)
    other.spend(digest(number), 1_000n)
  }
  // 1,599,000 of Alice's are used: gas that the sleeper sets aside is not counted twice.
  await expect(sleeper.reserve(digest(601), PLATFORM, 7_450_000n)).rejects.toMatchObject({
    reason: { code: 'relay-budget-exhausted' },
  })
  await sleeper.reserve(digest(601), PLATFORM, 7_350_000n)
  sleeper.spend(digest(1), 900_000n)
  await sleeper.end(digest(1), refund, true)
  await sleeper.end(digest(601), PLATFORM, false)
  await other.end(digest(2), refund, true)
  await expect
    .poll(async () => {
      await other.refresh()
      return other.left().gasLeft
    })
    .toBe(9_000_000n - 1_499_000n)
})

test('of two writes that time out, the first may land after the next look, and counts as itself', async () => {
  const { engine } = await openStores(await temporaryDirectory())
  const { logger } = createLogLines()
  const fate: { now: 'written' | 'late' | 'lost' } = { now: 'written' }
  let land = async () => {}
  const stalled: Engine = {
    ...engine,
    isShared: true,
    async put(...args) {
      if (fate.now === 'written') return engine.put(...args)
      if (fate.now === 'late') land = async () => void (await engine.put(...args))
      throw storageError('ETIMEDOUT')
    },
  }
  const start = async (on: Engine) => {
    const now = () => 20_000 * DAY_MS + 1_000
    const budget = createGasBudget({ engine: on, limits: { ...LIMITS, reserve: 0n }, now, logger })
    await budget.service.start()
    return budget
  }
  const own = await start(stalled)
  const other = await start({ ...engine, isShared: true })
  await other.reserve(digest(90), refund, 100_000n)
  other.spend(digest(90), 100_000n)
  await other.end(digest(90), refund, true)
  await other.refresh()
  await own.refresh()
  fate.now = 'late'
  await expect(own.reserve(digest(1), refund, 10_000n)).rejects.toThrow(StorageError)
  fate.now = 'lost'
  await expect(own.reserve(digest(2), refund, 3_000_000n)).rejects.toThrow(StorageError)
  await land()
  fate.now = 'written'
  expect(await isTaken(own, 3, refund, 1_000n)).toBe(true)
  own.spend(digest(3), 1_000n)
  await own.end(digest(3), refund, true)
  await own.refresh()
  const third = await start({ ...engine, isShared: true })
  expect(third.left().gasLeft).toBe(LIMITS.perDay - 101_000n)
})
