import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { createConfirmedTransactions } from '../../../src/server/txManager/confirmations.js'

const hashOf = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`

test('a transaction above the head is asked for again only where another block, or none, is there in place of its own', async () => {
  const dropped: number[] = []
  const blocks = new Map([
    [102, hashOf(102)],
    [103, hashOf(9)],
  ])
  const confirmed = createConfirmedTransactions(
    async () => null,
    async (block) => {
      const found = blocks.get(block)
      if (found === undefined) throw new Error('no block')
      return found
    },
  )
  const transaction = { to: null, gasUsed: 21_000n, succeeded: true, loggedBy: [] }
  for (const blockNumber of [102, 103, 104, 105]) {
    const [hash, blockHash] = [hashOf(blockNumber - 100), hashOf(blockNumber)]
    confirmed.add(
      {
        transaction: { ...transaction, hash, blockHash, blockNumber },
        dropped: () => dropped.push(blockNumber),
      },
      101,
    )
  }
  await confirmed.check(104)
  expect(dropped).toEqual([103, 104])
  await confirmed.check(104)
  expect(dropped).toHaveLength(2)
  await confirmed.check(105)
  expect(dropped).toHaveLength(3)
})
