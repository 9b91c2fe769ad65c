import { expect, test } from 'vitest'
import { StorageError } from '../../../src/server/store/storageError.js'
import { createDeferredUpdates, type News } from '../../../src/server/trigger/scheduler.js'
import { bytes32 } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'

const ACCOUNT = `0x${'11'.repeat(20)}` as const
const ORDER = {
  orderId: bytes32('A'),
  account: ACCOUNT,
  commit: bytes32('commit'),
  position: { block: 1, logIndex: 0 },
}

function setUp() {
  const held: string[] = []
  const deferred = createDeferredUpdates({
    hold: (account) => held.push(account),
    letGo: (account) => held.splice(held.indexOf(account), 1),
    logger: createLogLines().logger,
  })
  const put = (state: News['state']) =>
    deferred.attempt({ order: ORDER, state }, () => Promise.reject(new StorageError('injected')))
  const done = (state: News['state']) => deferred.attempt({ order: ORDER, state }, async () => undefined)
  return { held, deferred, put, done }
}

test.each(['OPEN', 'REFUNDED'] as const)('an order that is %s holds its account once', async (state) => {
  const { held, put, done } = setUp()
  await put(state)
  await put(state)
  expect(held).toEqual([ACCOUNT])
  await done(state)
  expect(held).toEqual([])
})

test('an order that is settled holds nothing', async () => {
  const { held, deferred, put, done } = setUp()
  await put('SETTLED')
  expect(held).toEqual([])
  expect(deferred.find(ORDER.orderId)?.state).toBe('SETTLED')
  await done('SETTLED')
  expect(held).toEqual([])
  expect(deferred.find(ORDER.orderId)).toBeUndefined()
})

test('an order lets its account go as soon as it is settled, and holds it again if it is open after all', async () => {
  const { held, put, done } = setUp()
  await put('OPEN')
  await put('SETTLED')
  expect(held).toEqual([])
  await put('OPEN')
  expect(held).toEqual([ACCOUNT])
  await done('OPEN')
  expect(held).toEqual([])
})
