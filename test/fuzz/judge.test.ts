// That the fuzzer finds what it looks for.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PROBLEMS, type ProblemCode } from '../../src/server/http/problemCodes.js'
import { type Answer, answersIn } from './connection.js'
import { growthOf } from './growth.js'
import { judge } from './judge.js'
import { anyExchange, type WireRequest } from './requests.js'

const get = (target: string): WireRequest => ({ method: 'GET', target, headers: [], body: undefined })
const ORDER = `/orders/0x${'5a'.repeat(32)}`
const CLOCK = '{"isOpen":true,"nextOpen":"2026-01-05T14:30:00Z","nextClose":"2026-01-05T21:00:00Z"}'

function problem(code: ProblemCode, changes: object = {}): Answer {
  const { status, title } = PROBLEMS[code]
  const type = `/errors#${code}`
  const body = { type, title, status, detail: '', instance: '', code, requestId: 'a', ...changes }
  return answer(status, JSON.stringify(body), 'application/problem+json; charset=utf-8')
}

function answer(status: number, body: string, type = 'application/json; charset=utf-8'): Answer {
  return { status, body, headers: new Map(Object.entries({ 'x-request-id': 'a', 'content-type': type })) }
}

describe('the judge', () => {
  test('has nothing against what is documented', () => {
    expect(judge('server', problem('order-not-found', { instance: ORDER }), get(ORDER))).toBeUndefined()
    expect(judge('server', problem('not-found'), get('/nothing'))).toBeUndefined()
    expect(judge('server', problem('relay-unauthorized'), get('/relay/x/y'))).toBeUndefined()
    expect(judge('server', answer(200, CLOCK), get('/market/clock'))).toBeUndefined()
    expect(judge('enclave', problem('run-too-late'), { ...get('/'), method: 'POST' })).toBeUndefined()
  })

  test.each<[string, Answer, string]>([
    ['a status of another route', problem('institution-not-found'), ORDER],
    ['a problem of the enclave', problem('run-too-late'), ORDER],
    ['an outage, where nothing is out', problem('chain-unavailable'), ORDER],
    ['a defect', problem('internal-error'), ORDER],
    ['a defect, whatever was asked', problem('internal-error'), 'http://['],
    ['another status than the code’s', { ...problem('order-not-found'), status: 400 }, ORDER],
    ['another title', problem('order-not-found', { title: 'x' }), ORDER],
    ['another type', problem('order-not-found', { type: '/x' }), ORDER],
    ['another requestId', problem('order-not-found', { requestId: 'b' }), ORDER],
    ['an instance of another request', problem('order-not-found', { instance: '/health' }), ORDER],
    ['a problem without its type', answer(404, '{}'), ORDER],
    ['a page', answer(404, '<html>', 'application/problem+json; charset=utf-8'), ORDER],
    ['no request id', { ...problem('order-not-found'), headers: new Map() }, ORDER],
    ['a success of another shape', answer(200, '{"isOpen":1}'), '/market/clock'],
    ['a success of another status', answer(202, CLOCK), '/market/clock'],
    ['a success that is no JSON', answer(200, 'x'), '/market/clock'],
    ['304 unasked', answer(304, ''), '/market/clock'],
    ['204 to what is no preflight', answer(204, ''), '/market/clock'],
  ])('finds %s', (_what, wrong, target) => {
    expect(judge('server', wrong, get(target))).toBeTypeOf('string')
  })
})

describe('the held resources', () => {
  const EXCHANGES = 1_000_000
  const growthWith = (heapOf: (round: number) => number, handles = (_round: number) => 1) =>
    growthOf(
      Array.from({ length: 10 }, (_, round) => ({
        heapUsed: heapOf(round),
        handles: handles(round),
        descriptors: 1,
      })),
      EXCHANGES,
    )

  test('may grow while caches fill, in the first half, and not by a few bytes with every exchange', () => {
    expect(growthWith((round) => 40e6 + 10e6 * Math.min(round, 5))).toEqual([])
    expect(growthWith((round) => 40e6 + 10e6 * Math.min(round, 7))).toHaveLength(1)
    expect(growthWith((round) => 40e6 + 7 * (EXCHANGES / 10) * round)).toHaveLength(1)
    expect(growthWith((round) => (round % 2 === 0 ? 90e6 : 40e6))).toEqual([])
  })

  test('may not be ever more handles', () => {
    expect(
      growthWith(
        () => 40e6,
        (round) => round,
      ),
    ).toEqual([expect.stringContaining('handles')])
  })
})

test('the answers of a connection are told apart, and what is none is found', () => {
  const bytes = Buffer.from(
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 405 X\r\nContent-Length: 9\r\n\r\n',
  )
  const read = answersIn(bytes, (index) => index === 1).map(({ status, body }) => [status, body])
  expect(read).toEqual([
    [200, 'ab'],
    [405, ''],
  ])
  for (const none of [
    'SSH-2.0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 2',
  ]) {
    expect(() => answersIn(Buffer.from(none), () => false)).toThrow()
  }
})

test('the same seed makes the same requests, most of them with every member of their schemas', () => {
  const world = {
    parameters: { orderId: ['0x01'], digest: ['0x02'], orgId: ['0x03'], address: ['0x04'], runId: ['a'] },
    bodies: {},
  }
  const sample = (seed: number) =>
    fc
      .sample(anyExchange('server', world), { seed, numRuns: 100 })
      .map(({ requests }) => requests.map(({ method, target }) => `${method} ${target}`))
  expect(sample(7)).toEqual(sample(7))
  expect(sample(8)).not.toEqual(sample(7))
  for (const path of ['POST /orders', 'POST /policy', 'POST /relay', 'GET /market']) {
    expect(sample(7).flat()).toContain(path)
  }
})
