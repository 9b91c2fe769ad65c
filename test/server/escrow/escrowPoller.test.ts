import { describe, expect, onTestFinished, test } from 'vitest'
import type { BlockId } from '../../../src/chain/logReader.js'
import {
  createRangeReader,
  type EscrowEvent,
  type EscrowEvents,
} from '../../../src/server/escrow/escrowLogs.js'
import { createEscrowPoller } from '../../../src/server/escrow/escrowPoller.js'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'

/** A chain of blocks in memory, each with one event at most, of which a part can be replaced. */
function createBlocks(length: number) {
  const hashes = Array.from({ length }, (_, number) => `old ${number}`)
  const reads: [number, number][] = []
  const blockAt = (number: number): BlockId | null => {
    const name = hashes[number]
    return name === undefined ? null : { number, hash: bytes32(name) }
  }
  const eventIn = (block: number): EscrowEvent => {
    const position = { block, logIndex: 0 }
    const orderId = bytes32(`${hashes[block]}`)
    return { kind: 'settled', id: `${hashes[block]} 0`, orderId, position, txHash: orderId }
  }
  const events: EscrowEvents = {
    head: async () => blockAt(hashes.length - 1) ?? { number: 0, hash: '0x' },
    blockTime: async (block) => block,
    async read({ from, to }) {
      const last = blockAt(to)
      if (last === null) return undefined
      reads.push([from, to])
      const range = Array.from({ length: to - from + 1 }, (_, index) => eventIn(from + index))
      return { events: range, parent: blockAt(from - 1), last }
    },
  }
  return { hashes, reads, events }
}

async function startWatcher(length: number) {
  const blocks = createBlocks(length)
  const dealtWith: string[] = []
  let looks = 0
  const poller = createEscrowPoller({
    events: blocks.events,
    ranges: createRangeReader(blocks.events, 100),
    intervalMs: 10,
    recover: async () => {
      const block = await blocks.events.head()
      const range = await blocks.events.read({ from: 0, to: block.number })
      blocks.reads.length = 0
      return { block, events: range?.events ?? [] }
    },
    onEvent: async ({ id }) => {
      dealtWith.push(id)
    },
    onPolled: async () => {
      looks++
    },
    logger: createLogLines().logger,
  })
  await poller.start()
  onTestFinished(() => poller.stop())
  const looked = async () => {
    const before = looks
    await eventually('two more looks', () => looks >= before + 2)
  }
  await looked()
  return { ...blocks, dealtWith, looked }
}

describe('the escrow poller', () => {
  test('goes back when blocks below a higher head were replaced', async () => {
    const { hashes, reads, dealtWith, looked } = await startWatcher(200)
    hashes.splice(198, 2, 'new 198', 'new 199', 'new 200')
    await looked()
    expect(reads).toEqual([
      [200, 200],
      [136, 200],
    ])
    // An event that was dealt with is gone: all that are read again count as new.
    expect(dealtWith.slice(-3)).toEqual(['new 198 0', 'new 199 0', 'new 200 0'])
  })

  test('goes back when the head itself was replaced, or is lower', async () => {
    const { hashes, dealtWith, looked } = await startWatcher(200)
    hashes.splice(199, 1, 'new 199')
    await looked()
    expect(dealtWith.at(-1)).toBe('new 199 0')
    hashes.splice(150, 50, 'newer 150')
    await looked()
    expect(dealtWith.at(-1)).toBe('newer 150 0')
  })

  test('notices a replacement between two pieces of one look', async () => {
    const { hashes, reads, events, dealtWith, looked } = await startWatcher(200)
    const read = events.read
    let replaced = false
    events.read = async (range) => {
      const piece = await read(range)
      if (!replaced) hashes.splice(250, 60, ...Array.from({ length: 60 }, (_, n) => `new ${250 + n}`))
      replaced = true
      return piece
    }
    hashes.push(...Array.from({ length: 110 }, (_, n) => `old ${200 + n}`))
    await looked()
    expect(reads.slice(0, 2)).toEqual([
      [200, 299],
      [300, 309],
    ])
    expect(dealtWith.at(-1)).toBe('new 309 0')
    expect(dealtWith).toContain('new 250 0')
  })
})
