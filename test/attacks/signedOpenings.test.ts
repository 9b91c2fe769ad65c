// Who: a stranger who posts what anyone may post; one who keeps a copy of another's signed opening; a cleared employee, Bob, who reads
// the relayer's transactions in the node's pool.
// Cost: an HTTP request each; for Bob the gas of an opening.
// Effect: the relay pays the gas of openings, so one that comes to nothing costs the platform, and one that is used twice costs the
// account its USDC.
// Now: the relay sends only what its account has signed and a simulation of the chain's head passes. An id opens once, so a copy does
// nothing. Bob pays more than the platform loses, and is named; the account signs under a fresh id and does not pay with its quota.
import { Interface, Wallet } from 'ethers'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { createClient, type OrderRequest } from '../../src/client/index.js'
import { problemSchema } from '../../src/protocol/api.js'
import { bytes32Schema, type Hex } from '../../src/protocol/hex.js'
import { personEnv, startCli } from '../e2e/support/cli.js'
import { type Desk, useDesk } from '../e2e/support/desk.js'
import type { Trader } from '../e2e/support/trader.js'
import { eventually } from '../support/eventually.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const desk = useDesk()
const escrow = new Interface(orderEscrowAbi)
const ONE = 1_000_000n
const TEN_MINUTES = 600
const TIP = 100_000_000_000n

const bodySchema = z.looseObject({ orderId: bytes32Schema, opening: z.looseObject({ sig: z.string() }) })
type Body = z.output<typeof bodySchema>

/** The body of an order that this key has signed for the platform, and that no server has got. */
async function signedBy(privateKey: Hex, maxSpend = 25n * ONE): Promise<Body> {
  const { sandbox, chainTime } = desk()
  let body: unknown
  const client = createClient({
    serverUrl: sandbox.info.url,
    wallet: new Wallet(privateKey, sandbox.provider),
    timing: { attempts: 1, baseMs: 1, maxMs: 1 },
    async fetch(input, init) {
      if (init?.method !== 'POST') return fetch(input, init)
      body = JSON.parse(String(init.body))
      throw new TypeError('it is kept back')
    },
  })
  const deadline = (await chainTime()) + 3_600
  const buy: OrderRequest = { side: 'BUY', symbol: 'AAPL', maxSpend, deadline }
  await expect(client.placeOrder(buy, { sponsored: true })).rejects.toMatchObject({
    code: 'server-unreachable',
  })
  return bodySchema.parse(body)
}

async function post(body: object) {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${desk().sandbox.info.url}/orders`, {
    ...{ method: 'POST', headers },
    body: JSON.stringify(body),
  })
  if (answer.ok) return { status: answer.status, code: null, revert: undefined }
  const { code, revert } = problemSchema.parse(await answer.json())
  return { status: answer.status, code, revert: revert?.name }
}

const relayerOf = ({ sandbox }: Desk) => sandbox.accounts.relayer.address
const sentByRelayer = () => desk().sandbox.provider.getTransactionCount(relayerOf(desk()))
const isKnown = async (orderId: Hex) =>
  (await fetch(`${desk().sandbox.info.url}/orders/${orderId}`)).status === 200
const usdcOf = ({ account }: Trader) => desk().usdc.balanceOf(account.address)

test('junk openings cost the relayer nothing and are not kept', async () => {
  const [alice, bob] = desk().traders
  const hers = await signedBy(alice.account.privateKey)
  const his = await signedBy(bob.account.privateKey)
  const stranger = Wallet.createRandom()
  const before = [await sentByRelayer(), await desk().sandbox.provider.getBalance(relayerOf(desk()))]
  const forged = [
    { ...hers, opening: his.opening },
    { ...hers, opening: { ...hers.opening, account: bob.account.address } },
    { ...hers, opening: { ...hers.opening, amount: '1' } },
    { ...hers, orderId: his.orderId },
    { ...hers, opening: { ...hers.opening, account: stranger.address, sig: his.opening.sig } },
  ]
  for (const body of forged) expect(await post(body)).toMatchObject({ status: 422, code: 'invalid-opening' })
  expect([await isKnown(hers.orderId), await isKnown(his.orderId)]).toEqual([false, false])
  expect([await sentByRelayer(), await desk().sandbox.provider.getBalance(relayerOf(desk()))]).toEqual(before)
})

test('a copied opening opens its order once, no matter who posts it and how often', async () => {
  const [alice] = desk().traders
  const before = await usdcOf(alice)
  const body = await signedBy(alice.account.privateKey)
  const copies = await Promise.all(Array.from({ length: 10 }, () => post(body)))
  expect(new Set(copies.map(({ status }) => status))).toEqual(new Set([202]))
  await eventually('it is settled', async () => {
    const { state } = await alice.client.getOrder(body.orderId)
    return state === 'SETTLED'
  })
  const sent = await sentByRelayer()
  const late = await Promise.all(Array.from({ length: 10 }, () => post(body)))
  expect(new Set(late.map(({ status }) => status))).toEqual(new Set([202]))
  expect(await sentByRelayer()).toBe(sent)
  expect(before - (await usdcOf(alice))).toBe(25n * ONE)
})

test('one who takes the id of a pending opening delays it, and is named', async () => {
  const { sandbox, traders, chainTime } = desk()
  const [alice, bob] = traders
  const { provider } = sandbox
  const env = personEnv(desk(), alice, await temporaryDirectory())
  const deadline = (await chainTime()) + 3_600
  const before = await usdcOf(alice)
  await provider.send('evm_setIntervalMining', [0])
  const program = startCli(['order', 'buy', 'AAPL', '100', '--sponsored'], env)
  const orderId = await eventually('the relayer’s opening', () => pendingOpening(relayerOf(desk())))
  const other = `${orderId.slice(0, 34)}${'00'.repeat(16)}`
  const data = escrow.encodeFunctionData('openRequest', [other, `0x${'0b'.repeat(32)}`, deadline])
  const fees = { maxPriorityFeePerGas: TIP, maxFeePerGas: 2n * TIP, gasLimit: 500_000n }
  const wallet = new Wallet(bob.account.privateKey, provider)
  await wallet.sendTransaction({ to: desk().contracts.escrow.address, data, ...fees })
  await provider.send('evm_mine', [])
  await provider.send('evm_setIntervalMining', [1])
  expect(await program.exit).toBe(0)
  expect(program.out()).toContain('state\tSETTLED\n')
  const told = program
    .err()
    .split('\n')
    .filter((line) => line.includes('took the order id'))
  expect(told).toEqual([expect.stringContaining(bob.account.address)])
  expect(told[0]).toContain(orderId)
  expect(before - (await usdcOf(alice))).toBe(100n * ONE)
})

test('an opening whose last second has passed is refused, and nothing is kept', async () => {
  const [, , cleo] = desk().traders
  const body = await signedBy(cleo.account.privateKey)
  await desk().sandbox.provider.send('evm_increaseTime', [TEN_MINUTES])
  await desk().sandbox.provider.send('evm_mine', [])
  const sent = await sentByRelayer()
  expect(await post(body)).toEqual({ status: 422, code: 'would-revert', revert: 'OpeningExpired' })
  expect(await isKnown(body.orderId)).toBe(false)
  expect(await sentByRelayer()).toBe(sent)
})

const poolSchema = z.object({
  pending: z.record(z.string(), z.record(z.string(), z.looseObject({ input: z.string() }))),
})

/** The order that a transaction of this account in the node's pool opens. */
async function pendingOpening(account: Hex): Promise<Hex | undefined> {
  const { pending } = poolSchema.parse(await desk().sandbox.provider.send('txpool_content', []))
  const own = Object.entries(pending).find(([from]) => from.toLowerCase() === account.toLowerCase())
  for (const { input } of Object.values(own?.[1] ?? {})) {
    const call = escrow.parseTransaction({ data: input })
    if (call?.name === 'openBuyFor') return bytes32Schema.parse(call.args.getValue('o').orderId)
  }
  return undefined
}
