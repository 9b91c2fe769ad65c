import { expect, it, onTestFinished } from 'vitest'
import { createRelay, type RelayAnswer } from '../../src/enclave/relay.js'
import type { SignedAuthorization } from '../../src/protocol/authorization.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { startHttpServer } from '../support/httpServer.js'

const authorization: SignedAuthorization = {
  primaryType: 'BatchMint',
  message: {
    ...{ symbol: `0x${'41'.repeat(32)}`, amount: 5n, actions: ZERO_BYTES32 },
    ...{ expectedSupply: 0n, batch: 1n, countedUntil: 0n },
  },
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
const REFUSED = { name: 'RefusedByNodes', args: {} }
const revert = { name: 'VersionConflict', args: { expected: '2', got: '1' } }

/** The client's result for an answer. */
async function answerTo(status: number, body: unknown, more: Record<string, string> = {}) {
  const server = await startHttpServer((_request, response) => {
    response.writeHead(status, { location: '/elsewhere', ...more })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  onTestFinished(() => server.stop())
  return createRelay({ url: `${server.url}/`, token: 'the-token', timeoutMs: 5_000 }).post(authorization)
}

it.each<[string, number, unknown, RelayAnswer]>([
  ['under way', 202, { ...receipt, status: 'submitted', error: null }, { kind: 'taken' }],
  ['failed on chain', 200, { ...receipt, status: 'failed', error: revert }, { kind: 'reverted', revert }],
  ['refused by the nodes', 200, { ...receipt, status: 'failed', error: REFUSED }, { kind: 'refused' }],
  ['would revert', 422, { ...problem, code: 'would-revert', revert }, { kind: 'reverted', revert }],
  ['another problem', 422, { ...problem, code: 'invalid-signature' }, { kind: 'refused' }],
  ['a wrong token', 401, {}, { kind: 'refused' }],
  ['a redirect', 302, {}, { kind: 'refused' }],
  ['down', 503, {}, { kind: 'unavailable' }],
  ['nonsense', 200, 'hello', { kind: 'unavailable' }],
])('the relay client reads an answer: %s', async (_name, status, body, expected) => {
  expect(await answerTo(status, body)).toEqual(expected)
})

it.each<[string, number, string | undefined, number]>([
  ['relay-quota-exhausted', 429, '7200', 7_200],
  ['relay-budget-exhausted', 503, '1', 1],
  // It is not trusted with more than a day, nor with other forms.
  ['relay-quota-exhausted', 429, '99999', 86_400],
  ['relay-quota-exhausted', 429, 'Thu, 01 Jan 2099 00:00:00 GMT', 3_600],
  ['relay-quota-exhausted', 429, undefined, 3_600],
])(
  'the relay client reads that there is no gas today: %s %i, Retry-After %s',
  async (code, status, retryAfter, seconds) => {
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
    const answer = await answerTo(status, { ...problem, status, code }, headers)
    expect(answer).toEqual({ kind: 'postponed', code, seconds })
  },
)
