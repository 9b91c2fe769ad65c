import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { createGasBudget } from '../../../src/server/relay/gasBudget.js'
import {
  createJobRecord,
  pendingRecord,
  SupersededError,
  submitted,
  withLimit,
} from '../../../src/server/relay/record.js'
import { createReceiptStore, type RelayRecord } from '../../../src/server/store/receipts.js'
import { createLogLines } from '../../support/logLines.js'
import { createLateEngine, openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const DIGEST: Hex = `0x${'ab'.repeat(32)}`
const ADDRESS: Hex = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

const PENDING = pendingRecord(
  {
    digest: DIGEST,
    primaryType: 'BatchMint',
    target: ADDRESS,
    data: '0x01020304',
    purpose: { kind: 'platform' },
  },
  ADDRESS,
)

/** With its nth transaction. */
function sent(n: number): RelayRecord {
  const next = submitted(PENDING, { nonce: 7, hash: `0x${`0${n}`.repeat(32)}`, raw: `0x0${n}` })
  return { ...next, receipt: { ...next.receipt, updatedAt: new Date(n).toISOString() } }
}

/** A job's record at its first version. */
async function setUp() {
  const late = createLateEngine((await openStores(await temporaryDirectory())).engine)
  const store = createReceiptStore({ engine: late.engine, logger: createLogLines().logger })
  await late.engine.transact([store.toChange(PENDING, 0)])
  const limits = { perDay: 1_000n, reserve: 0n, perAccount: 1_000n, perInstitution: 1_000n }
  const { logger } = createLogLines()
  const budget = createGasBudget({ engine: late.engine, store, limits, now: () => 0, logger })
  const record = createJobRecord(store, budget, { record: PENDING, version: 1 })
  return { late, store, budget, record }
}

test('a job goes on from a version that was written after its write had failed and the next one had looked for it', async () => {
  const { late, store, record } = await setUp()
  for (const n of [1, 2]) {
    late.delay()
    await expect(record.put(sent(n))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  }
  await late.land()
  await record.put(sent(3))
  expect(record.current()).toEqual(sent(3))
  expect(await store.find(DIGEST)).toEqual({ record: sent(3), version: 3 })
})

test('a job goes on from a version that is written between its look and its next write', async () => {
  const { late, store, record } = await setUp()
  late.delay()
  await expect(record.put(sent(1))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  const next = record.put(sent(2))
  await late.land()
  await next
  expect(await store.find(DIGEST)).toEqual({ record: sent(2), version: 3 })
})

test("a job ends where another server's version stands, also in the place of a write that failed", async () => {
  const { late, store, record } = await setUp()
  late.delay()
  await expect(record.put(sent(1))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await late.engine.transact([store.toChange(sent(2), 1)])
  await late.land()
  await expect(record.put(sent(3))).rejects.toThrow(SupersededError)
  expect(await store.find(DIGEST)).toEqual({ record: sent(2), version: 2 })
})

test('gas that is set aside by a write without an answer is set aside once', async () => {
  const { late, budget, record } = await setUp()
  late.delay()
  await expect(record.put(withLimit(PENDING, 600n))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await late.land()
  await record.put(withLimit(PENDING, 700n))
  await budget.refresh()
  expect(budget.remaining().gasRemaining).toBe(300n)
})

test('a job whose gas was refused goes on from its record', async () => {
  const { store, record } = await setUp()
  await expect(record.put(withLimit(PENDING, 1_001n))).rejects.toMatchObject({ name: 'RelayRefusal' })
  await record.put(sent(1))
  expect(await store.find(DIGEST)).toEqual({ record: sent(1), version: 2 })
})
