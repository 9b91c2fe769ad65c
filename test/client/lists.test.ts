// The lists that the client makes of events, on a real chain.
import { beforeAll, expect, it } from 'vitest'
import type { Member, MemberListing, OrderListing } from '../../src/client/index.js'
import { useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { answerAsServer, clearForTrading, clientOf, ORG_ID } from './clientSetting.js'

const chain = useChain(clearForTrading)

const api = await useApi()

beforeAll(async () => {
  answerAsServer(api, chain())
})

async function lastOf<T>(values: AsyncGenerator<T>): Promise<T> {
  let last: T | undefined
  for await (const value of values) last = value
  if (last === undefined) throw new Error('the list yields nothing')
  return last
}

const client = () => clientOf(chain(), api, 'alice')

it('an account’s orders are listed, newest first, with what the escrow took', async () => {
  const alice = client()
  const deadline = (await chain().now()) + 3_600
  const place = async (maxSpend: bigint) =>
    (await alice.placeOrder({ side: 'BUY', symbol: 'AAPL', maxSpend, deadline })).order.orderId
  const first = await place(5_000_000n)
  const before = await lastOf<OrderListing>(alice.getOrders())
  const second = await place(7_000_000n)
  const account = chain().account('alice')
  const { orders, isComplete } = await lastOf(alice.getOrders({ resume: before }))
  expect(isComplete).toBe(true)
  expect(orders).toMatchObject([
    { orderId: second, account, escrowed: 7_000_000n, deadline },
    { orderId: first, account, escrowed: 5_000_000n, deadline },
  ])
  const [newest] = orders
  expect((await chain().provider.getTransactionReceipt(newest?.txHash ?? ''))?.blockNumber).toBe(
    newest?.blockNumber,
  )
  expect((await lastOf(alice.getOrders({ limit: 1 }))).orders).toEqual([newest])
  expect((await lastOf(alice.getOrders({ fromBlock: newest?.blockNumber }))).orders).toEqual([newest])
  const others = await lastOf(clientOf(chain(), api, 'bob').getOrders({ account }))
  expect(others.orders).toEqual(orders)
  expect((await lastOf(alice.getOrders({ account: chain().account('bob') }))).orders).toEqual([])
})

it('an institution’s wallets are listed with their present states', async () => {
  const states = ({ members }: MemberListing) =>
    Object.fromEntries(members.map(({ account, state }: Member) => [account, state]))
  const [alice, bob, carol] = [chain().account('alice'), chain().account('bob'), chain().account('carol')]
  await chain().send('admin', 'registry', 'setMember', carol, true)
  const reader = client()
  const first = await lastOf(reader.getMembers(ORG_ID))
  expect(first.admin).toBe(chain().account('admin'))
  expect(states(first)).toEqual({ [alice]: 'member', [bob]: 'member', [carol]: 'invited' })
  expect(first.events.map(({ account, isActive }) => [account, isActive])).toEqual([
    [alice, false],
    [alice, true],
    [bob, false],
    [bob, true],
    [carol, false],
  ])

  await chain().provider.send('anvil_mine', ['0x20'])
  const second = await lastOf(reader.getMembers(ORG_ID, { resume: first }))
  expect(second).toMatchObject({ members: first.members, isComplete: true })
  await chain().send('bob', 'registry', 'leaveInstitution')
  await chain().send('admin', 'registry', 'setMember', carol, false)
  await chain().send('admin', 'registry', 'setMember', alice, false)
  const third = await lastOf(reader.getMembers(ORG_ID, { resume: second }))
  expect(states(third)).toMatchObject({ [bob]: 'leaving', [carol]: 'former' })
})
