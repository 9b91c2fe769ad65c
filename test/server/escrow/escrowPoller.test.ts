import { describe, expect, onTestFinished, test } from 'vitest'
import { createRangeReader } from '../../../src/server/escrow/escrowLogs.js'
import { createEscrowPoller } from '../../../src/server/escrow/escrowPoller.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { createBlocks } from './blocksInMemory.js'

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
    expect(reads).toEqual(['200-200', '136-200'])
    // An event that was dealt with is gone: all that are read again count as new.
    expect(dealtWith.slice(-3)).toEqual(['new 198', 'new 199', 'new 200'])
  })

  test('goes back when the head itself was replaced, or is lower', async () => {
    const { hashes, dealtWith, looked } = await startWatcher(200)
    hashes.splice(199, 1, 'new 199')
    await looked()
    expect(dealtWith.at(-1)).toBe('new 199')
    hashes.splice(150, 50, 'newer 150')
    await looked()
    expect(dealtWith.at(-1)).toBe('newer 150')
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
    expect(reads.slice(0, 2)).toEqual(['200-299', '300-309'])
    expect(dealtWith.at(-1)).toBe('new 309')
    expect(dealtWith).toContain('new 250')
  })
})
