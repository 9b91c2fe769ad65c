// Actor: a stranger who posts what anyone may post; one who keeps a copy of another's signed opening.
// Cost: an HTTP request each.
// Effect: the relay pays the gas of openings, so one that comes to nothing costs the platform, and one that is used twice costs the
// account its USDC.
// Now: the relay sends only what its account has signed and a simulation of the chain's head passes. An id opens once, so a copy does
// nothing, also where its thief sends it.
import { Wallet } from 'ethers'
import { expect, test } from 'vitest'
import { encodeOpeningCall } from '../../src/chain/openingCall.js'
import { commitOf } from '../../src/protocol/envelope.js'
import { orderEnvelopeSchema } from '../../src/protocol/envelopeForm.js'
import { postedOpeningSchema } from '../../src/protocol/postedOpening.js'
import { type Desk, useDesk } from '../e2e/support/desk.js'
import { post, signedBy } from '../e2e/support/signedBodies.js'
import type { Trader } from '../e2e/support/trader.js'
import { eventually } from '../support/eventually.js'
import { escrowInterface } from './support/actors.js'

const desk = useDesk()
const ONE = 1_000_000n

const relayerOf = ({ sandbox }: Desk) => sandbox.accounts.relayer.address
const sentByRelayer = () => desk().sandbox.provider.getTransactionCount(relayerOf(desk()))
const usdcOf = ({ account }: Trader) => desk().usdc.balanceOf(account.address)

test('a copied opening opens its order once, no matter who posts it and how often', async () => {
  const [alice] = desk().traders
  const before = await usdcOf(alice)
  const body = await signedBy(desk(), alice.account.privateKey)
  const copies = await Promise.all(Array.from({ length: 10 }, () => post(desk(), body)))
  expect(new Set(copies.map(({ status }) => status))).toEqual(new Set([202]))
  await eventually('it is settled', async () => {
    const { state } = await alice.client.getOrder(body.orderId)
    return state === 'SETTLED'
  })
  const sent = await sentByRelayer()
  const late = await Promise.all(Array.from({ length: 10 }, () => post(desk(), body)))
  expect(new Set(late.map(({ status }) => status))).toEqual(new Set([202]))
  expect(await sentByRelayer()).toBe(sent)
  expect(before - (await usdcOf(alice))).toBe(25n * ONE)
})

test('one who sends a copied opening himself pays for it, and changes nothing', async () => {
  const { sandbox, traders, contracts } = desk()
  const [alice, bob] = traders
  const before = await usdcOf(alice)
  const body = await signedBy(desk(), alice.account.privateKey)
  const { orderId, opening, ...envelope } = body
  const { sig, ...signed } = postedOpeningSchema.parse(opening)
  const commit = commitOf(orderEnvelopeSchema.parse(envelope))
  const data = encodeOpeningCall({ ...signed, orderId, commit }, sig)
  const thief = new Wallet(bob.account.privateKey, sandbox.provider)
  await (await thief.sendTransaction({ to: contracts.escrow.address, data })).wait()
  const gas = await relayedOpenings()
  expect((await post(desk(), body)).status).toBe(202)
  await eventually('it is settled', async () => {
    const { state } = await alice.client.getOrder(body.orderId)
    return state === 'SETTLED'
  })
  expect(await relayedOpenings()).toBe(gas)
  expect(before - (await usdcOf(alice))).toBe(25n * ONE)
})

/** How many of the relayer's transactions open orders. */
async function relayedOpenings(): Promise<number> {
  const { provider } = desk().sandbox
  const topics = [escrowInterface.getEvent('OrderOpened')?.topicHash ?? '']
  const logs = await provider.getLogs({ address: desk().contracts.escrow.address, topics, fromBlock: 0 })
  const senders = await Promise.all(
    logs.map(async ({ transactionHash }) => (await provider.getTransaction(transactionHash))?.from),
  )
  return senders.filter((sender) => sender === relayerOf(desk())).length
}
