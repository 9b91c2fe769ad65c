// Orders that the wallet signs and the platform opens. test/e2e/cli.test.ts has a buy and a sale of a wallet without ether.
import { id, toQuantity } from 'ethers'
import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { Eip1193Provider, TakenId } from '../../src/client/index.js'
import { type ApiAnswer, type ApiRequest, problem } from '../support/apiStandIn.js'
import { answerAsServer, receive, WALLET_USDC } from './clientSetting.js'
import { ONE, usePlacing } from './placing.js'
import { createTestWallet } from './testWallet.js'

const { chain, api, posted, balance, openAsSigned, takeId, setting: placing } = await usePlacing()
type Request = Parameters<Eip1193Provider['request']>[0]
const VALID_S = 600
const SPONSORED = { sponsored: true } as const
const isOrder = ({ method, path }: ApiRequest) => method === 'POST' && path === '/orders'

/** Answers as a server that opens what it takes, unless it answers otherwise. */
function answerAsSponsor(otherwise: (request: ApiRequest) => ApiAnswer | undefined = () => undefined): void {
  answerAsServer(api, chain(), (request) => {
    if (!isOrder(request)) return undefined
    return otherwise(request) ?? openAsSigned(request.body).then(() => receive(request.body))
  })
}

/** @param through what the node behind the wallet answers, instead of the chain */
async function setting(through: (request: Request, next: Eip1193Provider) => unknown = () => undefined) {
  const asked: string[] = []
  const wallet = createTestWallet(chain(), { asked })
  const request = async (one: Request) => (await through(one, wallet)) ?? wallet.request(one)
  const openings = () => asked.filter((method) => method === 'eth_signTypedData_v4').length / 2
  return { ...(await placing({ wallet: { request } })), asked, openings }
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
  const { client, openings, buy } = await setting()
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
  expect(openings()).toBe(2)
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

const callSchema = z.tuple([z.looseObject({ data: z.string() }), z.string()])
const orders = id('orders(bytes32)').slice(0, 10)

it.each<[string, (request: Request, next: Eip1193Provider) => Promise<unknown> | undefined]>([
  [
    'fails after it was opened',
    ({ method }) => (method === 'eth_getLogs' ? Promise.reject({ code: 429 }) : undefined),
  ],
  [
    // As anvil does while it mines: the id is held, and not yet by whom.
    'answers half of a look from the block before',
    ({ method, params }, next) => {
      const call = callSchema.safeParse(params).data
      if (method !== 'eth_call' || !call?.[0].data.startsWith(orders)) return undefined
      return next.request({ method, params: [call[0], toQuantity(BigInt(call[1]) - 1n)] })
    },
  ],
])('a sponsored order is placed once where a node %s', async (_how, answer) => {
  const answers: unknown[] = []
  const { client, buy } = await setting(async (request, next) => {
    const isOpen = (await balance()) !== WALLET_USDC
    const given = isOpen && answers.length === 0 ? answer(request, next) : undefined
    if (given !== undefined) answers.push(given)
    return given
  })
  answerAsSponsor()
  const taken: TakenId[] = []
  await client.placeOrder(buy, { ...SPONSORED, onIdTaken: (one) => taken.push(one) })
  expect([answers.length, taken, posted().length]).toEqual([1, [], 1])
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it('nothing is signed that a node which is years ahead could have used for years', async () => {
  const { asked, client, buy } = await setting(async (request, next) =>
    request.method === 'eth_getBlockByNumber'
      ? Object.assign({}, await next.request(request), { timestamp: toQuantity(2n ** 33n) })
      : undefined,
  )
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
  await expect.poll(() => posted().length).toBe(1)
  await later()
  await ended
  await expect(openAsSigned(posted()[0]?.body)).rejects.toThrow()
  answerAsSponsor()
  await client.placeOrder(buy, SPONSORED)
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it('a second opening is not signed while a refused one can still be used', async () => {
  const { client, asked, openings, buy } = await setting()
  answerAsSponsor(() => refusal)
  const refused = { code: 'relay-quota-exhausted', retryable: false }
  const onUnfinished = vi.fn()
  await expect(client.placeOrder(buy, { ...SPONSORED, onUnfinished })).rejects.toMatchObject(refused)
  expect(onUnfinished.mock.calls).toMatchObject([[{ state: 'signed' }]])
  answerAsSponsor()
  const before = [...asked]
  for (const attempt of [client.plan(buy, SPONSORED), client.placeOrder(buy, SPONSORED)]) {
    await expect(attempt).rejects.toMatchObject({ code: 'opening-outstanding' })
  }
  expect(asked).toEqual(before)
  await later()
  await client.placeOrder(buy, SPONSORED)
  expect(openings()).toBe(2)
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
