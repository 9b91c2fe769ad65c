// How the client fails: always with its own errors, or with the reason of the caller's signal.
import type { Eip1193Provider } from 'ethers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type SignedOrder, TradingError, toTradingError } from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type ApiStandIn, problem, startApiStandIn } from '../support/apiStandIn.js'
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
let api: ApiStandIn

beforeAll(async () => {
  api = await startApiStandIn()
})
beforeEach(() => answerAsServer(api, chain()))
afterAll(() => api.stop())

const orderId: Hex = `0x${'0a'.repeat(32)}`

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

const withWallet = (wallet: Eip1193Provider) => createClient({ serverUrl: api.url, wallet, timing: FAST })

async function failureOf(attempt: Promise<unknown>): Promise<TradingError> {
  const error = await attempt.then(
    () => null,
    (failure: unknown) => failure,
  )
  if (error instanceof TradingError) return error
  throw new Error('the call succeeded, or failed with a raw error', { cause: error })
}

it('an EIP-1193 provider is a wallet as it is', async () => {
  const client = withWallet(browserWallet())
  expect(await client.getAccount()).toBe(chain().account('alice'))
  const deadline = (await chain().now()) + 3_600
  const { order } = await client.placeOrder({ side: 'BUY', symbol: 'AAPL', maxSpend: 5n, deadline })
  expect(order.intent.account).toBe(chain().account('alice'))
})

describe('a wallet’s error', () => {
  it.each([
    ['eth_requestAccounts', { code: 4001 }, 'no-account'],
    ['eth_requestAccounts', { code: -32_002 }, 'wallet-busy'],
    ['eth_requestAccounts', { code: -32_603, data: { originalError: { code: 4001 } } }, 'no-account'],
    ['personal_sign', { code: 4001 }, 'signature-refused'],
    ['eth_sendTransaction', { code: 4001 }, 'transaction-refused'],
    ['eth_sendTransaction', { code: -32_000, message: 'insufficient funds for gas' }, 'insufficient-funds'],
    ['eth_estimateGas', { code: -32_005, message: 'too many requests' }, 'node-unavailable'],
    ['eth_call', { code: 4900, message: 'disconnected' }, 'node-unavailable'],
    ['eth_getBlockByNumber', Object.assign(new Error('odd'), { code: 7 }), 'unexpected'],
  ])('of %s, %o, is %s', async (method, error, code) => {
    const client = withWallet(browserWallet(refuse(method, error)))
    const deadline = (await chain().now()) + 3_600
    const attempt =
      method === 'eth_getBlockByNumber'
        ? client.getOpeningState(signedOrder())
        : client.placeOrder({ side: 'SELL', symbol: 'AAPL', maxSpend: 5n, deadline })
    const failure = await failureOf(attempt)
    expect(failure.code).toBe(code)
    expect(failure.retryable).toBe(code === 'node-unavailable')
    expect(failure.docs).toBe(`confidential-trading-client/README.md#${code}`)
  })
})

function signedOrder(): SignedOrder {
  const account = chain().account('alice')
  return {
    orderId,
    commit: orderId,
    opening: {
      account,
      amount: 1n,
      deadline: 2_000_000_000,
      validBefore: 2_000_000_000,
      sig: `0x${'11'.repeat(64)}1b`,
    },
  }
}

describe('a server’s problem', () => {
  it('has its code, its number, whether to try again, and its page at the server', async () => {
    api.answerWith(() => problem(503, 'market-unavailable'))
    const failure = await failureOf(clientOf(chain(), api, 'alice').getMarket())
    expect(failure).toMatchObject({ code: 'market-unavailable', retryable: true })
    expect(failure.requestId).not.toBeNull()
    expect(failure.docs).toBe(`${api.url}/errors#market-unavailable`)
  })

  it('is not worth another try where the request is at fault', async () => {
    api.answerWith(() => problem(404, 'order-not-found'))
    expect(await failureOf(clientOf(chain(), api, 'alice').getOrder(orderId))).toMatchObject({
      code: 'order-not-found',
      retryable: false,
    })
  })
})

it('an unknown error stays as the cause', () => {
  const cause = new Error('odd')
  expect(toTradingError(cause)).toMatchObject({ code: 'unexpected', cause, requestId: null })
  expect(toTradingError(null).message).not.toBe('')
})

describe('every method', () => {
  const order = () =>
    ({
      ...signedOrder(),
      envelope: {
        epk: INTENT_PUBLIC_KEY,
        iv: `0x${'00'.repeat(12)}`,
        ct: '0x00',
        tag: `0x${'00'.repeat(16)}`,
      },
    }) as const
  const status = () => ({ orderId, notice: order().envelope })
  const policy = { employees: {}, maxOrderNotional: 1n, allowWithdrawShares: true }
  const request = { side: 'SELL', symbol: 'AAPL', maxSpend: 5n, deadline: 2_000_000_000 } as const
  /** The arguments before the options. */
  const ARGUMENTS: Record<string, () => readonly unknown[]> = {
    getWallet: () => [chain().account('alice')],
    getInstitution: () => [ORG_ID],
    getCompliance: () => [chain().account('alice')],
    getPolicyVersion: () => [ORG_ID],
    getOrder: () => [orderId],
    getTimeline: () => [orderId],
    followOrder: () => [orderId],
    followTimeline: () => [orderId],
    foundInstitution: () => ['Carol & Co.'],
    joinInstitution: () => [ORG_ID],
    inviteMember: () => [chain().account('carol')],
    removeMember: () => [chain().account('carol')],
    importKeys: () => ['{}'],
    placeOrder: () => [request],
    submitOrder: () => [order()],
    getOpeningState: () => [order()],
    openOrder: () => [order()],
    cancelOrder: () => [orderId],
    reclaimOrder: () => [orderId],
    claim: () => ['USDC'],
    openNotice: () => [status()],
    publishRulebook: () => [policy],
    openRulebookCopy: () => [{}, 1],
    sealForDevice: () => ['names', {}],
    openFromDevice: () => ['names', new Uint8Array(64)],
  }
  const names = Object.keys(clientOfNothing()).filter((name) => name !== 'lock')

  it.each(names)('%s ends with the reason of its signal', async (name) => {
    const reason = new Error('the page is gone')
    const client = new Map<string, unknown>(Object.entries(clientOf(chain(), api, 'alice')))
    const method = client.get(name)
    if (typeof method !== 'function') throw new Error(`${name} is no method`)
    const given: readonly unknown[] = ARGUMENTS[name]?.() ?? []
    const sent = api.requests.length
    const answer: unknown = method(...given, { signal: AbortSignal.abort(reason) })
    const ended = isGenerator(answer) ? answer.next() : answer
    await expect(ended).rejects.toBe(reason)
    expect(api.requests.length).toBe(sent)
  })

  /** For the names alone: no call is made. */
  function clientOfNothing() {
    const wallet: Eip1193Provider = { request: () => Promise.reject(new Error('nobody asks')) }
    return createClient({ serverUrl: 'http://127.0.0.1:1', wallet })
  }
})

function isGenerator(answer: unknown): answer is AsyncGenerator {
  return typeof answer === 'object' && answer !== null && 'next' in answer
}
