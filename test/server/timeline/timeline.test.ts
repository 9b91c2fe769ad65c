import { rm, writeFile } from 'node:fs/promises'
import { concat } from 'ethers'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { timelineSchema } from '../../../src/protocol/api.js'
import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { deployForwarder, sendData } from '../../contracts/fixtures/forwarder.js'
import { digestOf, orderOf, refund, signedCall } from '../../support/authorizations.js'
import { INTERFACES } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32, openRequest, soon } from '../../support/institution.js'
import { TOKEN } from '../../support/limitedApp.js'
import { refundNow, refundOrder, settlementNow, settleOrder } from '../../support/orderEnds.js'
import { ORDER, useOrders } from '../intake/ordersUnderTest.js'
import { bodyOf } from '../relay/relayUnderTest.js'

const { chain, setUp, openedEnvelope, junk } = useOrders()
const EIGHT_DAYS = 8 * 86_400

/** A server, and what an enclave would post to it. */
async function setUpWithRelay(overrides: Record<string, string> = {}) {
  const server = await setUp(overrides)
  const relay = (authorization: Authorization) =>
    server.api.post('/relay').set(TOKEN).send(bodyOf(chain(), authorization))
  return { ...server, relay }
}

const get = (url: string, orderId: Hex = ORDER) => request(url).get(`/orders/${orderId}/timeline`)

async function entriesOf(url: string, orderId: Hex = ORDER) {
  const response = await get(url, orderId)
  expect(response.status).toBe(200)
  const timeline = timelineSchema.parse(response.body)
  expect(timeline.orderId).toBe(orderId)
  return timeline.entries
}

/** The entries once they are of these kinds. */
function until(url: string, kinds: string[], orderId: Hex = ORDER) {
  let last: string[] = []
  return eventually(
    `the timeline ${kinds.join()}`,
    async () => {
      const entries = await entriesOf(url, orderId)
      last = entries.map(({ kind }) => kind)
      return last.join() === kinds.join() && entries
    },
    20_000,
  ).catch((error: unknown) => {
    throw new Error(`the last timeline was ${last.join()}`, { cause: error })
  })
}

/** The signature's 65 bytes end in the middle of a word. */
const PADDING_BYTES = 31

/** The call of the escrow that brings an authorization, and what it is known by. */
function callOf(authorization: Authorization) {
  const [, method, ...args] = signedCall(chain(), authorization)
  const data = INTERFACES.escrow.encodeFunctionData(method, args)
  return { method, args, data, digest: digestOf(chain(), authorization) }
}

/** Calls of a stranger beside the one that counts: a reclaim that does not happen, and a refund under another commit. */
async function junkFor(orderId: Hex): Promise<string> {
  const order = await orderOf(chain(), orderId)
  const { data } = callOf(refund({ ...order, commit: bytes32('junk') }))
  return concat([data, INTERFACES.escrow.encodeFunctionData('reclaim', [orderId])])
}

const SETTLED_KINDS = ['opened', 'received', 'triggered', 'relayed', 'transaction', 'settled']

describe('GET /orders/:orderId/timeline', () => {
  test('joins what server, relay and chain know of a settled order', async () => {
    const { url, post, enclave, relay } = await setUpWithRelay()
    await enclave.plan({ [ORDER]: [{ outcome: 'placed', retryAt: 4_000_000_000 }] })
    const { order, commit } = await openedEnvelope()
    const { body: received } = await post(order)
    await until(url, ['opened', 'received', 'triggered', 'outcome'])
    const settlement = await settlementNow(chain(), ORDER)
    const { body: receipt } = await relay(settlement).expect(200)
    const entries = await until(url, [
      'opened',
      'received',
      'triggered',
      'outcome',
      ...SETTLED_KINDS.slice(3),
    ])
    const digest = digestOf(chain(), settlement)
    const { txHash, blockNumber } = receipt
    const block = await chain().provider.getBlock(blockNumber)
    const minedAt = new Date((block?.timestamp ?? 0) * 1_000).toISOString()
    expect(entries.slice(1)).toEqual([
      { kind: 'received', at: received.receivedAt, commit },
      { kind: 'triggered', at: expect.any(String), attempt: 1, reason: 'received' },
      { kind: 'outcome', at: expect.any(String), attempt: 1, outcome: 'placed' },
      { kind: 'relayed', at: receipt.createdAt, digest, status: 'confirmed' },
      { kind: 'transaction', at: minedAt, digest, txHash, status: 'confirmed', blockNumber },
      { kind: 'settled', at: minedAt, event: 'OrderSettled', txHash, blockNumber },
    ])
  })

  test('shows what is relayed while it is under way', async () => {
    const { url, post, enclave, relay } = await setUpWithRelay({ RELAY_WAIT: '50ms' })
    await enclave.plan({ any: [{ outcome: 'placed', retryAt: 4_000_000_000 }] })
    const run = ['opened', 'received', 'triggered', 'outcome']
    await post((await openedEnvelope()).order)
    await until(url, run)
    await chain().provider.send('evm_setAutomine', [false])
    onTestFinished(() => chain().provider.send('evm_setAutomine', [true]))
    const settlement = await settlementNow(chain(), ORDER)
    await relay(settlement).expect(202)
    const entries = await until(url, [...run, 'relayed', 'transaction'])
    const [relayed, transaction] = entries.slice(run.length)
    expect(relayed).toMatchObject({ digest: digestOf(chain(), settlement), status: 'submitted' })
    expect(transaction).toMatchObject({ status: 'submitted', blockNumber: null })
    await chain().provider.send('evm_mine', [])
    const whole = await until(url, [...run, 'relayed', 'transaction', 'settled'])
    expect(whole.at(-2)).toMatchObject({ status: 'confirmed', blockNumber: expect.any(Number) })
  })

  test('knows a stored envelope before its escrow opens, and none that is not the order’s after', async () => {
    const { url, post } = await setUp()
    const { order, commit } = await junk('junk')
    await post(order)
    expect(await entriesOf(url)).toMatchObject([{ kind: 'received', commit }])
    await openedEnvelope()
    await until(url, ['opened'])
  })

  test('tells a reclaim from a refund, though their event is the same', async () => {
    const { url } = await setUp()
    const orderId = await openRequest(chain(), 'alice', 'taken back')
    const late = await openRequest(chain(), 'bob', 'refunded late')
    await chain().mineAt((await chain().now()) + EIGHT_DAYS + 86_400)
    await chain().send('alice', 'escrow', 'reclaim', orderId)
    await refundOrder(chain(), late)
    expect((await entriesOf(url, orderId)).map(({ kind }) => kind)).toEqual(['opened', 'reclaimed'])
    const kinds = (await entriesOf(url, late)).map(({ kind }) => kind)
    expect(kinds).toEqual(['opened', 'transaction', 'refunded'])
  })

  test('tells what ended an order whose call lost its padding, or came through another contract', async () => {
    const { url } = await setUp()
    const { forward } = await deployForwarder(chain())
    const cut = await openRequest(chain(), 'alice', 'cut')
    const passedOn = await openRequest(chain(), 'alice', 'passed on')
    const settled = await openRequest(chain(), 'bob', 'settled so')
    await chain().mineAt((await chain().now()) + EIGHT_DAYS + 86_400)

    const first = callOf(await refundNow(chain(), cut))
    const { hash } = await sendData(
      chain(),
      first.data.slice(0, -2 * PADDING_BYTES),
      chain().addressOf('escrow'),
    )
    expect((await entriesOf(url, cut)).slice(1)).toMatchObject([
      { kind: 'transaction', digest: first.digest, txHash: hash },
      { kind: 'refunded', txHash: hash },
    ])
    for (const [orderId, authorization, kind] of [
      [passedOn, await refundNow(chain(), passedOn), 'refunded'],
      [settled, await settlementNow(chain(), settled), 'settled'],
    ] as const) {
      const { method, args, digest } = callOf(authorization)
      const sent = await forward(method, args, await junkFor(orderId))
      expect((await entriesOf(url, orderId)).slice(1)).toMatchObject([
        { kind: 'transaction', digest, txHash: sent.hash },
        { kind, txHash: sent.hash },
      ])
    }
  })

  test('tells the reclaim of a smart account, whatever else its transaction holds', async () => {
    const { url } = await setUp()
    const { address, forward } = await deployForwarder(chain())
    await chain().send('owner', 'token', 'setKyc', address, true)
    const orderId = bytes32('of a contract')
    await forward('openRequest', [orderId, bytes32('sealed'), await soon(chain())])
    await chain().mineAt((await chain().now()) + EIGHT_DAYS + 86_400)
    await forward('reclaim', [orderId], await junkFor(orderId))
    expect((await entriesOf(url, orderId)).map(({ kind }) => kind)).toEqual(['opened', 'reclaimed'])
  })
})

test('an order of long ago is searched for in small ranges of blocks, and nothing is asked while the head stands still', async () => {
  const orderId = await openRequest(chain(), 'alice', 'long ago')
  const { blockNumber } = await refundOrder(chain(), orderId)
  // The server looks for the events of 38 days when it starts.
  await chain().mineAt((await chain().now()) + 40 * 86_400)
  await chain().provider.send('anvil_mine', ['0x12c'])
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { url } = await setUp({ RPC_URL: proxy.url, RPC_LOG_RANGE: '10' })
  expect((await entriesOf(url, orderId)).at(-1)).toMatchObject({ kind: 'refunded', blockNumber })
  const queries = () => proxy.requests.flat().filter((method) => method === 'eth_getLogs').length
  // The server looks for other events, too, but not with each read.
  await eventually('a read that asks nothing', async () => {
    const before = queries()
    await entriesOf(url, orderId)
    return queries() === before
  })
})

test('a restart keeps the timeline; without DATA_DIR the chain’s part of it', async () => {
  const first = await setUpWithRelay()
  const gate = `${first.dataDir}.go`
  await first.enclave.plan({ [ORDER]: [{ outcome: 'settled', untilFile: gate }] })
  const { order } = await openedEnvelope()
  await first.post(order)
  await until(first.url, ['opened', 'received', 'triggered'])
  await first.relay(await settlementNow(chain(), ORDER)).expect(200)
  await writeFile(gate, '')
  const entries = await until(first.url, [...SETTLED_KINDS, 'outcome'])
  await first.stop()

  const second = await first.restart()
  expect(await entriesOf(second.url)).toEqual(entries)
  await second.stop()

  await rm(first.dataDir, { recursive: true })
  const third = await first.restart()
  const onChain = entries.filter(({ kind }) => ['opened', 'transaction', 'settled'].includes(kind))
  expect(await entriesOf(third.url)).toEqual(onChain)
})

test('a reorganization takes an event off the list, and puts it on again', async () => {
  const { url } = await setUp()
  const orderId = await openRequest(chain(), 'alice', 'unlucky')
  await chain().provider.send('anvil_mine', ['0x2'])
  await settleOrder(chain(), orderId)
  await until(url, ['opened', 'transaction', 'settled'], orderId)
  await chain().provider.send('anvil_reorg', [2, []])
  await chain().provider.send('anvil_mine', ['0x4'])
  await until(url, ['opened'], orderId)
  await refundOrder(chain(), orderId)
  await until(url, ['opened', 'transaction', 'refunded'], orderId)
})
