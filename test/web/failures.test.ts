import { readFileSync } from 'node:fs'
import { makeError } from 'ethers'
import { describe, expect, it } from 'vitest'
import { AttestationError } from '../../src/attestation/index.js'
import { ClientError, ContractError, NotSubmittedError, ServerError } from '../../src/client/index.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { failureOf, isAsleep, OvertakenError, polledFailureOf } from '../../web/words/failures.js'
import { serverError } from './support/serverError.js'

const ofProxy = (status: number) => new ServerError(status, null, null, null)
const unreachable = new ClientError('server-unreachable', '/market cannot be reached')
const notAdmitted = (orgId: string) => new ContractError('openBuy', 'NotAdmitted', { orgId })
const TYPE_ERROR = new TypeError('x is not a function')

describe('a failure in words', () => {
  it.each([
    ['a wallet that says no', { code: 4001, message: 'User rejected' }, 'You declined in your wallet'],
    ['a refused signature', new ClientError('signature-refused', ''), 'You declined in your wallet'],
    ['a wallet without KYC', new ContractError('openBuy', 'NotCleared', {}), 'Your wallet is not verified'],
    ['an institution not admitted', notAdmitted(`0x${'01'.repeat(32)}`), 'The platform does not admit your'],
    ['a wallet in no institution', notAdmitted(ZERO_BYTES32), 'This wallet has no institution'],
    ['a draft that is overtaken', new OvertakenError(), 'Another rulebook was published first'],
    ['a revert of no name', new ContractError('join', 'Odd', {}), 'The contract refused it (Odd)'],
    ['a node that is away', makeError('', 'NETWORK_ERROR'), 'The chain’s node cannot be reached'],
    ['a slow node', new ClientError('node-timeout', ''), 'The chain’s node is slow'],
    ['a node asked too often', { code: -32_005, message: '' }, 'limits how often it is asked'],
    [
      'a node that gives too little',
      new ClientError('too-much-to-read', ''),
      'does not give so much at once',
    ],
    ['a mistake of the page’s own', TYPE_ERROR, 'An unexpected error occurred'],
    ['anything else', new Error('secret of 0x12'), 'An unexpected error occurred'],
  ])('%s', (_what, error, title) => {
    const failure = failureOf(error)
    expect(failure.title).toContain(title)
    expect(failure.advice).not.toBe('')
    expect(failure.advice).not.toContain('0x12')
  })

  const CHECKS = [
    ...readFileSync('docs/attestation.md', 'utf8').matchAll(
      /^\| `([a-z-]+)` \| (?:refused|unreadable|unsupported) \|/gm,
    ),
  ].map(([, code = '']) => code)

  it('by refused evidence says what to do, for each check', () => {
    expect(CHECKS.length).toBeGreaterThan(25)
    const unknown = failureOf(new ClientError('untrusted-enclave', '', { cause: new Error('odd') }))
    for (const code of CHECKS) {
      const cause = Object.assign(new AttestationError('debug-mode'), { code })
      const { title, advice } = failureOf(new ClientError('untrusted-enclave', '', { cause }))
      expect(failureOf(cause), code).toEqual({ title, advice })
      expect(title, code).not.toMatch(/unexpected/)
      expect(advice, code).toMatch(/operator|[Tt]ry again/)
    }
    expect(unknown.advice).toMatch(/Do not order/)
  })

  it.each(['unattested-enclave', 'unannounced-program', 'revoked-program'] as const)(
    'by an enclave that is not trusted (%s) says not to order',
    (code) => expect(failureOf(new ClientError(code, '')).advice).toMatch(/^Do not order/),
  )

  it('from the server has its own words, and the number to quote', () => {
    expect(failureOf(serverError(409, 'something'))).toEqual({
      title: 'Some title',
      advice: 'Some detail. Quote req-1 when you report it.',
    })
  })

  it('by a sleeping server promises another try only where the page makes one', () => {
    expect(polledFailureOf(unreachable).advice).toMatch(/This page keeps trying/)
    expect(failureOf(unreachable).advice).not.toMatch(/keeps trying/)
  })

  it.each(['node-unavailable', 'node-timeout', 'node-rate-limited'] as const)(
    'by %s promises to go on only where the page reads again by itself',
    (code) => {
      expect(polledFailureOf(new ClientError(code, '')).advice).toMatch(/goes on where it stopped/)
      expect(failureOf(new ClientError(code, '')).advice).toMatch(/[Tt]ry again/)
    },
  )

  it('by a platform without openings says why, and what to do', () => {
    const revert = { name: 'NotCleared', args: {} }
    expect(failureOf(serverError(422, 'would-revert', { revert })).title).toBe('Your wallet is not verified')
    expect(failureOf(serverError(422, 'would-revert')).title).toBe('Some title')
    const quota = (whose: string) => failureOf(serverError(429, 'relay-quota-exhausted', { quota: whose }))
    for (const whose of ['account', 'opening'])
      expect(quota(whose).advice).toMatch(/Pay the network fee from your wallet/)
    expect(quota('institution').advice).toMatch(/Go on with this one after midnight UTC/)
  })

  it('in a rulebook names the enclave’s finding', () => {
    const titleOf = (reason: string) => failureOf(serverError(422, 'policy-rejected', { reason })).title
    expect(titleOf('unlisted-symbol')).toBe('The rulebook names a symbol that is not listed')
    expect(titleOf('author')).toBe('The enclave refused the rulebook (author)')
  })

  it('between opening and submission says that nothing is lost, and why', () => {
    const envelope = { epk: '0x', iv: '0x', ct: '0x', tag: '0x' } as const
    const terms = { v: 1, orderId: '0x01', account: '0x', orgId: '0x', side: 'BUY', symbol: 'AAPL' } as const
    const intent = { ...terms, maxSpend: 1n, expiry: 1, nonce: 1, userPubKey: '0x', sig: '0x' } as const
    const sealed = { commit: '0x02', contentKey: '0x03', escrowed: 0n, envelope, intent } as const
    const order = { orderId: '0x01', ...sealed } as const
    expect(failureOf(new NotSubmittedError(order, unreachable))).toEqual({
      title: 'The order is open, but the server does not have it yet',
      advice: 'The server does not answer. Submit it again below; your funds are safe.',
    })
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
  ])('%s: %s', (error, asleep) => expect(isAsleep(error)).toBe(asleep))
})
