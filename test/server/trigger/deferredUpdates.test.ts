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

function setUp() {
  const suspended: string[] = []
  const deferred = createDeferredUpdates({
    suspend: (account) => suspended.push(account),
    resume: (account) => suspended.splice(suspended.indexOf(account), 1),
    logger: createLogLines().logger,
  })
  const put = (state: EscrowChange['state']) =>
    deferred.attempt({ order: ORDER, state }, () => Promise.reject(new StorageError('injected')))
  const done = (state: EscrowChange['state']) =>
    deferred.attempt({ order: ORDER, state }, async () => undefined)
  return { suspended, deferred, put, done }
}

test.each(['OPEN', 'REFUNDED'] as const)('an order that is %s suspends its account once', async (state) => {
  const { suspended, put, done } = setUp()
  await put(state)
  await put(state)
  expect(suspended).toEqual([ACCOUNT])
  await done(state)
  expect(suspended).toEqual([])
})

test('an order that is settled suspends no account', async () => {
  const { suspended, deferred, put, done } = setUp()
  await put('SETTLED')
  expect(suspended).toEqual([])
  expect(deferred.find(ORDER.orderId)?.state).toBe('SETTLED')
  await done('SETTLED')
  expect(suspended).toEqual([])
  expect(deferred.find(ORDER.orderId)).toBeUndefined()
})

test('an order resumes its account once it is settled, and suspends it again if it is open after all', async () => {
  const { suspended, put, done } = setUp()
  await put('OPEN')
  await put('SETTLED')
  expect(suspended).toEqual([])
  await put('OPEN')
  expect(suspended).toEqual([ACCOUNT])
  await done('OPEN')
  expect(suspended).toEqual([])
})
