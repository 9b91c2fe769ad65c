import { describe, expect, test } from 'vitest'
import { createContracts, type OrderEscrow } from '../../../src/chain/contracts.js'
import { ChainAnswerError, RangeRefusedError } from '../../../src/chain/errors.js'
import { wordOf } from '../../../src/chain/logReader.js'
import { createRpc } from '../../../src/chain/rpc.js'
import { createViewCaller } from '../../../src/chain/views.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createEscrowEvents, type EscrowEvents } from '../../../src/server/escrow/escrowLogs.js'
import { createChainHead } from '../../../src/server/reads/chainHead.js'
import { createOrderHistories } from '../../../src/server/timeline/orderHistory.js'
import { domainOf } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32, openRequest, setUpInstitution } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'
import { refundOrder, settleOrder } from '../../support/orderEnds.js'

const chain = useChain(setUpInstitution)
const GO_ON = ['eth_getBlockByNumber', 'eth_getLogs', 'eth_getBlockByNumber']

/** Histories before a node that counts. The head moves when the test says so, as the escrow poller would. */
async function setUp(maxBlocks = 2_000, changes: Partial<EscrowEvents & Pick<OrderEscrow, 'orders'>> = {}) {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { chainId } = chain().anvil
  const rpc = createRpc({ urls: [proxy.url], timeoutMs: 5_000, chainId })
  const { escrow } = createContracts(createViewCaller(rpc), chain().addresses)
  const stopping = new AbortController().signal
  const events = { ...createEscrowEvents({ rpc, escrow: escrow.address, stopping }), ...changes }
  const histories = createOrderHistories({
    head: createChainHead({ events, maxAgeMs: 5_000, logger: createLogLines().logger }),
    events,
    escrow: { ...escrow, ...changes },
    ...{ rpc, domain: domainOf(chain(), 'OrderSettlement') },
    maxBlocks,
  })
  return {
    proxy,
    escrow,
    of: histories.of,
    observer: histories.observer,
    /** Tells the head as it is now. Not asked through the proxy. */
    async noteHead() {
      const head = await chain().provider.getBlock('latest')
      histories.observer.onHead({ number: head?.number ?? 0, hash: wordOf(head?.hash ?? '') })
    },
    /** The requests of one read, each with its methods. */
    async requestsOf(orderId: Hex) {
      const before = proxy.requests.length
      const history = await histories.of(orderId)
      return { history, requests: proxy.requests.slice(before) }
    },
  }
}

const mine = (blocks: number) => chain().provider.send('anvil_mine', [`0x${blocks.toString(16)}`])
const settle = (orderId: Hex) => settleOrder(chain(), orderId)

describe('a history', () => {
  test('asks nothing while the head stands still, and once when it has moved', async () => {
    const { of, noteHead, requestsOf } = await setUp()
    const orderId = await openRequest(chain(), 'alice', 'polled')
    expect(await of(orderId)).toMatchObject({ opened: { commit: bytes32('polled sealed') }, ended: null })
    expect((await requestsOf(orderId)).requests).toEqual([])
    await noteHead()
    expect((await requestsOf(orderId)).requests).toEqual([])
    await mine(3)
    await noteHead()
    expect((await requestsOf(orderId)).requests).toEqual([GO_ON])
    expect((await requestsOf(orderId)).requests).toEqual([])
  })

  test('waits for no other caller’s read', async () => {
    let asked = 0
    const { of, escrow } = await setUp(2_000, {
      orders: (orderId) => (asked++ === 0 ? new Promise(() => undefined) : escrow.orders(orderId)),
    })
    const orderId = await openRequest(chain(), 'alice', 'popular')
    void of(orderId)
    expect(await of(orderId)).toMatchObject({ opened: { commit: bytes32('popular sealed') } })
  })

  test('travels with those of other orders', async () => {
    const { of, noteHead, proxy } = await setUp()
    const ids = [await openRequest(chain(), 'alice', 'one'), await openRequest(chain(), 'bob', 'two')]
    await Promise.all(ids.map(of))
    await mine(1)
    await noteHead()
    proxy.requests.length = 0
    await Promise.all(ids.map(of))
    // The block before the range is asked for once; each asks for the last one after its logs.
    expect(proxy.requests).toEqual([[...GO_ON, 'eth_getLogs', 'eth_getBlockByNumber']])
  })

  test('is asked for until 64 blocks lie on the end of its order, and never again', async () => {
    const { of, noteHead, requestsOf } = await setUp()
    const orderId = await openRequest(chain(), 'alice', 'final')
    await settle(orderId)
    await of(orderId)
    await mine(63)
    await noteHead()
    expect((await requestsOf(orderId)).requests).toEqual([GO_ON])
    await mine(1)
    await noteHead()
    expect((await requestsOf(orderId)).requests).toEqual([GO_ON])
    await mine(5)
    await noteHead()
    const { history, requests } = await requestsOf(orderId)
    expect(requests).toEqual([])
    expect(history.ended?.kind).toBe('settled')
  })
})

describe('an order that was opened long ago', () => {
  test('is read from the block at which it was seen to be opened, without a search', async () => {
    const { of, observer, proxy } = await setUp(10)
    const orderId = await openRequest(chain(), 'alice', 'seen')
    const opened = await chain().provider.getBlockNumber()
    await settle(orderId)
    await mine(300)
    const [account, commit, deadline] = [chain().account('alice'), bytes32('seen sealed'), 0]
    const place = { id: '', orderId, position: { block: opened, logIndex: 0 }, txHash: orderId }
    observer.onEvents([{ kind: 'opened', ...place, account, commit, deadline }])
    expect(await of(orderId)).toMatchObject({ opened: { blockNumber: opened }, ended: { kind: 'settled' } })
    // The head alone, and no block on the way to the first one that is young enough.
    expect(proxy.requests.filter((methods) => methods.join() === 'eth_getBlockByNumber')).toHaveLength(1)
    // Pieces of ten blocks from a little before the opening; those behind the end are left out.
    expect(proxy.requests.filter((methods) => methods.join() === GO_ON.join()).length).toBeLessThan(20)
  })

  test('is searched for when nothing was seen of it', async () => {
    const { of } = await setUp(10)
    const orderId = await openRequest(chain(), 'alice', 'unseen')
    const opened = await chain().provider.getBlockNumber()
    const refunded = await refundOrder(chain(), orderId)
    await mine(300)
    expect(await of(orderId)).toMatchObject({
      opened: { blockNumber: opened },
      ended: { kind: 'refunded', blockNumber: refunded.blockNumber },
    })
  })

  test('and is still open is not looked for in every block since', async () => {
    const { of, noteHead, proxy } = await setUp(10)
    const orderId = await openRequest(chain(), 'alice', 'patient')
    await mine(600)
    expect(await of(orderId)).toMatchObject({ opened: { commit: bytes32('patient sealed') }, ended: null })
    expect(proxy.requests.length).toBeLessThan(45)
    await settle(orderId)
    await noteHead()
    expect((await of(orderId)).ended?.kind).toBe('settled')
  })
})

describe('a node', () => {
  test('behind the head changes nothing of what is known', async () => {
    const { of, observer } = await setUp()
    const orderId = await openRequest(chain(), 'alice', 'ahead')
    const known = await of(orderId)
    observer.onHead({ number: (await chain().provider.getBlockNumber()) + 5, hash: bytes32('unseen') })
    expect(await of(orderId)).toBe(known)
  })

  test.each([
    ['lagging', async () => undefined],
    ['refused', () => Promise.reject(new RangeRefusedError('too many blocks'))],
  ])('is an outage when it is %s and nothing is known', async (_how, read) => {
    const { of } = await setUp(2_000, { read })
    const orderId = await openRequest(chain(), 'alice', 'unread')
    await expect(of(orderId)).rejects.toThrow(ChainAnswerError)
  })
})
