import { describe, expect, test } from 'vitest'
import { firstBlockSince, RangeRefusedError } from '../../../src/chain/logReader.js'
import { createRpc } from '../../../src/chain/rpc.js'
import type { Hex } from '../../../src/protocol/hex.js'
import {
  createEscrowEvents,
  createRangeReader,
  type EscrowEvents,
} from '../../../src/server/escrow/escrowLogs.js'
import { useChain } from '../../support/chain.js'
import { bytes32, openBuy, openRequest, setUpInstitution, usd } from '../../support/institution.js'
import { refundOrder, settleOrder } from '../../support/orderEnds.js'

const chain = useChain(setUpInstitution)

function realEvents(): EscrowEvents {
  const { anvil, addresses } = chain()
  return createEscrowEvents({
    rpc: createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000 }),
    escrow: addresses.orderEscrow,
    stopping: new AbortController().signal,
  })
}

async function deadlineOf(orderId: Hex): Promise<number> {
  const order = await chain().read('escrow', 'orders', orderId)
  return Number(Array.isArray(order) ? order[2] : undefined)
}

/** A node that refuses ranges of more blocks than it likes. */
function limitedEvents(limit: number): { events: EscrowEvents; asked: [number, number][] } {
  const asked: [number, number][] = []
  const events: EscrowEvents = {
    head: async () => ({ number: 1_000, hash: '0x' }),
    blockTime: async () => 0,
    async read({ from, to }) {
      asked.push([from, to])
      if (to - from + 1 > limit) throw new RangeRefusedError('too many blocks')
      return { events: [], parent: null, last: { number: to, hash: '0x' } }
    },
  }
  return { events, asked }
}

describe('the events of the escrow', () => {
  test('are read in their order, with their place on the chain', async () => {
    const from = (await realEvents().head()).number + 1
    const bought = await openBuy(chain(), 'alice', 'bought', usd(10))
    const asked = await openRequest(chain(), 'bob', 'asked')
    const settled = await settleOrder(chain(), bought)
    await refundOrder(chain(), asked)
    const { number: to } = await realEvents().head()
    const events = (await realEvents().read({ from, to }))?.events ?? []
    expect(events).toMatchObject([
      {
        kind: 'opened',
        orderId: bought,
        account: chain().account('alice'),
        commit: bytes32('bought sealed'),
        deadline: await deadlineOf(bought),
      },
      { kind: 'opened', orderId: asked, account: chain().account('bob') },
      { kind: 'settled', orderId: bought, txHash: settled.hash },
      { kind: 'refunded', orderId: asked },
    ])
    const blocks = events.map(({ position }) => position.block)
    expect(blocks).toEqual([from, from + 1, from + 2, from + 3])
  })

  test('are read of one order alone, too', async () => {
    const from = (await realEvents().head()).number + 1
    const bought = await openBuy(chain(), 'alice', 'bought', usd(10))
    const asked = await openRequest(chain(), 'bob', 'asked')
    await refundOrder(chain(), asked)
    const { number: to } = await realEvents().head()
    expect(await realEvents().read({ from, to }, bought)).toMatchObject({ events: [{ orderId: bought }] })
    expect(await realEvents().read({ from, to }, asked)).toMatchObject({
      events: [
        { kind: 'opened', orderId: asked },
        { kind: 'refunded', orderId: asked },
      ],
    })
  })

  test('beyond the head of the node are not taken for none', async () => {
    const { number: head } = await realEvents().head()
    expect(await realEvents().read({ from: head, to: head + 1 })).toBeUndefined()
  })
})

describe('a long range', () => {
  test('is read in pieces that the node takes, which grow again', async () => {
    const { events, asked } = limitedEvents(30)
    const ranges = createRangeReader(events, 100)
    expect((await ranges.readPiece({ from: 1, to: 200 }))?.to).toBe(25)
    expect((await ranges.readPiece({ from: 26, to: 200 }))?.to).toBe(50)
    expect(asked).toEqual([
      [1, 100],
      [1, 50],
      [1, 25],
      [26, 50],
    ])
  })

  test('of which not even one block is given is an error', async () => {
    const ranges = createRangeReader(limitedEvents(0).events, 8)
    await expect(ranges.readPiece({ from: 1, to: 9 })).rejects.toThrow(RangeRefusedError)
  })
})

describe('the first block since a time', () => {
  test('is found on a real chain', async () => {
    const start = await chain().now()
    for (let n = 1; n <= 9; n++) await chain().mineAt(start + n * 100)
    const events = realEvents()
    const { number: head } = await events.head()
    expect(await firstBlockSince(events.blockTime, start + 500, head)).toBe(head - 4)
    expect(await firstBlockSince(events.blockTime, start + 401, head)).toBe(head - 4)
    expect(await firstBlockSince(events.blockTime, 0, head)).toBe(0)
    expect(await firstBlockSince(events.blockTime, start + 10_000, head)).toBe(head)
  })

  test('is no block that the node no longer has', async () => {
    const events = { ...limitedEvents(1).events, blockTime: async (n: number) => (n < 700 ? undefined : n) }
    expect(await firstBlockSince(events.blockTime, 5, 1_000)).toBe(700)
  })
})
