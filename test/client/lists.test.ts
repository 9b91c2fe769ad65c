// The lists that the client makes of events, on a real chain.
import { toBeHex } from 'ethers'
import { expect, it } from 'vitest'
import { listMembers, type MemberList } from '../../src/client/admin.js'
import { listOrders } from '../../src/client/history.js'
import { clientOf, ORG_ID } from './clientSetting.js'
import { changeAnswers } from './history/historySetting.js'
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
  const before = await lastOf(listOrders(alice))
  const second = await alice.placeOrder({ ...buy, usdc: 7_000_000n })
  const { orders, isComplete } = await lastOf(listOrders(alice, { resume: before }))
  expect(isComplete).toBe(true)
  const [account, { deadline }] = [chain().account('alice'), buy]
  expect(orders).toMatchObject([
    { orderId: second.order.orderId, account, escrowed: 7_000_000n, deadline, ...second.opened },
    { orderId: first.order.orderId, account, escrowed: buy.usdc, deadline, ...first.opened },
  ])
  expect((await lastOf(listOrders(alice, { limit: 1 }))).orders).toEqual(orders.slice(0, 1))
  const others = await lastOf(listOrders(clientOf(chain(), api, 'bob'), { account }))
  expect(others.orders).toEqual(orders)
})

it('an institution’s wallets are listed with their present states', async () => {
  const { client } = await setting()
  const roles = ['alice', 'bob', 'carol'] as const
  const statesOf = ({ members }: MemberList) =>
    roles.map((role) => members.find(({ account }) => account === chain().account(role))?.state)
  await chain().send('admin', 'registry', 'setMember', chain().account('carol'), true)
  const first = await lastOf(listMembers(client, ORG_ID))
  expect([first.admin, ...statesOf(first)]).toEqual([chain().account('admin'), 'member', 'member', 'invited'])
  await chain().provider.send('anvil_mine', ['0x20'])
  await chain().send('bob', 'registry', 'leaveInstitution')
  await chain().send('admin', 'registry', 'setMember', chain().account('carol'), false)
  const second = await lastOf(listMembers(client, ORG_ID, { resume: first }))
  expect(statesOf(second)).toEqual(['member', 'leaving', 'former'])
  // Of a list in which nothing changes, a page that polls it has nothing to work out anew.
  await chain().provider.send('anvil_mine', ['0x20'])
  const third = await lastOf(listMembers(client, ORG_ID, { resume: second }))
  const fourth = await lastOf(listMembers(client, ORG_ID, { resume: third }))
  expect(statesOf(fourth)).toEqual(['member', 'leaving', 'former'])
  expect(fourth.members).toBe(third.members)
})

it('many invited wallets are read in a call for each five hundred, and arrive in pieces', async () => {
  const invited = Array.from({ length: 520 }, (_, index) => toBeHex(index + 1_000_000, 20))
  for (const wallet of invited) await chain().send('admin', 'registry', 'setMember', wallet, true)
  const { client } = await setting()
  await lastOf(listMembers(client, ORG_ID, { fromBlock: await chain().provider.getBlockNumber() }))
  let calls = 0
  changeAnswers(chain(), (answer, method) => {
    if (method === 'eth_call') calls++
    return answer
  })
  const sizes: [number, boolean][] = []
  let last: MemberList | undefined
  for await (last of listMembers(client, ORG_ID)) sizes.push([last.members.length, last.isComplete])
  // The newest twelve blocks come first. Alice and Bob are members by their events.
  expect(sizes).toEqual([
    [12, false],
    [12 + 2 + 500, false],
    [520 + 2, true],
  ])
  // Three for the wallets, and one for the admin.
  expect(calls).toBe(4)
  expect(last?.members.filter(({ state }) => state === 'invited')).toHaveLength(520)
})
