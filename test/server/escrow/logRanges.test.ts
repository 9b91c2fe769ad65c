import { describe, expect, test } from 'vitest'
import { firstBlockSince, RangeRefusedError } from '../../../src/chain/logReader.js'
import { createRpc } from '../../../src/chain/rpc.js'
import {
  createEscrowEvents,
  createRangeReader,
  type EscrowEvents,
} from '../../../src/server/escrow/escrowLogs.js'
import { useChain } from '../../support/chain.js'
import { setUpInstitution } from '../../support/institution.js'

const chain = useChain(setUpInstitution)

function realEvents(): EscrowEvents {
  const { anvil, addresses } = chain()
  return createEscrowEvents({
    rpc: createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000 }),
    escrow: addresses.orderEscrow,
    stopping: new AbortController().signal,
  })
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

  test('is an error when the node gives not even one block of it', async () => {
    const ranges = createRangeReader(limitedEvents(0).events, 8)
    await expect(ranges.readPiece({ from: 1, to: 9 })).rejects.toThrow(RangeRefusedError)
  })
})

describe('the first block since a time', () => {
  test('is no block that the node no longer has', async () => {
    const events = { ...limitedEvents(1).events, blockTime: async (n: number) => (n < 700 ? undefined : n) }
    expect(await firstBlockSince(events.blockTime, 5, 1_000)).toBe(700)
  })
})
