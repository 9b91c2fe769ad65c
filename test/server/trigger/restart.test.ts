import { rm, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { createContracts } from '../../../src/chain/contracts.js'
import { createRpc } from '../../../src/chain/rpc.js'
import { createViewCaller } from '../../../src/chain/views.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { refundOrder, settleOrder } from '../../support/orderEnds.js'
import type { Step } from '../../support/scriptedEnclave.js'
import { dropStored, openIds, setStoredText, storedText } from '../../support/storedRows.js'
import { openStores, putRow } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { outcomes, PLACED, triggerSetting } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const [A, B, C] = [bytes32('A'), bytes32('B'), bytes32('C')]

async function setUp(plan: Record<string, Step[]> = {}) {
  return triggerSetting(chain(), plan)
}

describe('a run that outlives its server', () => {
  test('and began without the envelope is followed by one with it, which came during the run', async () => {
    const directory = await temporaryDirectory()
    const untilFile = `${directory}/go`
    const { start, enclave } = await setUp({ [A]: [{ outcome: 'rejected', untilFile }, PLACED] })
    const envelope = await sealOrder('late')
    await openFor(chain(), 'alice', A, envelope)
    const first = await start()
    await eventually('the run', async () => (await enclave.notes()).length > 0)
    await first.store(A, envelope)
    await first.stop()
    const second = await start()
    await eventually('the start', () => second.logText().includes('open orders read'))
    await writeFile(untilFile, '')
    await second.until(A, 'a run with it', (found) => outcomes(found)[1] === 'placed')
    expect((await enclave.jobs()).map((job) => 'envelope' in job)).toEqual([false, true])
  })
})

describe('a record that cannot be read', () => {
  test('holds up its own account at the start, and no other, until it can be', async () => {
    const { start, root, keys, enclave } = await setUp({
      any: [{ outcome: 'failed', retryAt: 4_000_000_000 }],
    })
    const first = await start()
    await first.place('alice', A)
    await first.until(A, 'its outcome', (record) => outcomes(record)[0] === 'failed')
    await first.stop()
    await enclave.plan({ any: [PLACED] })
    const text = storedText(root, 'orders', A) ?? ''
    setStoredText(root, 'orders', A, 'no record')
    const second = await start()
    await second.place('alice', B)
    await second.place('bob', C)
    await second.until(C, 'its run', (record) => outcomes(record)[0] === 'placed')
    expect(await keys()).toEqual([A, C])
    expect(second.logLines()).toContainEqual(
      expect.objectContaining({
        msg: 'order deferred: its record fails',
        recordId: A,
        errorCode: 'UNREADABLE_RECORD',
      }),
    )
    setStoredText(root, 'orders', A, text)
    await second.until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
    expect(await keys()).toEqual([A, C, A, B])
  })

  test('holds up no later event', async () => {
    const { start, root, keys } = await setUp()
    const { place, store, until } = await start()
    const unreadable = { id: A, version: 1, isOpen: false, uniqueKey: null, doc: 'no record' }
    await putRow((await openStores(root)).engine, 'orders', unreadable)
    const envelope = await sealOrder(A)
    await openFor(chain(), 'alice', A, envelope)
    await place('alice', B)
    await place('bob', C)
    await until(C, 'its run', (record) => outcomes(record)[0] === 'placed')
    expect(await keys()).toEqual([C])
    dropStored(root, 'orders', A)
    await store(A, envelope)
    await until(A, 'its run', (record) => outcomes(record)[0] === 'placed')
    await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
  })
})

describe('the start', () => {
  test('neither asks for nor reads the orders that have ended, however many they are', async () => {
    const { start, root } = await setUp({ [B]: [PLACED, { outcome: 'done' }] })
    const first = await start()
    for (const [role, orderId] of [
      ['alice', A],
      ['bob', B],
      ['alice', C],
    ] as const) {
      await first.place(role, orderId)
      await first.until(orderId, 'its run', (record) => outcomes(record)[0] === 'placed')
    }
    await settleOrder(chain(), A)
    await refundOrder(chain(), B)
    await eventually('their end', () => openIds(root, 'orders').length === 1)
    await eventually('the runs', () => openIds(root, 'runs').length === 0)
    await first.stop()
    // The log would name an unreadable one.
    for (const orderId of [A, B]) setStoredText(root, 'orders', orderId, 'not a record')

    const { anvil, addresses } = chain()
    const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000, chainId: anvil.chainId })
    const { escrow } = createContracts(createViewCaller(rpc), addresses)
    const asked: Hex[] = []
    const orders = (orderId: Hex) => {
      asked.push(orderId)
      return escrow.orders(orderId)
    }
    const second = await start({ escrow: { ...escrow, orders } })
    await eventually('the start', () => second.logText().includes('open orders read'))
    await second.stop()
    expect(new Set(asked)).toEqual(new Set([C]))
    expect(second.logText()).not.toContain('stored record not readable')
  })

  test('does not prolong the wait of an order because the clock was set back before it', async () => {
    const { start } = await setUp({ [A]: [{ outcome: 'queued', retryAt: 4_000_000_000 }, PLACED] })
    const first = await start()
    await first.place('alice', A)
    await first.until(A, 'its outcome', (record) => outcomes(record)[0] === 'queued')
    await first.stop()
    const endedAt = Date.now() + 3_600_000
    const iso = (unixMs: number) => new Date(unixMs).toISOString()
    await first.records.update(A, (record) => {
      if (record === undefined) return undefined
      const triggers = record.triggers.map((trigger) => ({ ...trigger, finishedAt: iso(endedAt) }))
      return { ...record, triggers, nextTriggerAt: iso(endedAt + 1_000) }
    })
    const second = await start()
    await second.until(A, 'the follow-up', (record) => outcomes(record)[1] === 'placed')
  })

  test('runs an order that waits for gas, because the operator may have raised the limit', async () => {
    const noGas = { outcome: 'queued', retryAt: 4_000_000_000, code: 'relay-budget-exhausted' } as const
    const { start } = await setUp({ [A]: [noGas, PLACED] })
    const first = await start()
    await first.place('alice', A)
    await first.until(A, 'its outcome', (record) => outcomes(record)[0] === 'queued')
    await first.stop()
    const second = await start()
    await second.until(A, 'another run', (record) => outcomes(record)[1] === 'placed')
  })

  test('runs an open escrow without its envelope when the cache is lost, and with it once it is posted', async () => {
    const { start, root, enclave } = await setUp({ [A]: [PLACED, { outcome: 'rejected' }, PLACED] })
    const first = await start()
    const envelope = await first.place('alice', A)
    await first.until(A, 'its outcome', (record) => outcomes(record)[0] === 'placed')
    await first.stop()
    await rm(root, { recursive: true })
    const second = await start()
    const recovered = await second.until(A, 'a run', (record) => outcomes(record)[0] === 'rejected')
    expect(recovered).toMatchObject({ candidates: [], triggers: [{ attempt: 1, reason: 'recovered' }] })
    await second.store(A, envelope)
    const record = await second.until(A, 'another run', (found) => outcomes(found)[1] === 'placed')
    expect(record.triggers[1]?.reason).toBe('received')
    expect((await enclave.jobs()).map((job) => 'envelope' in job)).toEqual([true, false, true])
  })

  test('finds escrows through many small ranges of blocks, but none older than 38 days', async () => {
    const { start, keys } = await setUp()
    await openFor(chain(), 'alice', A, await sealOrder('old'))
    await chain().mineAt((await chain().now()) + 38 * 86_400 + 60)
    await chain().provider.send('anvil_mine', ['0x20'])
    await openFor(chain(), 'alice', B, await sealOrder('new'))
    const { until } = await start({ env: { RPC_LOG_RANGE: '3' } })
    await until(B, 'its run', (record) => outcomes(record)[0] === 'placed')
    expect(await keys()).toEqual([B])
  })

  test('runs a stored order that was opened longer ago, too', async () => {
    const { start, keys } = await setUp({ [A]: [{ outcome: 'failed', retryAt: 4_000_000_000 }] })
    const first = await start()
    await first.place('alice', A)
    await first.until(A, 'its outcome', (record) => outcomes(record)[0] === 'failed')
    await first.stop()
    await chain().mineAt((await chain().now()) + 40 * 86_400)
    const second = await start()
    await second.until(A, 'a second run', (record) => outcomes(record)[1] === 'failed')
    expect(await keys()).toEqual([A, A])
  })
})
