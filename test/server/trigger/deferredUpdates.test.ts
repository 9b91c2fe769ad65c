import { expect, test } from 'vitest'
import { StorageError } from '../../../src/server/store/engine.js'
import { createDeferredUpdates, type EscrowChange } from '../../../src/server/trigger/scheduler.js'
import { bytes32 } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'

const ACCOUNT = `0x${'11'.repeat(20)}` as const
const ORDER = {
  orderId: bytes32('A'),
  account: ACCOUNT,
  commit: bytes32('commit'),
  position: { block: 1, logIndex: 0 },
}

test('an order that fails suspends its account, and only until it is settled or its record works', async () => {
  const deferred = createDeferredUpdates(createLogLines().logger)
  const attempt = (state: EscrowChange['state'], works: boolean) =>
    deferred.attempt({ order: ORDER, state }, async () => {
      if (!works) throw new StorageError('injected')
    })
  const steps = []
  for (const [state, works] of [
    ['OPEN', false],
    ['REFUNDED', false],
    ['SETTLED', false],
    ['OPEN', false],
    ['OPEN', true],
  ] as const) {
    await attempt(state, works)
    steps.push([deferred.suspended().size, deferred.find(ORDER.orderId)?.state])
  }
  expect(steps).toEqual([
    [1, 'OPEN'],
    [1, 'REFUNDED'],
    [0, 'SETTLED'],
    [1, 'OPEN'],
    [0, undefined],
  ])
})
