import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { faultsOfMemory, runManyOrders } from './support/manyOrders.js'

// The short form: `npm run test:soak -- many` is the long one.
/** More than the reader waits for an order that does not end. */
const TIMEOUT_MS = 400_000
const SMALL = { accounts: 4, orders: 12, print: () => undefined }

test('orders of many accounts that are posted in one go settle once each, and the money adds up', {
  timeout: TIMEOUT_MS,
}, async () => {
  const report = await runManyOrders({ ...SMALL, directory: await temporaryDirectory() })
  expect(report.violations.join('\n')).toBe('')
  expect(report).toMatchObject({ orders: SMALL.orders, settled: SMALL.orders })
})

test('memory that grows beyond its bound is found, in the server and in the enclave, and not in the local node', () => {
  const samples = Array.from({ length: 100 }, (_, at) => ({
    ended: at / 100,
    server: 100,
    enclave: 80 + at,
    node: at * 100,
  }))
  expect(faultsOfMemory(samples)).toEqual([])
  const growing = samples.map((sample) => ({ ...sample, enclave: 80 + sample.ended * 400 }))
  expect(faultsOfMemory(growing)).toEqual(['the memory of the enclave has grown from 160 to 438 MiB'])
})
