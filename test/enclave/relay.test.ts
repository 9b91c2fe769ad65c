import { describe, expect, it, onTestFinished } from 'vitest'
import type { RunFailure } from '../../src/enclave/failures.js'
import { createRelay, type RelayAnswer } from '../../src/enclave/relay.js'
import type { SignedAuthorization } from '../../src/protocol/authorization.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { startHttpServer } from '../support/httpServer.js'

const authorization: SignedAuthorization = {
  primaryType: 'BatchMint',
  message: { symbol: `0x${'41'.repeat(32)}`, amount: 5n, expectedSupply: 0n, batch: 1n, countedUntil: 0n },
  signature: `0x${'11'.repeat(65)}`,
}
const receipt = {
  digest: `0x${'22'.repeat(32)}`,
  primaryType: 'BatchMint',
  target: `0x${'00'.repeat(19)}01`,
  txHash: null,
  blockNumber: null,
  gasUsed: null,
  createdAt: '2026-01-02T03:04:05Z',
  updatedAt: '2026-01-02T03:04:05Z',
}
const problem = { type: 't', title: 't', status: 422, detail: 'd', instance: '/relay', requestId: 'r' }
const revert = { name: 'VersionConflict', args: { expected: '2', got: '1' } }

interface Seen {
  url: string | undefined
  token: string | undefined
  body: unknown
}

/** The client's result for an answer. */
async function answerTo(
  status: number,
  body: unknown,
  more: Record<string, string> = {},
): Promise<{ answer: RelayAnswer; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = await startHttpServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const { url, headers } = request
    seen.push({ url, token: headers.authorization, body: JSON.parse(Buffer.concat(chunks).toString()) })
    response.writeHead(status, { location: '/elsewhere', ...more })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  onTestFinished(() => server.stop())
  const relay = createRelay({ url: `${server.url}/`, token: 'the-token', timeoutMs: 5_000 })
  return { answer: await relay.post(authorization), seen }
}

describe('the relay client', () => {
  it('posts integers as text, with the token', async () => {
    const { answer, seen } = await answerTo(200, { ...receipt, status: 'confirmed', error: null })
    expect(answer).toEqual({ kind: 'taken' })
    expect(seen).toEqual([
      {
        url: '/relay',
        token: 'Bearer the-token',
        body: {
          primaryType: 'BatchMint',
          message: {
            symbol: `0x${'41'.repeat(32)}`,
            amount: '5',
            expectedSupply: '0',
            batch: '1',
            countedUntil: '0',
          },
          signature: `0x${'11'.repeat(65)}`,
        },
      },
    ])
  })

  it.each<[string, number, unknown, RelayAnswer]>([
    ['under way', 202, { ...receipt, status: 'submitted', error: null }, { kind: 'taken' }],
    ['failed on chain', 200, { ...receipt, status: 'failed', error: revert }, { kind: 'reverted', revert }],
    [
      'failed for no reason that is known',
      200,
      { ...receipt, status: 'failed', error: null },
      { kind: 'reverted', revert: { name: 'unknown', args: {} } },
    ],
    [
      'refused by the nodes',
      200,
      { ...receipt, status: 'failed', error: { name: 'RefusedByNodes', args: {} } },
      { kind: 'refused' },
    ],
    ['would revert', 422, { ...problem, code: 'would-revert', revert }, { kind: 'reverted', revert }],
    ['another problem', 422, { ...problem, code: 'invalid-signature' }, { kind: 'refused' }],
    ['a wrong token', 401, {}, { kind: 'refused' }],
    ['a redirect', 302, {}, { kind: 'refused' }],
    ['too many', 429, {}, { kind: 'unavailable' }],
    ['down', 503, {}, { kind: 'unavailable' }],
    ['nonsense', 200, 'hello', { kind: 'unavailable' }],
    ['another shape', 200, { status: 'confirmed' }, { kind: 'unavailable' }],
  ])('reads an answer: %s', async (_name, status, body, expected) => {
    expect((await answerTo(status, body)).answer).toEqual(expected)
  })

  it.each<[string, number, string | undefined, number]>([
    ['relay-quota-exhausted', 429, '7200', 7_200],
    ['relay-budget-exhausted', 503, '1', 1],
    // It is not trusted with more than a day, nor with other forms.
    ['relay-quota-exhausted', 429, '99999', 86_400],
    ['relay-quota-exhausted', 429, 'Thu, 01 Jan 2099 00:00:00 GMT', 3_600],
    ['relay-quota-exhausted', 429, undefined, 3_600],
  ])('reads that there is no gas today: %s %i, Retry-After %s', async (code, status, retryAfter, seconds) => {
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
    const { answer } = await answerTo(status, { ...problem, status, code }, headers)
    expect(answer).toEqual({ kind: 'postponed', code, seconds })
  })

  it('counts another 429 or 503 as unavailable', async () => {
    const busy = { ...problem, code: 'relay-overloaded' }
    expect((await answerTo(503, busy)).answer).toEqual({ kind: 'unavailable' })
    expect((await answerTo(429, { ...problem, code: 'rate-limited' })).answer).toEqual({
      kind: 'unavailable',
    })
  })

  it('counts no answer as unavailable', async () => {
    const relay = createRelay({ url: 'http://127.0.0.1:1', token: 't', timeoutMs: 1_000 })
    expect(await relay.post(authorization)).toEqual({ kind: 'unavailable' })
  })

  it.each<[number, string | null]>([
    [404, null],
    [401, 'relay-refused'],
    [503, 'relay-unavailable'],
    [429, 'relay-unavailable'],
    // Another program: what it says of a receipt means nothing.
    [200, 'relay-unavailable'],
    [302, 'relay-unavailable'],
  ])('looks whether the relay answers: %i', async (status, code) => {
    const seen: (string | undefined)[] = []
    const server = await startHttpServer(({ method, url, headers }, response) => {
      seen.push(`${method} ${url} ${headers.authorization}`)
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    onTestFinished(() => server.stop())
    const relay = createRelay({ url: `${server.url}/`, token: 'the-token', timeoutMs: 5_000 })
    const looks = await Promise.all(
      Array.from({ length: 100 }, () =>
        relay.assertReachable().then(
          () => null,
          (error: RunFailure) => error.code,
        ),
      ),
    )
    expect(new Set(looks)).toEqual(new Set([code]))
    expect(seen).toEqual([`GET /relay/${ZERO_BYTES32} Bearer the-token`])
  })

  it('cannot be reached where nothing listens', async () => {
    const relay = createRelay({ url: 'http://127.0.0.1:1', token: 't', timeoutMs: 1_000 })
    await expect(relay.assertReachable()).rejects.toMatchObject({ code: 'relay-unavailable' })
  })
})
