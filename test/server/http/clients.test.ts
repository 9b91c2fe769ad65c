import request from 'supertest'
import { expect, test } from 'vitest'
import type { RpcCall } from '../../../src/chain/rpc.js'
import { hexOf } from '../../../src/protocol/hex.js'
import { createReaders } from '../../../src/server/http/clients.js'
import { buildReads } from '../../../src/server/reads/chainHead.js'
import { bytes32 } from '../../support/institution.js'
import { limitedApp } from '../../support/limitedApp.js'
import { createLogLines } from '../../support/logLines.js'
import { serverConfig } from '../../support/serverEnvironment.js'

test('the reads of a client that cause more than 60 calls of a node a second have to wait; those of others do not', () => {
  let now = 0
  const readers = createReaders(() => now)
  const ask = (client: string, calls: number) => readers.answer(client, () => readers.charge(calls))
  for (let n = 0; n < 500; n++) ask('office', 2)
  expect(readers.waitMs('office')).toBeCloseTo(0)
  // The first thousand calls are free; these 600 are ten seconds' worth.
  ask('office', 600)
  expect([readers.waitMs('office'), readers.waitMs('another')]).toEqual([expect.closeTo(10_000), 0])
  now += 10_001
  expect(readers.waitMs('office')).toBe(0)
})

test('each member whose order an address has posted adds 50 calls of a node a minute, once', () => {
  const readers = createReaders(() => 0)
  const ask = (client: string, calls: number) => readers.answer(client, () => readers.charge(calls))
  for (let n = 0; n < 144; n++) {
    const member = hexOf(20).parse(`0x${`${n % 72}`.padStart(40, '0')}`)
    readers.answer('office', () => readers.noteMember(member))
  }
  // Twice as many as without the 72 members: two thousand are free, and 1,200 more are ten seconds' worth.
  ask('office', 2_000)
  expect(readers.waitMs('office')).toBeCloseTo(0)
  ask('office', 1_200)
  ask('another', 1_600)
  expect([readers.waitMs('office'), readers.waitMs('another')]).toEqual([
    expect.closeTo(10_000),
    expect.closeTo(10_000),
  ])
})

test('a read that all clients share costs none of them', () => {
  const readers = createReaders(() => 0)
  readers.answer('office', () => readers.shared(() => readers.charge(5_000)))
  expect(readers.waitMs('office')).toBe(0)
})

test('timelines of one client, however many at once, cause a minute of calls beyond the first thousand, and are refused', async () => {
  let sent = 0
  const rpc = {
    faults: () => [null],
    async send(calls: readonly RpcCall[]) {
      sent += calls.length
      return calls.map(() => ({ result: null }))
    },
  }
  const readers = createReaders(() => 0)
  const { timelines } = buildReads({ config: serverConfig(), rpc, readers, logger: createLogLines().logger })
  const askAs = (client: string, ask: () => Promise<unknown>) =>
    new Promise((resolve) => readers.answer(client, () => resolve(ask())))
  const search = () => timelines.rpc.send([{ method: 'eth_getLogs', params: [] }])
  const ends = await Promise.allSettled(Array.from({ length: 6_000 }, () => askAs('127.0.0.1', search)))
  expect(sent).toBe(4_600)
  const refused = { code: 'rate-limited', headers: { 'Retry-After': '60' } }
  expect(ends.at(-1)).toMatchObject({ reason: refused })
  // A view wraps its refusal. The request began while the client had calls left.
  const { app } = limitedApp({
    readers: { ...readers, waitMs: () => 0 },
    answer: (_req, _res, next) => void timelines.contracts.escrow.orders(bytes32('A')).catch(next),
  })
  const late = await request(app).get(`/orders/${bytes32('A')}/timeline`)
  expect([late.status, late.body.code, late.headers['retry-after']]).toEqual([429, 'rate-limited', '60'])
  await askAs('another', search)
  expect(sent).toBe(4_601)
})
