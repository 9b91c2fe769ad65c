import { type Filter, Interface, type TransactionRequest, zeroPadValue } from 'ethers'
import { expect, it } from 'vitest'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { createMembersReader } from '../../web/chain/members.js'

const [admin, ada, ben] = [
  '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
] as const
const escrow = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const contract = '0x2222222222222222222222222222222222222222'
const ORG = `0x${'01'.repeat(32)}` as const
const registry = new Interface(institutionRegistryAbi)
const escrowViews = new Interface(orderEscrowAbi)

/** A chain whose head and departures a test sets, and the wallets whose states were read since the last look. */
function chainOf(events: readonly (readonly [wallet: string, block: number])[]) {
  const chain = { head: 10, leaving: new Set<string>(), read: [] as string[] }
  const answers: Record<string, (args: readonly string[]) => unknown> = {
    adminOf: () => admin,
    orgOf: ([wallet = '']) => {
      chain.read.push(wallet)
      return ORG
    },
    isInvited: () => false,
    leavingAt: ([wallet = '']) => (chain.leaving.has(wallet) ? 1n : 0n),
  }
  const provider = {
    getBlockNumber: async () => chain.head,
    getLogs: async ({ fromBlock, toBlock }: Filter) =>
      events
        .filter(([, block]) => block >= Number(fromBlock) && block <= Number(toBlock))
        .map(([wallet, blockNumber]) => ({
          ...registry.encodeEventLog('MemberUpdated', [ORG, wallet, true]),
          ...{ blockNumber, blockHash: zeroPadValue(`0x0${blockNumber}`, 32), index: 0, address: contract },
        })),
    async call({ to, data }: TransactionRequest) {
      const views = to === escrow ? escrowViews : registry
      const called = views.parseTransaction({ data: data ?? '0x' })
      if (called === null) throw new Error('an unknown view is called')
      const answer = answers[called.name]?.(called.args.toArray()) ?? contract
      return views.encodeFunctionResult(called.name, [answer])
    },
  }
  const settings = { pins: { escrow }, chain: { firstBlock: 1 } } as const
  const ask = createMembersReader(provider, settings, ORG)
  const look = async () => {
    chain.read = []
    const { members } = await ask(new AbortController().signal, () => undefined)
    return { states: members.map(({ address, state }) => [address, state]), read: [...new Set(chain.read)] }
  }
  return { chain, look }
}

it('states are read again only while events are new, or while a member is leaving', async () => {
  const { chain, look } = chainOf([
    [ada, 2],
    [ben, 3],
  ])
  const states = [
    [admin, 'admin'],
    [ada, 'member'],
    [ben, 'member'],
  ]
  // A node that lags may have answered from before the newest event.
  expect(await look()).toEqual({ states, read: [ada, ben] })
  chain.head = 40
  expect(await look()).toEqual({ states, read: [ada, ben] })
  expect(await look()).toEqual({ states, read: [] })
})

it('a member who is leaving is read until the departure takes effect', async () => {
  const { chain, look } = chainOf([
    [ada, 2],
    [ben, 3],
  ])
  chain.head = 40
  chain.leaving.add(ben)
  const { states } = await look()
  expect(states).toContainEqual([ben, 'leaving'])
  expect((await look()).read).toEqual([ben])
})
