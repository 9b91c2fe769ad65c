import { expect, it } from 'vitest'
import { createReplay } from '../../src/enclave/doctor/actionBooks.js'

it('a claim that enters the list in the second of its moment is replayed on what stood before it', () => {
  const recordAt = 1_800_000_000
  const history = {
    actions: [{ kind: 'ENTITLEMENT', index: 0, symbol: 'AAPL', recordAt }],
    ...{ entered: [1], ended: new Map(), moments: new Map([[recordAt, 2]]) },
  } as const
  const replay = createReplay([], history, { fills: new Map(), payouts: new Map(), schedules: [] })
  expect(replay.now()).toEqual({ positions: {}, cash: { least: 0n, most: 0n } })
})
