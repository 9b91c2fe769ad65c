import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { createConfirmedTransactions } from '../../../src/server/txManager/confirmations.js'

const hashOf = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`

/** Of the look that finds each transaction. */
const HEAD = 101

/** Confirmed transactions on a chain that has lost all of them, and the places of those that were dropped. */
function lost() {
  const dropped: number[] = []
  const confirmed = createConfirmedTransactions(async () => null)
  const add = (index: number, blockNumber: number) =>
    confirmed.add(
      {
        transaction: {
          hash: hashOf(index),
          to: null,
          blockNumber,
          blockHash: hashOf(blockNumber),
          gasUsed: 21_000n,
          succeeded: true,
          loggedBy: [],
        },
        dropped: () => dropped.push(index),
      },
      HEAD,
    )
  return { confirmed, add, dropped }
}

test('a reported transaction is watched until 64 blocks are on top', async () => {
  const { confirmed, add, dropped } = lost()
  add(0, 100)
  add(1, 101)
  confirmed.forget(164)
  confirmed.suspectAll()
  await confirmed.check(HEAD)
  expect(dropped).toEqual([1])
  add(2, 100)
  confirmed.forget(163)
  confirmed.suspectAll()
  await confirmed.check(HEAD)
  expect(dropped).toEqual([1, 2])
})

test('4,096 reports are watched, and the oldest let go of beyond them', async () => {
  const { confirmed, add, dropped } = lost()
  for (let index = 0; index < 4_097; index++) add(index, 100)
  confirmed.suspectAll()
  await confirmed.check(HEAD)
  expect(dropped).toHaveLength(4_096)
  expect(dropped).not.toContain(0)
})
