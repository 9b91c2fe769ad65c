import { makeError } from 'ethers'
import { describe, expect, it } from 'vitest'
import { ClientError, ContractError, NotSubmittedError, ServerError } from '../../src/client/index.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { PlacingStopped } from '../../web/state/placing.js'
import { failureOf, isAsleep, OvertakenError, polledFailureOf } from '../../web/words/failures.js'
import { serverError } from './support/serverError.js'

const ofProxy = (status: number) => new ServerError(status, null, null, null)
const unreachable = new ClientError('server-unreachable', '/market cannot be reached')
const order = {
  orderId: '0x01',
  commit: '0x02',
  escrowed: 0n,
  envelope: { epk: '0x', iv: '0x', ct: '0x', tag: '0x' },
} as const

describe('a failure in words', () => {
  it.each([
    ['a wallet that says no', { code: 4001, message: 'User rejected' }, 'You declined in your wallet'],
    ['a wallet that waits', { code: -32002 }, 'Your wallet is waiting for you'],
    ['a refused signature', new ClientError('signature-refused', ''), 'You declined in your wallet'],
    ['another chain', new ClientError('wrong-chain', ''), 'The wallet is on another chain'],
    ['a server that is away', unreachable, 'The server does not answer'],
    ['a server behind a proxy that is away', ofProxy(503), 'The server does not answer'],
    ['a wallet without KYC', new ContractError('openBuy', 'NotCleared', {}), 'Your wallet is not verified'],
    [
      'an institution that is not admitted',
      new ContractError('openBuy', 'NotAdmitted', { orgId: `0x${'01'.repeat(32)}` }),
      'The platform does not admit your institution',
    ],
    [
      'a wallet in none',
      new ContractError('openBuy', 'NotAdmitted', { orgId: ZERO_BYTES32 }),
      'This wallet has no institution',
    ],
    [
      'a wallet that leaves',
      new ContractError('openBuy', 'Leaving', {}),
      'This wallet is leaving its institution',
    ],
    [
      'a portfolio under another key',
      new ClientError('portfolio-undecryptable', ''),
      'No key in this page opens the portfolio',
    ],
    [
      'an order under a key that was given up',
      new ClientError('portfolio-key-missing', ''),
      'A newer key was made for this portfolio',
    ],
    ['a file of something else', new ClientError('invalid-key-file', ''), 'This is not a key file'],
    [
      'a key file of another wallet',
      new ClientError('foreign-key-file', ''),
      'This key file belongs to another wallet',
    ],
    ['a reorganization', new ClientError('chain-reorganized', ''), 'The chain changed while it was read'],
    [
      'a deposit of too many shares',
      new ClientError('insufficient-shares', ''),
      'The wallet holds fewer shares than the deposit takes',
    ],
    ['a busy node', new ClientError('node-unavailable', ''), 'The chain does not answer'],
    ['a pause', new ContractError('openRequest', 'PlatformPaused', {}), 'The platform is paused'],
    ['an order that was stopped', new PlacingStopped(), 'You stopped this order'],
    ['a draft that is overtaken', new OvertakenError(), 'Another rulebook was published first'],
    ['a cancellation that comes too late', serverError(409, 'order-ended'), 'It is too late to cancel'],
    ['a revert of no name', new ContractError('join', 'Odd', {}), 'The contract refused it (Odd)'],
    ['a node that is away', makeError('', 'NETWORK_ERROR'), 'The chain does not answer'],
    ['a node that is silent', makeError('', 'TIMEOUT'), 'The chain does not answer'],
    ['a node that fails', makeError('', 'SERVER_ERROR'), 'The chain does not answer'],
    ['no ether', makeError('', 'INSUFFICIENT_FUNDS'), 'The wallet does not have enough ether for the fee'],
    ['a mistake of the page’s own', new TypeError('x is not a function'), 'An unexpected error occurred'],
    ['anything else', new Error('secret of 0x12'), 'An unexpected error occurred'],
    ['no error at all', null, 'An unexpected error occurred'],
  ])('%s', (_what, error, title) => {
    const failure = failureOf(error)
    expect(failure.title).toBe(title)
    expect(failure.advice).not.toBe('')
    expect(failure.advice).not.toContain('0x12')
  })

  it('from the server has its own words, and the number to quote', () => {
    expect(failureOf(serverError(409, 'something'))).toEqual({
      title: 'Some title',
      advice: 'Some detail. Quote req-1 when you report it.',
    })
  })

  it.each([
    [502, 'enclave-failed'],
    [503, 'enclave-busy'],
    [503, 'chain-unavailable'],
    [503, 'market-unavailable'],
    [503, 'storage-unavailable'],
  ])('of a server that is awake (%s %s) is its own, too', (status, code) => {
    expect(failureOf(serverError(status, code)).title).toBe('Some title')
    expect(polledFailureOf(serverError(status, code)).title).toBe('Some title')
  })

  it('by a sleeping server promises another try only where the page makes one', () => {
    expect(polledFailureOf(unreachable).advice).toMatch(/This page keeps trying/)
    expect(failureOf(unreachable).advice).not.toMatch(/keeps trying/)
  })

  it('by a platform without openings says why, and what to do', () => {
    const revert = { name: 'NotCleared', args: {} }
    expect(failureOf(serverError(422, 'would-revert', { revert })).title).toBe('Your wallet is not verified')
    expect(failureOf(serverError(422, 'would-revert')).title).toBe('Some title')
    const quota = (whose: string) => failureOf(serverError(429, 'relay-quota-exhausted', { quota: whose }))
    expect(quota('account').advice).toMatch(/^Pay the network fee from your wallet/)
    expect(quota('opening').advice).toMatch(/Pay the network fee from your wallet/)
    expect(quota('institution').title).toBe('Some title')
    expect(failureOf(serverError(422, 'opening-not-sponsored')).advice).toMatch(/^Pay the network fee/)
  })

  it('in a rulebook names the enclave’s finding', () => {
    const error = serverError(422, 'policy-rejected', { reason: 'unlisted-symbol' })
    expect(failureOf(error).title).toBe('The rulebook names a symbol that is not listed')
    const other = serverError(422, 'policy-rejected', { reason: 'author' })
    expect(failureOf(other).title).toBe('The enclave refused the rulebook (author)')
  })

  it('between opening and submission says that nothing is lost, and why', () => {
    const intent = { v: 1, orderId: '0x01', account: '0x', orgId: '0x', side: 'BUY', symbol: 'AAPL' } as const
    const more = { maxSpend: '1', expiry: 1, nonce: 1, userPubKey: '0x', sig: '0x' } as const
    const error = new NotSubmittedError(
      { ...order, intent: { ...intent, ...more, maxSpend: 1n } },
      unreachable,
    )
    expect(failureOf(error)).toEqual({
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
    [ofProxy(503), true],
    [ofProxy(504), true],
    [ofProxy(500), false],
    [serverError(503, 'chain-unavailable'), false],
    [serverError(503, 'market-unavailable'), false],
    [serverError(503, 'storage-unavailable'), false],
    [serverError(503, 'enclave-busy'), false],
    [serverError(503, 'overloaded'), false],
    [serverError(502, 'enclave-failed'), false],
    [serverError(504, 'enclave-timeout'), false],
    [serverError(404, 'institution-not-found'), false],
    [new ClientError('wrong-chain', ''), false],
    [null, false],
  ])('%s: %s', (error, asleep) => expect(isAsleep(error)).toBe(asleep))
})
