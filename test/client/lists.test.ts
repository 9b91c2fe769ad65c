// The lists that the client makes of events, on a real chain.
import { expect, it } from 'vitest'
import type { MemberListing } from '../../src/client/index.js'
import { clientOf, ORG_ID } from './clientSetting.js'
import { usePlacing } from './placing.js'

const { chain, api, setting } = await usePlacing()

async function lastOf<T>(values: AsyncGenerator<T>): Promise<T> {
  let last: T | undefined
  for await (const value of values) last = value
  if (last === undefined) throw new Error('the list yields nothing')
  return last
}

it('an account’s orders are listed, newest first, with what the escrow took', async () => {
  const { client: alice, buy } = await setting()
  const first = await alice.placeOrder(buy)
  const before = await lastOf(alice.getOrders())
  const second = await alice.placeOrder({ ...buy, maxSpend: 7_000_000n })
  const { orders, isComplete } = await lastOf(alice.getOrders({ resume: before }))
  expect(isComplete).toBe(true)
  const [account, { deadline }] = [chain().account('alice'), buy]
  expect(orders).toMatchObject([
    { orderId: second.order.orderId, account, escrowed: 7_000_000n, deadline, ...second.opened },
    { orderId: first.order.orderId, account, escrowed: buy.maxSpend, deadline, ...first.opened },
  ])
  expect((await lastOf(alice.getOrders({ limit: 1 }))).orders).toEqual(orders.slice(0, 1))
  const others = await lastOf(clientOf(chain(), api, 'bob').getOrders({ account }))
  expect(others.orders).toEqual(orders)
})

it('an institution’s wallets are listed with their present states', async () => {
  const { client } = await setting()
  const roles = ['alice', 'bob', 'carol'] as const
  const statesOf = ({ members }: MemberListing) =>
    roles.map((role) => members.find(({ account }) => account === chain().account(role))?.state)
  await chain().send('admin', 'registry', 'setMember', chain().account('carol'), true)
  const first = await lastOf(client.getMembers(ORG_ID))
  expect([first.admin, ...statesOf(first)]).toEqual([chain().account('admin'), 'member', 'member', 'invited'])
  await chain().provider.send('anvil_mine', ['0x20'])
  await chain().send('bob', 'registry', 'leaveInstitution')
  await chain().send('admin', 'registry', 'setMember', chain().account('carol'), false)
  const second = await lastOf(client.getMembers(ORG_ID, { resume: first }))
  expect(statesOf(second)).toEqual(['member', 'leaving', 'former'])
})
