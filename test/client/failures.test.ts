// How the client fails: always with its own errors, or with the reason of the caller's signal.
import { Interface, Wallet } from 'ethers'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import * as admin from '../../src/client/admin.js'
import * as history from '../../src/client/history.js'
import {
  ClientError,
  ContractError,
  createClient,
  createReader,
  type Eip1193Provider,
  parseDecimal,
  type SignedOrder,
  TradingError,
  toTradingError,
} from '../../src/client/index.js'
import * as operator from '../../src/client/operator.js'
import { provesUnopened } from '../../src/client/placeOrder.js'
import type { Hex } from '../../src/protocol/hex.js'
import { startApiStandIn, useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import {
  answerAsServer,
  clearForTrading,
  clientOf,
  FAST,
  INTENT_PUBLIC_KEY,
  ORG_ID,
} from './clientSetting.js'

const chain = useChain(clearForTrading)
/** Where nothing listens any more. */
let goneUrl: string

const api = await useApi()

beforeAll(async () => {
  const gone = await startApiStandIn()
  await gone.stop()
  goneUrl = gone.url
})
beforeEach(() => answerAsServer(api, chain()))

const orderId: Hex = `0x${'0a'.repeat(32)}`
const bytes = (length: number): Hex => `0x${'00'.repeat(length)}`
const sale = async () =>
  ({ side: 'SELL', symbol: 'AAPL', usdc: 5n, deadline: (await chain().now()) + 3_600 }) as const

/** A browser wallet with Alice's account, in the form of EIP-1193; the chain itself signs. */
function browserWallet(answer: (method: string) => unknown = () => undefined): Eip1193Provider {
  return {
    async request({ method, params = [] }) {
      const given = await answer(method)
      if (given !== undefined) return given
      if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [chain().account('alice')]
      return chain().provider.send(method, Array.isArray(params) ? params : [])
    },
  }
}

const refuse = (wanted: string, error: object) => (method: string) => {
  if (method === wanted) throw error
  return method === 'eth_accounts' && wanted === 'eth_requestAccounts' ? [] : undefined
}

const withWallet = (wallet: Eip1193Provider) =>
  createClient({ serverUrl: api.url, wallet, timing: FAST, allowUnattested: true })

async function failureOf(attempt: Promise<unknown>): Promise<TradingError> {
  const error: unknown = await attempt.catch((failure: unknown) => failure)
  if (error instanceof TradingError) return error
  throw new Error('the call succeeded, or failed with a raw error', { cause: error })
}

it('a server that others can read along with is not called', () => {
  const serverUrl = 'http://trading.example'
  const error = expect.objectContaining({ code: 'insecure-url', retryable: false })
  expect(() =>
    createClient({ serverUrl, wallet: { request: async () => [] }, allowUnattested: true }),
  ).toThrow(error)
  expect(() => createReader({ serverUrl })).toThrow(error)
})

it.each([
  ['a browser without a wallet', JSON.parse('{}').ethereum],
  ['a browser without a wallet, as some say it', null],
  ['a wallet that has no node', new Wallet(`0x${'77'.repeat(32)}`)],
])('%s is named', (_who, wallet) => {
  expect(() => withWallet(wallet)).toThrow(expect.objectContaining({ code: 'no-provider' }))
})

it('an amount that is none has a code of its own', async () => {
  const failed = Promise.resolve('1,000').then((text) => parseDecimal(text, 6))
  expect(toTradingError(await failed.catch((error: unknown) => error)).code).toBe('invalid-decimal')
})

it.each([
  ['eth_requestAccounts', { code: 4001 }, 'no-account'],
  ['eth_requestAccounts', { code: -32_002 }, 'wallet-busy'],
  ['eth_requestAccounts', { code: -32_603, data: { originalError: { code: 4001 } } }, 'no-account'],
  ['personal_sign', { code: 4001 }, 'signature-refused'],
  ['eth_sendTransaction', { code: 4001 }, 'transaction-refused'],
  ['eth_estimateGas', { code: -32_005, message: 'too many requests' }, 'node-rate-limited'],
  ['eth_call', { code: 4900, message: 'disconnected' }, 'node-unavailable'],
  ['eth_call', Object.assign(new Error('unknown'), { code: -1, cause: { code: 4901 } }), 'node-unavailable'],
  ['eth_getBlockByNumber', Object.assign(new Error('odd'), { code: 7 }), 'unexpected'],
])('a wallet’s error of %s, %o, is %s', async (method, error, code) => {
  const order = await sale()
  const client = withWallet(browserWallet(refuse(method, error)))
  const isRead = method === 'eth_getBlockByNumber'
  const failure = await failureOf(isRead ? client.getOpeningState(signedOrder()) : client.placeOrder(order))
  expect(failure.code).toBe(code)
  expect(failure.retryable).toBe(code.startsWith('node-'))
  expect(failure.docs).toBe(`confidential-trading-client/README.md#${code}`)
})

it('a wallet that has left the chain of the contracts sends nothing there, whatever it is asked to send', async () => {
  let isElsewhere = false
  const sent: unknown[] = []
  const elsewhere: Readonly<Record<string, unknown>> = {
    eth_chainId: '0x1',
    eth_estimateGas: '0x5208',
    eth_call: '0x',
  }
  const wallet = browserWallet((method) => {
    if (method === 'eth_sendTransaction') sent.push(method)
    return isElsewhere ? elsewhere[method] : undefined
  })
  const pins = { enclavePublicKey: INTENT_PUBLIC_KEY, escrow: chain().addressOf('escrow') }
  const client = createClient({ serverUrl: api.url, wallet, timing: FAST, pins })
  const owner = operator.createOperator({ wallet, escrow: pins.escrow })
  const change = { kind: 'listing', symbol: 'MSFT', isListed: true } as const
  const [{ send }] = [await operator.planChange(owner, change), await client.getFunds()]
  isElsewhere = true
  const message = `Switch the wallet from chain 1 to chain ${chain().anvil.chainId}.`
  const calls = [
    send,
    () => client.setAllowance(0n),
    () => client.reclaimOrder(orderId),
    () => client.leaveInstitution(),
  ]
  for (const call of calls) {
    expect(await failureOf(call())).toMatchObject({ code: 'wrong-chain', retryable: false, message })
  }
  expect(sent).toEqual([])
})

const bug = () => Reflect.apply(JSON.parse('{}').missing, undefined, [])

it.each<[string, () => unknown, Partial<TradingError>]>([
  ['of a node that is gone', () => fetch(goneUrl), { code: 'node-unavailable', retryable: true }],
  ['of a mistake in the provider', bug, { code: 'unexpected', retryable: false }],
  ...['Failed to fetch', 'NetworkError when attempting to fetch resource.'].map(
    (message): [string, () => unknown, Partial<TradingError>] => [
      `as browsers have it: ${message}`,
      () => Promise.reject(new TypeError(message)),
      { code: 'node-unavailable', retryable: true },
    ],
  ),
])('a TypeError %s is what it is', async (_whose, act, expected) => {
  const client = withWallet(browserWallet((method) => (method === 'eth_estimateGas' ? act() : undefined)))
  const failure = await failureOf(client.placeOrder(await sale()))
  expect(failure).toMatchObject(expected)
  expect(failure.cause).toBeInstanceOf(TypeError)
})

it('a value that a method cannot take fails as all else does', async () => {
  const client = withWallet(browserWallet())
  await client.unlock()
  const bad = 'x' as Hex
  const attempts = [
    client.cancelOrder(bad),
    client.reclaimOrder(bad),
    client.joinInstitution(bad),
    client.inviteMember(bad),
    client.setAllowance(-1n),
    client.claim(''),
    client.getShares({ others: ['é'] }),
    client.submitOrder(Object({})),
  ]
  const failures = await Promise.all(attempts.map((attempt) => attempt.catch((error: unknown) => error)))
  expect(failures.map((failure) => failure instanceof TradingError)).toEqual(attempts.map(() => true))
})

it('a TypeError of a callback leaves the call as it is', async () => {
  const mistake = new TypeError('beforeOpen is broken')
  const placed = withWallet(browserWallet()).placeOrder(await sale(), {
    beforeOpen: () => Promise.reject(mistake),
  })
  await expect(placed).rejects.toBe(mistake)
  expect(toTradingError(mistake)).toMatchObject({ code: 'unexpected', retryable: false, cause: mistake })
})

const data = new Interface(['error PlatformPaused(uint64 until)']).encodeErrorResult('PlatformPaused', [7])

it.each([
  ['as nodes give it', { code: 3, data }],
  ['inside of a wallet’s error', { code: -32_603, data: { code: 3, data } }],
  ['inside of ethers’ error', { code: 'CALL_EXCEPTION', data: null, info: { error: { code: 3, data } } }],
  ['inside of viem’s error', { code: -1, cause: { code: 3, data } }],
])('a revert has its name and arguments %s', async (_how, error) => {
  const client = withWallet(browserWallet(refuse('eth_estimateGas', Object.assign(new Error('no'), error))))
  expect(await failureOf(client.placeOrder(await sale()))).toMatchObject({
    ...{ name: 'ContractError', code: 'PlatformPaused', method: 'openRequest', args: { until: '7' } },
  })
})

it('an account without ether is named, although nodes have no code for it but words', async () => {
  await chain().provider.send('anvil_setBalance', [chain().account('alice'), '0x1'])
  const refusal = { code: -32_000, message: 'zu wenig Geld' }
  const client = withWallet(browserWallet(refuse('eth_sendTransaction', refusal)))
  expect((await failureOf(client.placeOrder(await sale()))).code).toBe('insufficient-funds')
})

function signedOrder(): SignedOrder {
  const terms = { account: chain().account('alice'), amount: 1n, deadline: 2_000_000_000 }
  const opening = { ...terms, validBefore: 2_000_000_000, sig: `0x${'11'.repeat(64)}1b` } as const
  return { orderId, commit: orderId, opening }
}

it.each<[error: unknown, unsigned: boolean, signed: boolean]>([
  [new ClientError('insufficient-funds', ''), true, true],
  [new ClientError('transaction-refused', ''), true, true],
  [new ClientError('wrong-chain', ''), true, true],
  [new ClientError('opening-expired', ''), true, true],
  [new ContractError('openBuy', 'NotCleared', {}), true, true],
  // A transaction that reverted, or was replaced, has shown its signature to others.
  [new ContractError('openBuy', 'NotCleared', {}, true), true, false],
  [new ContractError('openBuy', 'unknown', {}, true), true, false],
  [new ClientError('transaction-replaced', ''), true, false],
  [new ClientError('insufficient-usdc', ''), true, false],
  [new ClientError('insufficient-shares', ''), true, false],
  // A wallet may report so that it did not hear from its node after it had sent the transaction.
  [new ContractError('openBuy', 'unknown', {}), false, false],
  [new ClientError('transaction-pending', ''), false, false],
  [new ClientError('node-unavailable', ''), false, false],
  // A balance that is short afterwards may be so because the transaction was sent.
  [new ClientError('insufficient-funds', '', { cause: new ClientError('unexpected', '') }), false, false],
  [new Error('the page is gone'), false, false],
])('%o proves that no order was opened: %s, or with a signed opening %s', (error, unsigned, signed) => {
  expect(provesUnopened(error, {})).toBe(unsigned)
  expect(provesUnopened(error, signedOrder())).toBe(signed)
})

const envelope = { epk: INTENT_PUBLIC_KEY, iv: bytes(12), ct: bytes(1), tag: bytes(16) }
const order = () => ({ ...signedOrder(), envelope })
const status = { orderId, notice: envelope }
const policy = { employees: {}, maxOrderNotional: 1n, allowWithdrawShares: true }
const request = { side: 'SELL', symbol: 'AAPL', usdc: 5n, deadline: 2_000_000_000 } as const
/** The arguments before the options, by method. */
function argumentsOf(name: string): readonly unknown[] {
  const [alice, carol] = [chain().account('alice'), chain().account('carol')]
  const given: [names: string, ...(readonly unknown[])][] = [
    ['getWallet getCompliance', alice],
    ['getInstitution getPolicyVersion joinInstitution listMembers', ORG_ID],
    [
      'getOrder getOrderTimeline listOrderStatuses listOrderTimelines cancelOrder reclaimOrder resumeOrder getRelayReceipt',
      orderId,
    ],
    ['inviteMember removeMember acceptMove', carol],
    ['proposeMove', alice, carol],
    ['submitOrder getOpeningState openOrder', order()],
    ['foundInstitution', 'Carol & Co.'],
    ['planChange applyChange', { kind: 'kyc', wallet: carol, isVerified: true }],
    ['importKeys', '{}'],
    ['placeOrder plan', request],
    ['claim', 'USDC'],
    ['setAllowance', 0n],
    ['openNotice', status],
    ['publishRulebook', policy],
    ['getRulebookCopy', { orgId: ORG_ID, version: 1 }],
    ['openRulebookCopy', {}, 1],
    ['sealForDevice', 'names', {}],
    ['openFromDevice', 'names', new Uint8Array(64)],
  ]
  return given.find(([names]) => names.split(' ').includes(name))?.slice(1) ?? []
}
/** The functions of the other entries, which take the client first. */
const APART = { ...admin, ...history, ...operator }
const ASKING = [
  ...['getRulebookVersion', 'publishRulebook', 'openRulebookCopy', 'getRulebookCopy', 'listMembers'],
  ...['getKeptPublication', 'resumePublication', 'forgetPublication'],
  ...['getHistory', 'listOrders', 'planChange', 'applyChange', 'getRelayReceipt'],
]
/** `watchOrder` calls back, and has its own tests. */
const names = [...Object.keys(clientOfNothing()), ...ASKING].filter(
  (name) => !['lock', 'watchOrder'].includes(name),
)

it.each(names)('every method %s ends with the reason of its signal', async (name) => {
  const reason = new Error('the page is gone')
  const client = clientOf(chain(), api, 'alice')
  const method = new Map<string, unknown>(Object.entries({ ...client, ...APART })).get(name)
  if (typeof method !== 'function') throw new Error(`${name} is no method`)
  const sent = api.requests.length
  const first = name === 'getRelayReceipt' ? { serverUrl: api.url, token: 'x'.repeat(32) } : client
  const given = [...(name in APART ? [first] : []), ...argumentsOf(name)]
  const answer: unknown = method(...given, { signal: AbortSignal.abort(reason) })
  const ended = isGenerator(answer) ? answer.next() : answer
  await expect(ended).rejects.toBe(reason)
  expect(api.requests.length).toBe(sent)
})

it('a relay token that no header can hold is refused without being quoted', async () => {
  const asked = operator.getRelayReceipt({ serverUrl: api.url, token: 'a secret\n' }, orderId)
  await expect(asked).rejects.toThrow(/^expected a token of printable ASCII$/)
})

it.each(['eth_signTypedData_v4', 'eth_sendTransaction'])(
  'an order ends with the reason of its signal while %s is open in the wallet, and the next order goes on',
  async (pending) => {
    const [stop, reason] = [new AbortController(), new Error('the page is gone')]
    const client = withWallet(
      browserWallet((method) => {
        if (method !== pending || stop.signal.aborted) return undefined
        stop.abort(reason)
        return new Promise(() => undefined)
      }),
    )
    const order = await sale()
    await expect(client.placeOrder(order, { signal: stop.signal })).rejects.toBe(reason)
    expect((await client.placeOrder(order)).received.result).toBe('received')
  },
)

/** For the names alone: no call is made. */
function clientOfNothing() {
  const wallet: Eip1193Provider = { request: () => Promise.reject(new Error('nobody asks')) }
  return createClient({ serverUrl: 'http://127.0.0.1:1', wallet, allowUnattested: true })
}

function isGenerator(answer: unknown): answer is AsyncGenerator {
  return typeof answer === 'object' && answer !== null && 'next' in answer
}
