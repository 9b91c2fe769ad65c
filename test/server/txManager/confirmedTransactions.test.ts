import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { createConfirmedTransactions } from '../../../src/server/txManager/confirmations.js'

const hashOf = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`

/** Settled transactions on a chain that has lost all of them, and the places of those that were told. */
function lost() {
  const told: number[] = []
  const settled = createConfirmedTransactions(async () => null)
  const add = (index: number, blockNumber: number) =>
    settled.add({
      transaction: {
        hash: hashOf(index),
        to: null,
        blockNumber,
        blockHash: hashOf(blockNumber),
        gasUsed: 21_000n,
        succeeded: true,
        loggedBy: [],
      },
      dropped: () => told.push(index),
    })
  return { settled, add, told }
}

test('what was reported is watched until 64 blocks are on top', async () => {
  const { settled, add, told } = lost()
  add(0, 100)
  add(1, 101)
  settled.forget(164)
  settled.suspectAll()
  await settled.check()
  expect(told).toEqual([1])
  add(2, 100)
  settled.forget(163)
  settled.suspectAll()
  await settled.check()
  expect(told).toEqual([1, 2])
})

test('4,096 reports are watched, and the oldest let go of beyond them', async () => {
  const { settled, add, told } = lost()
  for (let index = 0; index < 4_097; index++) add(index, 100)
  settled.suspectAll()
  await settled.check()
  expect(told).toHaveLength(4_096)
  expect(told).not.toContain(0)
})

test('nothing is put back onto a chain that was reset', async () => {
  const { settled, add, told } = lost()
  add(0, 100)
  settled.suspectAll()
  settled.clear()
  await settled.check()
  expect([told, settled.isEmpty()]).toEqual([[], true])
})
