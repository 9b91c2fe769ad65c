// Actor: the operator of the enclave's node, or an attacker between node and enclave, or a node that has simply stopped.
// Cost: nothing.
// Effect: the enclave acted on a head of any age: it settled an order hours after its deadline, or after its account was frozen. A node with
// a chain of its own would have had it pay out of that chain's balances. A node that gave the head for the block at the stated depth, or
// for `safe`, switched the depth off, and a reorganization took back what was placed.
// Now: the enclave refuses a head older than a stated bound, by its own clock. With a witness, nodes of two operators must agree at one block
// hash on everything that decides money, and have that block at its number. The lower of their safe blocks counts.
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as z from 'zod'
import { ADDRESS_VARIABLES } from '../../src/chain/contracts.js'
import type { Rpc } from '../../src/chain/rpc.js'
import { createChainState } from '../../src/enclave/chainState.js'
import { readConfig } from '../../src/enclave/config.js'
import { reportOrder } from '../../src/enclave/doctor/order.js'
import type { EnclaveDeps } from '../../src/enclave/enclave.js'
import { enclaveEnvironment } from '../enclave/support/environment.js'
import { buy } from '../enclave/support/scenarios.js'
import { useWorld } from '../enclave/support/world.js'
import { startTestChain, type TestChain } from '../support/chain.js'
import { rpcOf, tappedRpc } from '../support/tappedRpc.js'

const HOURS = 18_000
const MAX_HEAD_AGE_MS = 120_000
/** Blocks that lie below `safe` here. */
const ENOUGH_BLOCKS = '0x80'

const blockSchema = z.looseObject({ hash: z.string() })

const world = useWorld()
let other: TestChain
beforeAll(async () => {
  other = await startTestChain()
})
afterAll(() => other.stop())

/** A node that gives another block for what it is asked: a number, a hash or `safe`. */
interface LyingNode extends Pick<Rpc, 'send'> {
  /** The block in place of the true one; undefined leaves it. */
  instead: (tag: unknown) => Promise<unknown>
}

function nodeOf(of: TestChain): LyingNode {
  const { send } = tappedRpc(rpcOf(of), async (calls, ask) => {
    const answers = await ask()
    return Promise.all(
      answers.map(async (answer, index) => {
        const { method, params } = calls[index] ?? {}
        const block = method?.startsWith('eth_getBlockBy') ? await node.instead(params?.[0]) : undefined
        return block === undefined ? answer : { result: block }
      }),
    )
  })
  const node: LyingNode = { send, instead: async () => undefined }
  return node
}

/** A block of the honest chain, as a node answers it. */
async function blockOf(tag: string): Promise<object> {
  return blockSchema.parse(await world().chain.provider.send('eth_getBlockByNumber', [tag, false]))
}

/** Runs a buy, which neither broker nor relay hears of. */
async function expectUnavailable(deps: Partial<EnclaveDeps>): Promise<void> {
  const result = await world().run(await world().open(buy(250)), { deps })
  expect(result).toEqual({ outcome: 'failed', code: 'chain-unavailable' })
  expect(world().relay.posted).toEqual([])
  expect(world().broker.control.requests()).toEqual([])
}

it('a head that is hours old is not acted on', async () => {
  await world().clock.sleep(HOURS * 1_000)
  await expectUnavailable({ maxHeadAgeMs: MAX_HEAD_AGE_MS })
})

it('a chain that a node of another operator does not have is not acted on', async () => {
  await expectUnavailable({ witness: nodeOf(other) })
})

it('the head for the block at the depth is not believed: its number is another', async () => {
  const node = nodeOf(world().chain)
  node.instead = () => blockOf('latest')
  await expectUnavailable({ rpc: node, depth: 3 })
})

it('the head for the block at the depth is not believed with the right number on it, where a witness has another block', async () => {
  const [node, witness] = [nodeOf(world().chain), nodeOf(world().chain)]
  node.instead = async (tag) => ({ ...(await blockOf('latest')), ...(tag !== 'latest' && { number: tag }) })
  await expectUnavailable({ rpc: node, witness, depth: 3 })
})

it('the head for `safe` is not believed, whichever operator gives it', async () => {
  await world().chain.provider.send('anvil_mine', [ENOUGH_BLOCKS])
  const order = await world().open(buy(250))
  const [liar, honest] = [nodeOf(world().chain), nodeOf(world().chain)]
  liar.instead = async (tag) => (tag === 'safe' ? blockOf('latest') : undefined)
  for (const [rpc, witness] of [
    [liar, honest],
    [honest, liar],
  ] as const) {
    const result = await world().run(order, { deps: { rpc, witness, depth: 'safe' } })
    expect(result).toMatchObject({ outcome: 'queued' })
  }
  expect(world().relay.posted).toEqual([])
  expect(world().broker.control.requests()).toEqual([])
})

it('a witness that keeps the blocks of a reorganization agrees to none of them', async () => {
  await world().open(buy(250))
  const orphan = await blockOf('latest')
  const { hash } = blockSchema.parse(orphan)
  await world().chain.provider.send('anvil_reorg', [1, []])
  const [stuck, witness] = [nodeOf(world().chain), nodeOf(world().chain)]
  stuck.instead = async (tag) => (tag === 'latest' ? orphan : undefined)
  witness.instead = async (tag) => (tag === hash ? orphan : undefined)
  const chain = createChainState({ ...world().deps(), rpc: stuck, witness })
  await expect(chain.look()).rejects.toThrow('the nodes disagree')
})

it('an order that only one operator’s nodes know is in no report', async () => {
  const { anvil, addresses } = world().chain
  const { orderId } = await world().open(buy(250))
  const byName = Object.entries(ADDRESS_VARIABLES).map(([part, name]) => [name, Object(addresses)[part]])
  const reportBeside = (witness: string) => {
    const named = { ...enclaveEnvironment, ...Object.fromEntries(byName), RPC_URL: anvil.rpcUrl }
    const config = { ...readConfig(named), RPC_WITNESS_URL: [witness] }
    return reportOrder(config, world().deps().keys, orderId)
  }
  expect(await reportBeside(anvil.rpcUrl)).toMatchObject({ report: { orderId, state: 'OPEN' } })
  await expect(reportBeside(other.anvil.rpcUrl)).rejects.toMatchObject({ name: 'ChainAnswerError' })
})
