// Who: the operator of the enclave's node, or an attacker between node and enclave, or a node that has simply
// stopped.
// What it costs: nothing.
// What it did: the enclave acted on a head of any age: it settled an order hours after its deadline, or after
// its account was frozen. A node with a chain of its own would have had it pay out of that chain's balances.
// Now: the enclave refuses a head older than a stated bound, by its own clock. With a witness, nodes of two
// operators must agree at one block hash on everything that decides money.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RpcProvider } from '../../src/chain/provider.js'
import { buy } from '../enclave/support/scenarios.js'
import { useWorld } from '../enclave/support/world.js'
import { startTestChain, type TestChain } from '../support/chain.js'

const HOURS = 18_000
const MAX_HEAD_AGE_MS = 120_000

const world = useWorld()
let other: TestChain
beforeAll(async () => {
  other = await startTestChain()
})
afterAll(() => other.stop())

function providerOf({ anvil }: TestChain): RpcProvider {
  return new RpcProvider({ chainId: anvil.chainId, urls: [anvil.rpcUrl], timeoutMs: 20_000 })
}

it('a head that is hours old is not acted on', async () => {
  const order = await world().open(buy(250))
  await world().clock.sleep(HOURS * 1_000)
  const result = await world().run(order, { deps: { maxHeadAgeMs: MAX_HEAD_AGE_MS } })
  expect(result).toEqual({ outcome: 'failed', code: 'chain-unavailable' })
  expect(world().relay.posted).toEqual([])
  expect(world().broker.control.requests()).toEqual([])
})

it('nor with a depth: the bound is on the head', async () => {
  const order = await world().open(buy(250))
  await world().chain.provider.send('anvil_mine', ['0x3'])
  await world().clock.sleep(HOURS * 1_000)
  const deps = { maxHeadAgeMs: MAX_HEAD_AGE_MS, depth: 2 }
  expect(await world().run(order, { deps })).toMatchObject({ code: 'chain-unavailable' })
})

it('a chain that a node of another operator does not have is not acted on', async () => {
  const order = await world().open(buy(250))
  const witness = providerOf(other)
  const result = await world().run(order, { deps: { witness } })
  expect(result).toEqual({ outcome: 'failed', code: 'chain-unavailable' })
  expect(world().relay.posted).toEqual([])
  witness.destroy()
})

it('an honest witness changes nothing', async () => {
  const order = await world().open(buy(250))
  const witness = providerOf(world().chain)
  expect(await world().run(order, { deps: { witness } })).toMatchObject({ outcome: 'settled' })
  witness.destroy()
})
