import { createContext, runInContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commitOf, ORDER_PLACE, open } from '../../src/protocol/envelope.js'
import { hexToBytes, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { intentSchema } from '../../src/protocol/intent.js'
import { type ApiStandIn, startApiStandIn } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { type Bundle, bundleForBrowser } from './browser/bundle.js'
import { answerAsServer, clearForTrading, INTENT_PRIVATE_KEY, walletOf } from './clientSetting.js'

/** The globals that a page may use besides the language itself. */
const WEB_GLOBALS = {
  AbortController,
  AbortSignal,
  Headers,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  atob,
  btoa,
  clearInterval,
  clearTimeout,
  crypto,
  fetch,
  setInterval,
  setTimeout,
}

let client: Bundle
let api: ApiStandIn
const chain = useChain(clearForTrading)

beforeAll(async () => {
  client = await bundleForBrowser('../../../src/client/index.ts')
  api = await startApiStandIn()
})
afterAll(() => api.stop())

const nodeGlobals = ({ bytesOf }: Bundle) => bytesOf['test/client/browser/nodeGlobals.ts']

describe('the client in a browser', () => {
  it('bundles without a Node module or global', () => {
    expect(client.external).toEqual([])
    expect(client.text).not.toContain('node:')
    expect(nodeGlobals(client)).toBeUndefined()
  })

  it('would not if it used one', async () => {
    await expect(bundleForBrowser('usesNode.ts')).rejects.toThrow('node:crypto')
    expect(nodeGlobals(await bundleForBrowser('usesProcess.ts'))).toBeDefined()
  })

  it('places an order with web globals alone', async () => {
    answerAsServer(api, chain())
    const page = createContext({ ...WEB_GLOBALS })
    page.self = page
    runInContext((await bundleForBrowser('page.ts')).text, page)
    const { privateKey } = walletOf(chain(), 'alice')
    Object.assign(page, { privateKey, rpcUrl: chain().anvil.rpcUrl, serverUrl: api.url })
    const deadline = (await chain().now()) + 3_600
    const placed: unknown = await runInContext(
      `(async () => {
        const provider = new page.JsonRpcProvider(rpcUrl, undefined, { pollingInterval: 20, cacheTimeout: -1 })
        const signer = new page.Wallet(privateKey, provider)
        const client = page.createClient({ serverUrl, wallet: signer })
        const order = { side: 'BUY', symbol: 'AAPL', maxSpend: 25_000_000n, deadline: ${deadline} }
        const { order: { orderId, commit, envelope } } = await client.placeOrder(order)
        provider.destroy()
        return JSON.stringify({ orderId, commit, envelope })
      })()`,
      page,
    )
    const { orderId, commit, envelope } = JSON.parse(String(placed))
    const intent = intentSchema.parse(await open(envelope, hexToBytes(INTENT_PRIVATE_KEY), ORDER_PLACE))
    expect(intent).toMatchObject({ orderId, side: 'BUY', maxSpend: 25_000_000n, expiry: deadline })
    expect(commitOf(envelope)).toBe(commit)
    expect(await chain().read('escrow', 'orders', orderId)).toEqual([
      chain().account('alice'),
      25_000_000n,
      BigInt(deadline),
      commit,
      intent.orgId,
      1n,
      // It holds no shares.
      ZERO_BYTES32,
      0n,
    ])
  })
})
