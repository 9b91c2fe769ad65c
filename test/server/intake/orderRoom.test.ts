import { describe, expect, test } from 'vitest'
import { createContracts } from '../../../src/chain/contracts.js'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import { createRpc } from '../../../src/chain/rpc.js'
import { createViewCaller } from '../../../src/chain/views.js'
import { commitOf } from '../../../src/protocol/envelope.js'
import { createOrders } from '../../../src/server/intake/orders.js'
import { StorageError } from '../../../src/server/store/engine.js'
import { createOrderRecords } from '../../../src/server/store/orderRecords.js'
import { createUnopenedRoom } from '../../../src/server/trigger/envelopeQuota.js'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { openIds } from '../../support/storedRows.js'
import { createFailingEngine, openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { outcomes, startTrigger } from '../../support/triggerHarness.js'
import { ORDER, useOrders } from './ordersUnderTest.js'

const { chain, setUp } = useOrders()
const REFUSED = [429, 'too-many-waiting']

async function setUpRoom(overrides: Record<string, string>) {
  const server = await setUp({ TRUST_PROXY: '1', ...overrides })
  /** @returns status and code */
  async function postFrom(ip: string, order: object) {
    const { status, body, headers } = await server.post(order).set('X-Forwarded-For', ip)
    if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    return [status, body.code]
  }
  const stored = () => openIds(server.dataDir, 'orders').length
  return { ...server, postFrom, stored }
}

async function waiting(id: string) {
  return { orderId: bytes32(id), ...(await sealOrder(id)) }
}

describe('the envelopes that one client has waiting without an escrow', () => {
  test('are bounded in number; others, and those whose escrow opens, find room', async () => {
    const { postFrom, stored } = await setUpRoom({ ENVELOPE_MAX_PER_CLIENT: '2' })
    const first = await waiting('first')
    expect(await postFrom('192.0.2.1', first)).toEqual([202, undefined])
    expect(await postFrom('192.0.2.1', await waiting('second'))).toEqual([202, undefined])
    const envelope = await sealOrder('the real one')
    expect(await postFrom('192.0.2.1', { orderId: ORDER, ...envelope })).toEqual(REFUSED)
    // Posted again it takes no room; another one under the same order does.
    expect(await postFrom('192.0.2.1', first)).toEqual([202, undefined])
    const besides = { ...(await waiting('besides')), orderId: first.orderId }
    expect(await postFrom('192.0.2.1', besides)).toEqual(REFUSED)
    expect(stored()).toBe(2)
    expect(await postFrom('192.0.2.2', await waiting('of somebody else'))).toEqual([202, undefined])
    const opened = await openFor(chain(), 'alice', ORDER, envelope)
    expect(await postFrom('192.0.2.1', opened)).toEqual([202, undefined])
  })

  test('are bounded in bytes, counted as what lies on the disk', async () => {
    const { postFrom } = await setUpRoom({ ENVELOPE_MAX_BYTES_PER_CLIENT: '65536' })
    const answers = new Set<unknown>()
    let posted = 0
    // Under one order each envelope is written with all those before it.
    for (; posted < 8 && !answers.has(429); posted++) {
      const junk = { orderId: ORDER, ...(await sealOrder('x'.repeat(3_000))) }
      answers.add((await postFrom('192.0.2.1', junk))[0])
    }
    expect([...answers]).toEqual([202, 429])
    expect(posted).toBeLessThan(8)
    expect(await postFrom('192.0.2.2', await waiting('of somebody else'))).toEqual([202, undefined])
  })

  test('are as many of all that come at once', async () => {
    const { postFrom, stored } = await setUpRoom({ ENVELOPE_MAX_PER_CLIENT: '3' })
    const orders = await Promise.all(Array.from({ length: 20 }, (_, n) => waiting(`${n}`)))
    const answers = await Promise.all(orders.map((order) => postFrom('192.0.2.1', order)))
    expect(answers.filter(([status]) => status === 202)).toHaveLength(3)
    expect(answers.filter(([status]) => status === 429)).toHaveLength(17)
    expect(stored()).toBe(3)
  })

  test('make room when their escrow opens', async () => {
    const { postFrom, commitsRun } = await setUpRoom({ ENVELOPE_MAX_PER_CLIENT: '1' })
    const envelope = await sealOrder('the real one')
    expect(await postFrom('192.0.2.1', { orderId: ORDER, ...envelope })).toEqual([202, undefined])
    await openFor(chain(), 'alice', ORDER, envelope)
    await eventually('its run', async () => (await commitsRun())[0] === commitOf(envelope))
    const next = await waiting('next')
    await eventually('room', async () => (await postFrom('192.0.2.1', next))[0] === 202)
  })

  test('are not those that could not be written', async () => {
    const { engine, left } = createFailingEngine((await openStores(await temporaryDirectory())).engine)
    left.writes = 1
    const { logger } = createLogLines()
    const orders = createOrders({
      records: createOrderRecords({ engine, logger }),
      escrow: { orders: () => Promise.reject(new ChainUnavailableError(1)) },
      onEscrowSeen: () => undefined,
      onStored: () => undefined,
      room: createUnopenedRoom({ maxOrders: 1, maxPerClient: 1, maxBytesPerClient: 100_000 }),
      knownEscrow: () => undefined,
    })
    await expect(orders.receive(await waiting('first'), 'a client')).rejects.toThrow(StorageError)
    expect(await orders.receive(await waiting('second'), 'a client')).toMatchObject({ result: 'received' })
    expect(await orders.receive(await waiting('third'), 'a client')).toBe('full')
  })

  test('count after a restart, too, for all and whether or not the chain can be asked', async () => {
    const { postFrom, dataDir, stop } = await setUpRoom({ ENVELOPE_MAX_WAITING: '1' })
    expect(await postFrom('192.0.2.1', await waiting('first'))).toEqual([202, undefined])
    await stop()
    const restarted = await setUpRoom({
      ENVELOPE_MAX_WAITING: '1',
      DATA_DIR: dataDir,
      RPC_URL: 'http://127.0.0.1:1',
    })
    expect(await restarted.postFrom('192.0.2.2', await waiting('second'))).toEqual([503, 'intake-full'])
  })
})

async function setUpFailing() {
  const directory = await temporaryDirectory()
  const root = `${directory}/data`
  const { engine, left } = createFailingEngine((await openStores(root)).engine)
  const records = createOrderRecords({ engine, logger: createLogLines().logger })
  const enclave = await createScriptedEnclave(directory)
  await enclave.plan({ any: [{ outcome: 'placed', retryAt: 4_000_000_000 }] })
  const { trigger, until } = await startTrigger(chain(), enclave, root, { engine, records })
  const { anvil, addresses } = chain()
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000, chainId: anvil.chainId })
  const orders = createOrders({
    records,
    escrow: createContracts(createViewCaller(rpc), addresses).escrow,
    onEscrowSeen: () => undefined,
    onStored: trigger.onStored,
    room: trigger.room,
    knownEscrow: trigger.knownEscrow,
  })
  const post = async (envelope: Awaited<ReturnType<typeof sealOrder>>) =>
    orders.receive({ orderId: ORDER, ...envelope }, 'a client')
  return { post, trigger, until, left }
}

test.each([
  ['was refused', 'writes', 'received'],
  ['happened, though its answer was lost,', 'answers', 'already-received'],
] as const)('an envelope whose write %s runs once it is posted again', async (_what, fault, result) => {
  const { post, trigger, until, left } = await setUpFailing()
  await post(await sealOrder('junk'))
  const envelope = await sealOrder('the real one')
  await openFor(chain(), 'alice', ORDER, envelope)
  await eventually('its escrow', async () => trigger.knownEscrow(ORDER)?.state === 'OPEN')
  left[fault] = 1
  await expect(post(envelope)).rejects.toThrow(StorageError)
  expect(await post(envelope)).toMatchObject({ result, commit: commitOf(envelope) })
  await until(ORDER, 'its run', (record) => outcomes(record)[0] === 'placed')
})
