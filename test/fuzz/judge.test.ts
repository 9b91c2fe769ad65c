// That the fuzzer finds what it looks for.
import { describe, expect, test } from 'vitest'
import { PROBLEMS, type ProblemCode } from '../../src/server/http/problemCodes.js'
import { createRandom } from '../faults/random.js'
import { type Answer, createAnswerReader } from './support/answers.js'
import { nextExchange } from './support/exchanges.js'
import { BOUNDS, growthIn, growthOf, LATE_GROWTH } from './support/held.js'
import { createJudge } from './support/judge.js'
import { createTally } from './support/tally.js'
import type { WireRequest } from './support/wire.js'

const judge = createJudge('server')
const judgeEnclave = createJudge('enclave')
const get = (target: string): WireRequest => ({ method: 'GET', target, headers: [], body: undefined })
const HEALTH = JSON.stringify({
  status: 'ok',
  instance: 'a',
  boot: 1,
  pid: 1,
  program: 'a',
  configuredAt: 1,
  runs: 0,
  abandoned: 0,
})
const ORDER = `/orders/0x${'5a'.repeat(32)}`
const CLOCK = '{"isOpen":true,"nextOpen":"2026-01-05T14:30:00Z","nextClose":"2026-01-05T21:00:00Z"}'

function problem(code: ProblemCode, changes: object = {}): Answer {
  const { status, title } = PROBLEMS[code]
  const type = `/errors#${code}`
  const body = { type, title, status, detail: '', instance: '', code, requestId: 'a', ...changes }
  return answer(status, JSON.stringify(body), 'application/problem+json; charset=utf-8')
}

function answer(status: number, body: string, contentType = 'application/json; charset=utf-8'): Answer {
  return {
    status,
    body,
    headers: new Map([
      ['x-request-id', 'a'],
      ['content-type', contentType],
    ]),
  }
}

describe('the judge', () => {
  test('has nothing against what is documented', () => {
    expect(judge(problem('order-not-found', { instance: ORDER }), get(ORDER))).toBeUndefined()
    expect(judge(problem('not-found'), get('/nothing'))).toBeUndefined()
    expect(judge(problem('relay-unauthorized'), get('/relay/x/y'))).toBeUndefined()
    expect(judge(answer(200, CLOCK), get('/market/clock'))).toBeUndefined()
    expect(judgeEnclave(answer(200, HEALTH), get('/health'))).toBeUndefined()
    expect(judgeEnclave(problem('run-too-late'), { ...get('/'), method: 'POST' })).toBeUndefined()
    expect(
      judge(answer(204, ''), { ...get('/'), headers: [['Access-Control-Request-Method', 'POST']] }),
    ).toBeUndefined()
  })

  test.each<[string, Answer, string]>([
    ['a status of another route', problem('institution-not-found'), ORDER],
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
    expect(judge(wrong, get(target))).toBeTypeOf('string')
  })
})

test('the enclave is judged by its own routes', () => {
  expect(judge(problem('run-too-late'), get('/'))).toBeTypeOf('string')
  expect(judgeEnclave(problem('order-not-found'), get(ORDER))).toBeTypeOf('string')
  expect(judgeEnclave(answer(200, CLOCK), get('/market/clock'))).toBeTypeOf('string')
})

describe('the held resources', () => {
  const held = { heapUsed: 1, external: 1, arrayBuffers: 1, rss: 1, handles: 1, descriptors: 1 }
  const REQUESTS = 1_000_000
  /** Ten rounds, whose heap this tells, the first being 1. */
  const growthWith = (heapOf: (round: number) => number) =>
    growthOf(
      Array.from({ length: 10 }, (_, index) => ({ ...held, heapUsed: heapOf(index + 1) })),
      REQUESTS,
    )

  test('may grow up to the bound', () => {
    const grown = (name: keyof typeof BOUNDS, more: number) =>
      growthOf([held, { ...held, [name]: 1 + BOUNDS[name] + more }], REQUESTS).length
    for (const name of ['heapUsed', 'external', 'handles', 'descriptors'] as const) {
      expect([grown(name, 0), grown(name, 1)], name).toEqual([0, 1])
    }
    expect(growthOf([], REQUESTS)).toHaveLength(1)
  })

  test('may grow much while caches fill, in the first half', () => {
    expect(growthWith((round) => 40e6 + 10e6 * Math.min(round, 6))).toEqual([])
    expect(growthWith((round) => 40e6 + 10e6 * Math.min(round, 8))).toHaveLength(1)
  })

  test('may not grow by a little with every request', () => {
    const perRound = REQUESTS / 10
    expect(growthWith((round) => 40e6 + 200 * perRound * round)).toEqual([
      expect.stringMatching(/second half.* 20000000 in 100,000 requests/),
    ])
    const least = LATE_GROWTH.bytesPerRequest + LATE_GROWTH.bytes / (3 * perRound)
    expect(growthWith((round) => 40e6 + (least - 0.1) * perRound * round)).toEqual([])
    expect(growthWith((round) => 40e6 + (least + 0.1) * perRound * round)).toHaveLength(1)
  })

  test('may not grow by one reference with every request of the default length, nor by the seven bytes that it once did', () => {
    const perRound = REQUESTS / 10
    for (const bytes of [7, 8]) {
      expect(
        growthWith((round) => 40e6 + bytes * perRound * round),
        `${bytes}`,
      ).toHaveLength(1)
    }
  })

  test('by the enclave may grow for its own requests alone, one in twenty', () => {
    const tally = createTally()
    const pieces: Buffer[] = []
    const rounds = Array.from({ length: 10 }, (_, index) => index + 1)
    for (let sent = 0; sent < REQUESTS / 100; sent++) {
      const to = sent % 20 === 0 ? 'enclave' : 'server'
      tally.sent({ to, kind: 'valid', requests: Array(100).fill(get('/')), pieces, ending: 'answer' })
    }
    expect(tally.requestsTo()).toEqual({ server: 950_000, enclave: 50_000 })
    expect(tally.requests()).toBe(REQUESTS)
    const growing = (bytes: number) =>
      rounds.map((round) => ({ ...held, heapUsed: 40e6 + bytes * 5_000 * round }))
    const server = rounds.map(() => held)
    expect(growthIn({ server, enclave: growing(70) }, tally.requestsTo())).toEqual([])
    expect(growthIn({ server, enclave: growing(80) }, tally.requestsTo())).toEqual([
      expect.stringMatching(/^the enclave's heapUsed .* 8000000 in 100,000 requests/),
    ])
    expect(growthIn({ server: growing(80), enclave: server }, tally.requestsTo())).toEqual([])
  })

  test('may grow by compiled code in a run too short for a leak so small', () => {
    const heap = [32.4, 33.3, 33.2, 33.5, 33.8, 34, 34, 34.1, 34.3, 34.4].map((mib) => mib * 2 ** 20)
    expect(
      growthOf(
        heap.map((heapUsed) => ({ ...held, heapUsed })),
        60_000,
      ),
    ).toEqual([])
  })

  test('is not misjudged by single looks before a collection', () => {
    expect(growthWith((round) => (round % 2 === 0 ? 90e6 : 40e6))).toEqual([])
  })
})

test('the answers of a connection are read one by one, in whatever pieces they come', () => {
  const bytes =
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 405 X\r\nContent-Length: 9\r\n\r\n'
  const reader = createAnswerReader()
  const read: [number, string][] = []
  for (const letter of bytes) {
    reader.push(Buffer.from(letter))
    const isHead = read.length === 1
    const next = reader.next(isHead)
    if (next !== undefined) read.push([next.status, next.body])
  }
  expect(read).toEqual([
    [200, 'ab'],
    [405, ''],
  ])
  expect(reader.rest()).toBe(0)
  reader.push(Buffer.from('SSH-2.0\r\n\r\n'))
  expect(() => reader.next(false)).toThrow('no status line')
})

test('the same seed makes the same requests', () => {
  const world = {
    orderIds: ['0x01'],
    digests: ['0x02'],
    orgIds: ['0x03'],
    accounts: ['0x04'],
    openOrders: [{ orderId: '0x01' }],
    authorizations: [{ primaryType: 'x' }],
    rulebooks: [{ epk: '0x' }],
    runIds: ['6f2f0a52-6d5c-4a0e-8f4e-0d8f3f6a1c11'],
    jobs: [{ runId: '6f2f0a52-6d5c-4a0e-8f4e-0d8f3f6a1c12' }],
    now: () => new Date(0),
    token: 'token',
    origin: 'http://a',
  } as const
  const sequence = (seed: number) => {
    const random = createRandom(seed)
    return Array.from({ length: 300 }, () => {
      const { kind, pieces } = nextExchange(random, world)
      return { kind, bytes: Buffer.concat([...pieces]).toString('latin1') }
    })
  }
  expect(sequence(7)).toEqual(sequence(7))
  expect(sequence(8)).not.toEqual(sequence(7))
  expect(new Set(sequence(7).map(({ kind }) => kind)).size).toBeGreaterThan(6)
})
