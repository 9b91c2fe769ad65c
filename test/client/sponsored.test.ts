// Orders that the wallet signs and the platform opens. test/e2e/cli.test.ts has a buy and a sale of a wallet without ether.
import { id, JsonRpcProvider, toQuantity, Wallet } from 'ethers'
import { expect, it, onTestFinished } from 'vitest'
import type { Eip1193Provider, TakenId, UnfinishedOrder } from '../../src/client/index.js'
import { type ApiAnswer, type ApiRequest, problem } from '../support/apiStandIn.js'
import { answerAsServer, receive, WALLET_USDC, walletOf } from './clientSetting.js'
import { ONE, usePlacing } from './placing.js'
import { createTestWallet } from './testWallet.js'

const { chain, api, posted, balance, openAsSigned, takeId, setting: placing } = await usePlacing()
const VALID_S = 600
const SPONSORED = { sponsored: true } as const
const ORDERS = id('orders(bytes32)').slice(0, 10)
const isOrder = ({ method, path }: ApiRequest) => method === 'POST' && path === '/orders'

/** Answers as a server that opens what it takes, unless it answers otherwise. */
function answerAsSponsor(otherwise: (request: ApiRequest) => ApiAnswer | undefined = () => undefined): void {
  answerAsServer(api, chain(), (request) => {
    if (!isOrder(request)) return undefined
    return otherwise(request) ?? openAsSigned(request.body).then(() => receive(request.body))
  })
}

/** A wallet that notes what it signs as typed data. */
class NotingWallet extends Wallet {
  readonly signed: string[] = []

  override signTypedData(...args: Parameters<Wallet['signTypedData']>): Promise<string> {
    this.signed.push(...Object.keys(args[1]))
    return super.signTypedData(...args)
  }
}

async function setting() {
  const signer = new NotingWallet(walletOf(chain(), 'alice').privateKey, chain().provider)
  return { ...(await placing({ wallet: signer })), signer }
}

const later = async () => chain().mineAt((await chain().now()) + VALID_S)
const REFUSED = { ...problem(429, 'relay-quota-exhausted', { quota: 'account' }) }
const refusal = { ...REFUSED, headers: { ...REFUSED.headers, 'retry-after': '3600' } }

it('a sponsored order is found open below the block of its signature, where a reorganization has put it', async () => {
  const { client, buy } = await setting()
  const before = await chain().provider.getBlockNumber()
  await chain().provider.send('anvil_mine', ['0x2'])
  answerAsSponsor()
  const { opened } = await client.placeOrder(buy, {
    ...SPONSORED,
    beforeOpen: () => chain().provider.send('anvil_rollback', [2]),
  })
  expect(opened.blockNumber).toBe(before + 1)
})

it('a sponsored order is signed under a fresh id when another wallet has taken the first', async () => {
  const { client, signer, buy } = await setting()
  const taken: TakenId[] = []
  answerAsServer(api, chain(), (request) => {
    if (!isOrder(request)) return undefined
    return openAsSigned(request.body).then(
      () => receive(request.body),
      () => problem(422, 'would-revert', { revert: { name: 'OrderIdTaken', args: {} } }),
    )
  })
  const { order } = await client.placeOrder(buy, {
    ...SPONSORED,
    onIdTaken: (one) => taken.push(one),
    beforeOpen: async (sealed) => (taken.length > 0 ? undefined : takeId(sealed)),
  })
  expect(taken).toMatchObject([{ by: chain().account('bob'), times: 1 }])
  expect(order.orderId).not.toBe(taken[0]?.orderId)
  expect(signer.signed).toHaveLength(4)
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it('a sponsored order is placed once where a node answers half of a look from the block before', async () => {
  let opened = false
  /** Shows once that the id is held, and not yet by whom, as anvil does while it mines. */
  class TornNode extends JsonRpcProvider {
    torn = 0
    override send(method: string, params: [{ data?: string }, string]) {
      const isHalf = opened && method === 'eth_call' && params[0].data?.startsWith(ORDERS)
      if (!isHalf || this.torn > 0) return super.send(method, params)
      this.torn++
      return super.send(method, [params[0], toQuantity(BigInt(params[1]) - 1n)])
    }
  }
  const node = new TornNode(chain().anvil.rpcUrl, undefined, { batchMaxCount: 1 })
  onTestFinished(() => node.destroy())
  const wallet = new Wallet(walletOf(chain(), 'alice').privateKey, node)
  const { client, buy } = await placing({ wallet })
  answerAsServer(api, chain(), (request) => {
    if (!isOrder(request)) return undefined
    return openAsSigned(request.body).then(() => {
      opened = true
      return receive(request.body)
    })
  })
  const taken: TakenId[] = []
  await client.placeOrder(buy, {
    ...SPONSORED,
    onIdTaken: (one) => taken.push(one),
  })
  expect([node.torn, taken, posted().length]).toEqual([1, [], 1])
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it('a sponsored order is placed once where a node fails after it was opened', async () => {
  const wallet = createTestWallet(chain())
  let failures = 0
  const failing: Eip1193Provider = {
    async request(asked) {
      if (asked.method === 'eth_getLogs' && failures++ === 0) throw { code: 429 }
      return wallet.request(asked)
    },
  }
  const { client, buy } = await placing({ wallet: failing })
  answerAsSponsor()
  await client.placeOrder(buy, SPONSORED)
  expect([failures, posted().length]).toEqual([2, 1])
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it('nothing is signed that a node which is years ahead could have used for years', async () => {
  const asked: string[] = []
  const wallet = createTestWallet(chain(), {
    prompt(method, act) {
      asked.push(method)
      return act()
    },
  })
  const ahead: Eip1193Provider = {
    async request(request) {
      const answer = await wallet.request(request)
      return request.method === 'eth_getBlockByNumber'
        ? Object.assign({}, answer, { timestamp: toQuantity(2n ** 33n) })
        : answer
    },
  }
  const { client, buy } = await placing({ wallet: ahead })
  answerAsSponsor()
  const order = { ...buy, deadline: 2 ** 33 + 3_600 }
  await expect(client.placeOrder(order, SPONSORED)).rejects.toMatchObject({ code: 'opening-unsupported' })
  expect(await client.canSponsor()).toBe(false)
  expect([asked, posted()]).toEqual([[], []])
})

it('a sponsored order that the platform does not open in time is given up at its last second, by the chain’s time', async () => {
  const { client, buy } = await setting()
  answerAsSponsor(({ body }) => receive(body))
  const placed = client.placeOrder(buy, SPONSORED)
  const ended = expect(placed).rejects.toMatchObject({ code: 'opening-expired' })
  await expect.poll(() => posted().length, { timeout: 20_000 }).toBe(1)
  await later()
  await ended
  await expect(openAsSigned(posted()[0]?.body)).rejects.toThrow()
  answerAsSponsor()
  await client.placeOrder(buy, SPONSORED)
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it('a second opening is not signed while a refused one can still be used', async () => {
  const { client, signer, buy } = await setting()
  answerAsSponsor(() => refusal)
  const refused = { code: 'relay-quota-exhausted', retryable: false }
  const unfinished: string[] = []
  const onUnfinished = ({ state }: UnfinishedOrder) => void unfinished.push(state)
  await expect(client.placeOrder(buy, { ...SPONSORED, onUnfinished })).rejects.toMatchObject(refused)
  expect(unfinished).toEqual(['signed'])
  const openings = () => signer.signed.filter((type) => type !== 'Intent')
  answerAsSponsor()
  const asked = signer.signed.length
  for (const attempt of [client.plan(buy, SPONSORED), client.placeOrder(buy, SPONSORED)]) {
    await expect(attempt).rejects.toMatchObject({ code: 'opening-outstanding' })
  }
  expect(signer.signed).toHaveLength(asked)
  await later()
  await client.placeOrder(buy, SPONSORED)
  expect(openings()).toHaveLength(2)
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it('a second opening is signed once the first was used, by anyone who had it', async () => {
  const { client, buy } = await setting()
  answerAsSponsor(() => refusal)
  await expect(client.placeOrder(buy, SPONSORED)).rejects.toMatchObject({ code: 'relay-quota-exhausted' })
  await openAsSigned(posted()[0]?.body)
  answerAsSponsor()
  await client.placeOrder(buy, SPONSORED)
  expect(await balance()).toBe(WALLET_USDC - 50n * ONE)
})

it('nothing is signed for a USDC that has no signed payments', async () => {
  const { client, sale } = await setting()
  answerAsSponsor()
  // Reverts on every call: PUSH0, PUSH0, REVERT.
  await chain().provider.send('anvil_setCode', [chain().addressOf('usdc'), '0x5f5ffd'])
  await expect(client.placeOrder(sale, SPONSORED)).rejects.toMatchObject({ code: 'opening-unsupported' })
  expect(posted()).toEqual([])
})
