import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { sealNotice } from '../../src/protocol/notice.js'
import type { Portfolio } from '../../src/protocol/portfolio.js'
import { useApi } from '../support/apiStandIn.js'
import { grantOrders } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { answerAsServer, clearForTrading, clientOf } from './clientSetting.js'
import { portfolioOf, writePortfolio } from './portfolioSetting.js'

const chain = useChain(async (started) => {
  await clearForTrading(started)
  await grantOrders(started, [started.account('alice')])
})
const api = await useApi()

function client() {
  answerAsServer(api, chain())
  return clientOf(chain(), api, 'alice')
}

const write = (portfolio: Portfolio, version: bigint, userPubKey?: Hex) =>
  writePortfolio(chain(), portfolio, version, userPubKey)

it('the portfolio is null before the first write', async () => {
  expect(await client().getPortfolio()).toBeNull()
})

it('the portfolio gives the next intent a nonce above its own', async () => {
  const alice = client()
  const { publicKey } = await alice.unlock()
  const nonce = Date.now() + 1_000_000_000
  await write(portfolioOf(publicKey, nonce), 1n)
  const deadline = (await chain().now()) + 60
  const { order } = await alice.placeOrder({ side: 'SELL', symbol: 'AAPL', maxSpend: 1n, deadline })
  expect(order.intent.nonce).toBe(nonce + 1)
})

it('the key is derived once, and again after it was locked', async () => {
  const alice = client()
  const [one, two] = await Promise.all([alice.unlock(), alice.unlock()])
  expect(two).toBe(one)
  alice.lock()
  const again = await alice.unlock()
  expect(again).not.toBe(one)
  expect(again).toEqual(one)
})

const orderId: Hex = `0x${'0b'.repeat(32)}`
const text = {
  orderId,
  code: 'not-permitted',
  message: 'Your institution’s rulebook does not let you buy.',
}

it('a notice opens for the employee, under its own order alone', async () => {
  const alice = client()
  const notice = await sealNotice(text, (await alice.unlock()).publicKey)
  expect(await alice.openNotice({ orderId, notice })).toEqual(text)
  const other: Hex = `0x${'0c'.repeat(32)}`
  await expect(alice.openNotice({ orderId: other, notice })).rejects.toMatchObject({
    code: 'notice-undecryptable',
  })
  expect(await alice.openNotice({ orderId, notice: null })).toBeNull()
})
