import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { encodeAuthorizationCall } from '../../src/chain/authorizationCall.js'
import { signAuthorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { sealNotice } from '../../src/protocol/notice.js'
import { type Portfolio, portfolioSchema } from '../../src/protocol/portfolio.js'
import { sealUserBlob } from '../../src/protocol/userBlob.js'
import { type ApiStandIn, startApiStandIn } from '../support/apiStandIn.js'
import { grantedOrder, grantOrders, portfolioUpdate } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { nextWrite } from '../support/orderEnds.js'
import { ENCLAVE_KEY } from '../support/roles.js'
import { answerAsServer, clearForTrading, clientOf, walletOf } from './clientSetting.js'

const chain = useChain(async (started) => {
  await clearForTrading(started)
  await grantOrders(started, [started.account('alice')])
})
let api: ApiStandIn

beforeAll(async () => {
  api = await startApiStandIn()
})
afterAll(() => api.stop())

function client() {
  answerAsServer(api, chain())
  return clientOf(chain(), api, 'alice')
}

function holding(userPubKey: Hex, nonce: number): Portfolio {
  const positions = { AAPL: { qty: 1_500_000_000n, locked: 0n } }
  return { cash: 12_340_000n, positions, openOrders: {}, nonce, userPubKey }
}

/** Writes Alice's portfolio on chain, as the enclave does. */
async function write(
  portfolio: Portfolio,
  version: bigint,
  userPubKey = portfolio.userPubKey,
): Promise<void> {
  const account = chain().account('alice')
  const accountId = accountIdOf(account)
  const userBlob = await sealUserBlob(z.encode(portfolioSchema, portfolio), userPubKey, accountId, version)
  const { previous } = await nextWrite(chain(), account)
  const update = portfolioUpdate(grantedOrder(account), { version, previous, userBlob })
  const domain = { chainId: chain().anvil.chainId, verifyingContract: chain().addressOf('ledger') }
  const signed = signAuthorization(update, domain, ENCLAVE_KEY)
  const relayer = walletOf(chain(), 'relayer')
  const sent = await relayer.sendTransaction({
    to: domain.verifyingContract,
    data: encodeAuthorizationCall(signed),
  })
  await sent.wait()
}

describe('the portfolio', () => {
  it('is null before the first write', async () => {
    expect(await client().portfolio()).toBeNull()
  })

  it('is what the enclave wrote last', async () => {
    const alice = client()
    const { publicKey } = await alice.unlock()
    await write(holding(publicKey, 1), 1n)
    await write(holding(publicKey, 2), 2n)
    const blockNumber = await chain().provider.getBlockNumber()
    expect(await alice.portfolio()).toEqual({ portfolio: holding(publicKey, 2), version: 2n, blockNumber })
  })

  it('gives the next intent a nonce above its own', async () => {
    const alice = client()
    const { publicKey } = await alice.unlock()
    const nonce = Date.now() + 1_000_000_000
    await write(holding(publicKey, nonce), 1n)
    const deadline = (await chain().now()) + 60
    const { order } = await alice.placeOrder({ side: 'SELL', symbol: 'AAPL', maxSpend: 1n, deadline })
    expect(order.intent.nonce).toBe(nonce + 1)
  })

  it('of a former key does not open, but is no obstacle to an order under the present key', async () => {
    const alice = client()
    const { publicKey } = await alice.unlock()
    const former = await clientOf(chain(), api, 'bob').unlock()
    await write(holding(publicKey, 1), 1n, former.publicKey)
    await expect(alice.portfolio()).rejects.toMatchObject({ code: 'portfolio-undecryptable' })
    const deadline = (await chain().now()) + 60
    const { order } = await alice.placeOrder({ side: 'SELL', symbol: 'AAPL', maxSpend: 1n, deadline })
    expect(order.intent.userPubKey).toBe(publicKey)
  })
})

describe('the key', () => {
  it('is derived once, and again after it was locked', async () => {
    const alice = client()
    const [one, two] = await Promise.all([alice.unlock(), alice.unlock()])
    expect(two).toBe(one)
    alice.lock()
    const again = await alice.unlock()
    expect(again).not.toBe(one)
    expect(again).toEqual(one)
  })
})

describe('a notice', () => {
  const orderId: Hex = `0x${'0b'.repeat(32)}`
  const text = {
    orderId,
    code: 'not-permitted',
    message: 'Your institution’s rulebook does not let you buy.',
  }

  it('opens for the employee, under its own order alone', async () => {
    const alice = client()
    const notice = await sealNotice(text, (await alice.unlock()).publicKey)
    expect(await alice.openNotice({ orderId, notice })).toEqual(text)
    const other: Hex = `0x${'0c'.repeat(32)}`
    await expect(alice.openNotice({ orderId: other, notice })).rejects.toMatchObject({
      code: 'undecryptable',
    })
    expect(await alice.openNotice({ orderId, notice: null })).toBeNull()
  })
})
