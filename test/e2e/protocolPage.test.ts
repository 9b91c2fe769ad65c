// The page is the contract: a client that was written from docs/protocol.md alone trades on the real platform.
import { afterEach, describe, expect, it } from 'vitest'
import { ONE_SHARE, ONE_USDC } from '../../src/protocol/units.js'
import { commitOf } from '../support/pageClient/envelope.js'
import { connectServer, ProblemError } from '../support/pageClient/http.js'
import type { OrderWish } from '../support/pageClient/orders.js'
import type { Policy } from '../support/pageClient/typedData.js'
import type { Pins } from '../support/pageClient/venue.js'
import { connectPageClient, type PageClient } from '../support/pageClient.js'
import { useDesk } from './support/desk.js'
import { brokerOrder } from './support/trader.js'

const desk = useDesk()

const open: PageClient[] = []

afterEach(() => {
  for (const client of open.splice(0)) client.close()
})

/** A client for one of the sandbox's accounts: URLs and a key are all that it is given. */
async function connect({ privateKey }: { privateKey: string }, pins: Pins = {}): Promise<PageClient> {
  const { url: serverUrl, rpcUrl } = desk().sandbox.info
  const client = await connectPageClient({ serverUrl, rpcUrl, privateKey, pins })
  open.push(client)
  return client
}

const alice = () => desk().traders[0]
const bob = () => desk().traders[1]
const carol = () => desk().traders[2]

/** Sends an order all the way; resolves with how it ended. */
async function trade(client: PageClient, wish: OrderWish) {
  const order = await client.prepare(wish)
  await client.submit(order)
  const ended = await client.ended(order.intent.orderId)
  return { ...order.intent, ...ended, why: client.openNotice(order.intent.orderId, ended) }
}

/** Both clients open the same blob. */
async function agreesWithTheProjectsOwn(client: PageClient) {
  const { cash, positions } = await alice().portfolio()
  expect(await client.portfolio()).toMatchObject({ cash, positions })
}

describe('a client written from the page', () => {
  it('has no portfolio before its first order, and knows what is listed', async () => {
    const client = await connect(alice().account)
    expect(await client.portfolio()).toBeUndefined()
    expect([...(await client.listed())].sort()).toEqual([...desk().sandbox.info.symbols].sort())
  })

  it('buys with the wallet’s USDC, and opens its portfolio', async () => {
    const client = await connect(alice().account)
    const before = await alice().wallet()
    const order = await trade(client, { side: 'BUY', symbol: 'AAPL', amount: 1_000n * ONE_USDC })
    expect(order).toMatchObject({ state: 'SETTLED', why: { code: 'filled' } })
    expect(order.why?.message).toContain("When you sell, you pay the broker's fees for both trades.")
    expect(await alice().wallet()).toBe(before - 1_000n * ONE_USDC)
    expect(brokerOrder(desk().sandbox, order.orderId)).toMatchObject({ symbol: 'AAPL', side: 'buy' })
    const portfolio = await client.portfolio()
    expect(portfolio).toMatchObject({ openOrders: {}, nonce: order.nonce, userPubKey: order.userPubKey })
    expect(portfolio?.positions.AAPL?.qty).toBeGreaterThan(0n)
    await agreesWithTheProjectsOwn(client)
  })

  it('sells, and buys out of its cash', async () => {
    const client = await connect(alice().account)
    const sale = await trade(client, { side: 'SELL', symbol: 'AAPL', amount: 400n * ONE_USDC })
    const buy = { side: 'BUY', symbol: 'MSFT', amount: 100n * ONE_USDC, fromCash: true } as const
    expect([sale.state, (await trade(client, buy)).state]).toEqual(['SETTLED', 'SETTLED'])
    expect((await client.portfolio())?.positions.MSFT?.qty).toBeGreaterThan(0n)
    await agreesWithTheProjectsOwn(client)
  })

  it('withdraws cash and shares', async () => {
    const client = await connect(alice().account)
    const wallet = await alice().wallet()
    const cash = await trade(client, { side: 'WITHDRAW', symbol: 'USDC', amount: 50n * ONE_USDC })
    const shares = await trade(client, { side: 'WITHDRAW', symbol: 'AAPL', amount: ONE_SHARE })
    expect([cash.state, shares.state]).toEqual(['SETTLED', 'SETTLED'])
    expect(await alice().wallet()).toBe(wallet + 50n * ONE_USDC)
    expect(await client.shares('AAPL')).toBe(ONE_SHARE)
    await agreesWithTheProjectsOwn(client)
  })

  it('deposits USDC', async () => {
    const client = await connect(alice().account)
    const cash = (await client.portfolio())?.cash ?? 0n
    const deposit = await trade(client, { side: 'DEPOSIT', symbol: 'USDC', amount: 30n * ONE_USDC })
    expect(deposit.state).toBe('SETTLED')
    expect((await client.portfolio())?.cash).toBe(cash + 30n * ONE_USDC)
    await agreesWithTheProjectsOwn(client)
  })

  it('puts its envelope in the place of another that was posted first', async () => {
    const client = await connect(alice().account)
    const wish = { side: 'SELL', symbol: 'AAPL', amount: 10n * ONE_USDC } as const
    const [mine, other] = [await client.prepare(wish), await client.prepare(wish)]
    const { orderId } = mine.intent
    const http = connectServer(desk().sandbox.info.url)
    const squatter = await http.post('/orders', { orderId, ...other.envelope })
    expect(squatter.commit).toBe(commitOf(other.envelope))
    await client.submit(mine)
    expect((await client.ended(orderId)).state).toBe('SETTLED')
  })

  it('learns from the notice why a sale of what is not held was refused', async () => {
    const client = await connect(bob().account)
    const order = await trade(client, { side: 'SELL', symbol: 'NVDA', amount: 100n * ONE_USDC })
    expect(order.state).toBe('REFUNDED')
    expect(order.why).toMatchObject({ orderId: order.orderId, code: 'insufficient-shares' })
  })

  it('cancels an order that waits for the market, and has its USDC back', async () => {
    const { broker } = desk().sandbox
    const client = await connect(alice().account)
    const before = await alice().wallet()
    broker.clock({ open: false, nextOpen: new Date(Date.now() + 600_000).toISOString() })
    const order = await client.prepare({ side: 'BUY', symbol: 'AAPL', amount: 20n * ONE_USDC })
    const { orderId } = order.intent
    await client.submit(order)
    await alice().reaches(orderId, 'queued')
    await client.cancel(orderId)
    const ended = await client.ended(orderId)
    broker.clock({ open: true })
    expect([ended.state, client.openNotice(orderId, ended)?.code]).toEqual(['REFUNDED', 'cancelled'])
    expect(await alice().wallet()).toBe(before)
  })

  it('signs nothing when the server names an escrow that is not the pinned one', async () => {
    const { orderEscrow, confidentialLedger } = desk().sandbox.info.contracts
    const wish = { side: 'BUY', symbol: 'AAPL', amount: 10n * ONE_USDC } as const
    const misled = await connect(bob().account, { escrow: confidentialLedger })
    await expect(misled.prepare(wish)).rejects.toThrow('another escrow')
    const pinned = await connect(bob().account, { escrow: orderEscrow })
    await expect(pinned.prepare(wish)).resolves.toBeDefined()
  })
})

describe('an admin’s client written from the page', () => {
  const trades = { canBuy: true, canSell: true, restricted: [] }
  const rules = (restricted: string[]): Policy => ({
    employees: {
      [alice().account.address.toLowerCase()]: trades,
      [carol().account.address.toLowerCase()]: { ...trades, restricted },
    },
    maxOrderNotional: (5_000n * ONE_USDC).toString(),
    allowWithdrawShares: false,
  })

  it('publishes a rulebook, by which orders are refused from then on', async () => {
    const admin = await connect(desk().sandbox.accounts.admin)
    expect(await admin.publishRulebook(rules(['TSLA']))).toBe(2)
    const buy = { side: 'BUY', amount: 100n * ONE_USDC } as const
    const restricted = await trade(await connect(carol().account), { ...buy, symbol: 'TSLA' })
    expect(restricted.why?.code).toBe('restricted-symbol')
    const absent = await trade(await connect(bob().account), { ...buy, symbol: 'AAPL' })
    expect(absent.why?.code).toBe('not-permitted')
  })

  it('learns why a rulebook is rejected', async () => {
    const admin = await connect(desk().sandbox.accounts.admin)
    const refusal = admin.publishRulebook(rules(['ZZZZ']))
    await expect(refusal).rejects.toBeInstanceOf(ProblemError)
    const answer = { status: 422, code: 'policy-rejected', reason: 'unlisted-symbol' }
    await expect(refusal).rejects.toMatchObject(answer)
  })
})
