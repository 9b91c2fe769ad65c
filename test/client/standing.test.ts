import { expect, it } from 'vitest'
import { type Standing, standingAt } from '../../src/client/past/facts.js'

const [JOINED, NOT] = [`0x${'0'.repeat(63)}1`, `0x${'0'.repeat(64)}`]
const at = (blockNumber: number, index: number, data: string) => ({ blockNumber, logIndex: index, data })

it.each<[string, Standing, ReturnType<typeof at>[]]>([
  ['was invited and joined before the rulebook', 'member', [at(3, 0, NOT), at(9, 1, JOINED)]],
  ['was invited before it and joined after', 'invited', [at(3, 0, NOT), at(10, 3, JOINED)]],
  [
    'was removed before it and joined again after',
    'invited',
    [at(3, 0, JOINED), at(4, 0, NOT), at(12, 0, JOINED)],
  ],
  ['was invited after it, in the same block', 'outsider', [at(10, 3, NOT), at(11, 0, JOINED)]],
  ['joined in its block, just before it', 'member', [at(10, 0, NOT), at(10, 1, JOINED)]],
  ['is leaving since', 'member', [at(2, 0, NOT), at(3, 0, JOINED), at(12, 0, NOT)]],
  ['is in no event at all', 'outsider', []],
])('of a wallet that %s: %s', (_, standing, changes) => {
  expect(standingAt({ blockNumber: 10, logIndex: 2 }, changes)).toBe(standing)
})
