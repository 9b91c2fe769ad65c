import { rm, writeFile } from 'node:fs/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createContracts } from '../../../src/chain/contracts.js'
import { createRpc } from '../../../src/chain/rpc.js'
import { createViewCaller } from '../../../src/chain/views.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createUnopenedOrders } from '../../../src/server/trigger/envelopeQuota.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { refundOrder, settleOrder, UNOPENED } from '../../support/orderEnds.js'
import type { Step } from '../../support/scriptedEnclave.js'
import { openIds, setStoredText, storedText } from '../../support/storedRows.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { outcomes, PLACED, triggerSetting } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const [A, B, C] = [bytes32('A'), bytes32('B'), bytes32('C')]

const setUp = (plan: Record<string, Step[]> = {}) => triggerSetting(chain(), plan)

test('a run that outlives its server, and began without the envelope, is followed by one with it, which came during the run', async () => {
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

test('a record that cannot be read holds up its own account at the start, and no other, until it can be', async () => {
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

test('a stored order without an escrow holds up no other when its record fails', async () => {
  const { start, root } = await setUp()
  const { store, logLines } = await start({ env: { ENVELOPE_EXPIRY: '1s' } })
  await store(A, await sealOrder('unreadable'))
  setStoredText(root, 'orders', A, 'no record')
  await store(B, await sealOrder('never opened'))
  await eventually('only the unreadable one', () => openIds(root, 'orders').join() === A)
  const told = () => logLines().filter(({ msg }) => msg === 'envelope check deferred: its record fails')
  expect(told()).toEqual([expect.objectContaining({ recordId: A, errorCode: 'UNREADABLE_RECORD' })])
})

test('an order is asked for again every five minutes while another server reads the events', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const asked: string[] = []
  let readsEvents = false
  const unopened = createUnopenedOrders({
    escrow: {
      async orders(orderId) {
        asked.push(orderId)
        return UNOPENED
      },
    },
    records: { expire: async () => undefined },
    expiryMs: 3_600_000,
    room: { reserveStored() {}, free() {} },
    isSeen: () => false,
    readsEvents: () => readsEvents,
    logger: createLogLines().logger,
    onFound: async () => undefined,
  })
  unopened.note(A)
  const counts: number[] = []
  for (const seconds of [0, 299, 1]) {
    vi.advanceTimersByTime(seconds * 1_000)
    await unopened.check()
    counts.push(asked.length)
  }
  expect(counts).toEqual([1, 1, 2])
  readsEvents = true
  vi.advanceTimersByTime(3_000_000)
  await unopened.check()
  expect(asked).toHaveLength(2)
})

test('a stored order whose opening no event has shown runs all the same', async () => {
  const { start } = await setUp()
  const { chainId } = chain().anvil
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  proxy.answer = ({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined)
  const rpc = createRpc({ urls: [proxy.url], timeoutMs: 5_000, chainId })
  const { place, until } = await start({ rpc })
  await place('alice', A)
  const record = await until(A, 'its run', (found) => outcomes(found)[0] === 'placed')
  expect(record.triggers[0]?.reason).toBe('received')
})
