import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createRpc, type Rpc } from '../../../src/chain/rpc.js'
import { createUnopenedOrders } from '../../../src/server/trigger/envelopeQuota.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { UNOPENED } from '../../support/orderEnds.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { openIds, setStoredText } from '../../support/storedRows.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { outcomes, startTrigger } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const A = bytes32('A')
const B = bytes32('B')
const LEFT_FOR_LATER = 'envelope check deferred: its record fails'

/** A node that never shows an event. */
function withoutEvents(rpc: Pick<Rpc, 'send'>): Pick<Rpc, 'send'> {
  return {
    ...rpc,
    async send(calls, signal) {
      const answers = await rpc.send(calls, signal)
      return answers.map((answer, at) =>
        calls[at]?.method === 'eth_getLogs' ? { ...answer, result: [] } : answer,
      )
    },
  }
}

describe('a stored order without an escrow', () => {
  test('holds up no other when its record fails', async () => {
    const directory = await temporaryDirectory()
    const root = `${directory}/data`
    const { store, logLines } = await startTrigger(chain(), await createScriptedEnclave(directory), root, {
      env: { ENVELOPE_EXPIRY: '1s' },
    })
    await store(A, await sealOrder('unreadable'))
    setStoredText(root, 'orders', A, 'no record')
    await store(B, await sealOrder('never opened'))
    await eventually('only the unreadable one', () => openIds(root, 'orders').join() === A)
    const told = () => logLines().filter(({ msg }) => msg === LEFT_FOR_LATER)
    expect(told()).toEqual([expect.objectContaining({ recordId: A, errorCode: 'UNREADABLE_RECORD' })])
  })
})

test('an order is asked for again every five minutes while another server reads the events', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
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

describe('a stored order whose opening no event has shown', () => {
  test('runs all the same', async () => {
    const directory = await temporaryDirectory()
    const { rpcUrl, chainId } = chain().anvil
    const rpc = createRpc({ urls: [rpcUrl], timeoutMs: 5_000, chainId })
    const enclave = await createScriptedEnclave(directory)
    const { place, until } = await startTrigger(chain(), enclave, `${directory}/data`, {
      rpc: withoutEvents(rpc),
    })
    await place('alice', A)
    const record = await until(A, 'its run', (found) => outcomes(found)[0] === 'placed')
    expect(record.triggers[0]?.reason).toBe('received')
  })
})
