import { readFileSync } from 'node:fs'
import { makeError } from 'ethers'
import { describe, expect, it } from 'vitest'
import { AttestationError } from '../../src/attestation/index.js'
import { ClientError, ContractError, ServerError } from '../../src/client/index.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { failureOf, isAsleep, polledFailureOf } from '../../web/words/failures.js'
import { serverError } from './support/serverError.js'

const ofProxy = (status: number) => new ServerError(status, null, null, null)
const unreachable = new ClientError('server-unreachable', '/market cannot be reached')
const notAdmitted = (orgId: string) => new ContractError('openBuy', 'NotAdmitted', { orgId })

describe('a failure in words', () => {
  it.each([
    ['a wallet that says no', { code: 4001, message: 'User rejected' }, 'You declined in your wallet'],
    ['a refused signature', new ClientError('signature-refused', ''), 'You declined in your wallet'],
    ['a wallet without KYC', new ContractError('openBuy', 'NotCleared', {}), 'Your wallet is not verified'],
    ['an institution not admitted', notAdmitted(`0x${'01'.repeat(32)}`), 'The platform does not admit your'],
    ['a wallet in no institution', notAdmitted(ZERO_BYTES32), 'This wallet has no institution'],
    ['a revert of no name', new ContractError('join', 'Odd', {}), 'The contract refused it (Odd)'],
    ['a node that is away', makeError('', 'NETWORK_ERROR'), 'The chain’s node cannot be reached'],
    ['a node asked too often', { code: -32_005, message: '' }, 'limits how often it is asked'],
    ['a mistake of the page’s own', new TypeError('x is not a function'), 'An unexpected error occurred'],
    ['anything else', new Error('secret of 0x12'), 'An unexpected error occurred'],
  ])('%s', (_what, error, title) => {
    const failure = failureOf(error)
    expect(failure.title).toContain(title)
    expect(failure.advice).not.toMatch(/^$|0x12/)
  })

  const CHECKS = [
    ...readFileSync('docs/attestation.md', 'utf8').matchAll(
      /^\| `([a-z-]+)` \| (?:refused|unreadable|unsupported) \|/gm,
    ),
  ].map(([, code = '']) => code)

  it('by refused evidence says what to do, for each check, and by an enclave that is not trusted not to order', () => {
    expect(CHECKS.length).toBeGreaterThan(25)
    for (const code of CHECKS) {
      const cause = Object.assign(new AttestationError('debug-mode'), { code })
      const { title, advice } = failureOf(new ClientError('untrusted-enclave', '', { cause }))
      expect(failureOf(cause), code).toEqual({ title, advice })
      expect(title, code).not.toMatch(/unexpected/)
      expect(advice, code).toMatch(/operator|[Tt]ry again/)
    }
    const unknown = new ClientError('untrusted-enclave', '', { cause: new Error('odd') })
    const codes = ['unattested-enclave', 'unannounced-program', 'revoked-program'] as const
    for (const error of [unknown, ...codes.map((code) => new ClientError(code, ''))])
      expect(failureOf(error).advice).toMatch(/Do not order/)
  })

  it('from the server has its own words, and the number to quote', () => {
    expect(failureOf(serverError(409, 'something'))).toEqual({
      title: 'Some title',
      advice: 'Some detail. Quote req-1 when you report it.',
    })
  })

  it.each([
    ['server-unreachable', /This page keeps trying/],
    ['node-unavailable', /goes on where it stopped/],
    ['node-timeout', /goes on where it stopped/],
    ['node-rate-limited', /goes on where it stopped/],
  ] as const)('by %s promises to go on only where the page reads again by itself', (code, promise) => {
    expect(polledFailureOf(new ClientError(code, '')).advice).toMatch(promise)
    expect(failureOf(new ClientError(code, '')).advice).not.toMatch(promise)
  })

  it('by a platform without openings says why, and what to do', () => {
    const revert = { name: 'NotCleared', args: {} }
    expect(failureOf(serverError(422, 'would-revert', { revert })).title).toBe('Your wallet is not verified')
    expect(failureOf(serverError(422, 'would-revert')).title).toBe('Some title')
    const quota = (whose: string) => failureOf(serverError(429, 'relay-quota-exhausted', { quota: whose }))
    for (const whose of ['account', 'opening'])
      expect(quota(whose).advice).toMatch(/Pay the network fee from your wallet/)
    expect(quota('institution').advice).toMatch(/Go on with this one after midnight UTC/)
  })
})

describe('a server that sleeps', () => {
  it.each([
    [unreachable, true],
    [new ClientError('server-timeout', ''), true],
    [serverError(503, 'shutting-down'), true],
    [ofProxy(502), true],
    [ofProxy(500), false],
    [serverError(503, 'chain-unavailable'), false],
    [serverError(502, 'enclave-failed'), false],
    [new ClientError('wrong-chain', ''), false],
    [null, false],
  ])('is one that does not answer, or is starting: %s %s', (error, asleep) =>
    expect(isAsleep(error)).toBe(asleep),
  )
})
