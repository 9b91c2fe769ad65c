import { expect, test } from 'vitest'
import { StorageError } from '../../../../src/server/store/storageError.js'
import { createOwed, type News } from '../../../../src/server/trigger/queue/owed.js'
import { bytes32 } from '../../../support/institution.js'
import { createLogLines } from '../../../support/logLines.js'

const ACCOUNT = `0x${'11'.repeat(20)}` as const
const ORDER = {
  orderId: bytes32('A'),
  account: ACCOUNT,
  commit: bytes32('commit'),
  position: { block: 1, logIndex: 0 },
}

function setUp() {
  const held: string[] = []
  const owed = createOwed({
    hold: (account) => held.push(account),
    letGo: (account) => held.splice(held.indexOf(account), 1),
    logger: createLogLines().logger,
  })
  const put = (state: News['state']) =>
    owed.attempt({ order: ORDER, state }, () => Promise.reject(new StorageError('injected')))
  const done = (state: News['state']) => owed.attempt({ order: ORDER, state }, async () => undefined)
  return { held, owed, put, done }
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
  const { held, owed, put, done } = setUp()
  await put('SETTLED')
  expect(held).toEqual([])
  expect(owed.find(ORDER.orderId)?.state).toBe('SETTLED')
  await done('SETTLED')
  expect(held).toEqual([])
  expect(owed.find(ORDER.orderId)).toBeUndefined()
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
