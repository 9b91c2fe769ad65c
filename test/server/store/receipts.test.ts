import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { fencedEngine } from '../../../src/server/store/leaseHolder.js'
import {
  createReceiptStore,
  createSaveNoOp,
  NO_GAS,
  type RelayRecord,
} from '../../../src/server/store/receipts.js'
import { createLogLines } from '../../support/logLines.js'
import { createFailingEngine, openStores, takeOver } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const DIGEST: Hex = `0x${'ab'.repeat(32)}`
const ADDRESS: Hex = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const OTHER: Hex = `0x${'cd'.repeat(32)}`

function record(status: RelayRecord['receipt']['status'], digest = DIGEST): RelayRecord {
  const at = '2030-01-02T14:30:00.000Z'
  const mined = { txHash: null, blockNumber: null, gasUsed: null, error: null }
  const target: Hex = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  return {
    receipt: { digest, primaryType: 'BatchMint', target, status, ...mined, createdAt: at, updatedAt: at },
    data: '0x01020304',
    purpose: { kind: 'platform' },
    gas: NO_GAS,
    transactions: [],
  }
}

async function setUp() {
  const { engine } = await openStores(await temporaryDirectory())
  const failing = createFailingEngine(engine)
  const open = () => createReceiptStore({ engine: failing.engine, logger: createLogLines().logger })
  return { open, left: failing.left }
}

test('a receipt is unfinished until it is final, and again when it is taken up again', async () => {
  const { open } = await setUp()
  const store = open()
  expect(await store.put(OTHER, record('confirmed', OTHER), 0)).toBe(true)
  for (const [version, status] of (
    ['pending', 'submitted', 'failed', 'submitted', 'confirmed', 'pending'] as const
  ).entries()) {
    expect(await store.put(DIGEST, record(status), version)).toBe(true)
    expect(await store.put(DIGEST, record('failed'), version)).toBe(false)
    expect(await store.get(DIGEST)).toEqual(record(status))
    const isFinal = status === 'failed' || status === 'confirmed'
    expect(await open().unfinished()).toEqual(
      isFinal ? [] : [{ record: record(status), version: version + 1 }],
    )
  }
})

test('a receipt that was not accepted is not found by the next start', async () => {
  const { open, left } = await setUp()
  left.writes = 1
  await expect(open().put(DIGEST, record('submitted'), 0)).rejects.toMatchObject({ name: 'StorageError' })
  expect(await open().unfinished()).toEqual([])
  expect(await open().get(DIGEST)).toBeUndefined()
})

test('no-op transactions are kept by their nonce, as long as the account is this server’s', async () => {
  const { engine } = await openStores(await temporaryDirectory())
  const { logger } = createLogLines()
  const fence = await takeOver(engine, 'relayer')
  const fenced = fencedEngine(engine, { fence, end() {} })
  const save = createSaveNoOp({ engine: fenced, address: ADDRESS, logger })
  const [first, raised] = [DIGEST, OTHER].map((hash) => ({ nonce: 7, hash, raw: '0x02' as const }))
  if (first === undefined || raised === undefined) throw new Error('no transactions')
  await save(first)
  await save(raised)
  const kept = async () => JSON.parse((await engine.get('state', `no-op:${ADDRESS}:7`))?.doc ?? '')
  expect(await kept()).toEqual([first, raised])
  await takeOver(engine, 'relayer')
  await expect(save(first)).rejects.toMatchObject({ code: 'LEASE_LOST' })
  expect(await kept()).toEqual([first, raised])
})
