import { expect, it } from 'vitest'
import { useChain } from '../support/chain.js'
import { DAY, FUNDS, openBuy, setUpInstitution, soon, usd } from '../support/institution.js'
import { orderActions, STATE } from '../support/orderActions.js'

const chain = useChain(setUpInstitution)
const { account, expectNothingOpen, orderEvents, reclaimRevert, stateOf, usdcOf } = orderActions(chain)

it('reclaim is the account’s from exactly seven days after the deadline', async () => {
  const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
  const order = await chain().read('escrow', 'orders', orderId)
  const availableAt = Number(Array.isArray(order) ? order[2] : 0) + 7 * DAY
  await chain().mineAt(availableAt - 1)
  expect(await reclaimRevert('alice', orderId)).toEqual({
    name: 'ReclaimTooEarly',
    args: { availableAt: `${availableAt}`, currentTime: `${availableAt - 1}` },
  })
  await chain().provider.send('evm_setNextBlockTimestamp', [availableAt])
  expect(await orderEvents(chain().send('alice', 'escrow', 'reclaim', orderId))).toEqual([
    ['OrderRefunded', orderId, account('alice'), usd(1_000)],
  ])
  expect(await chain().now()).toBe(availableAt)
  expect(await stateOf(orderId)).toBe(STATE.REFUNDED)
  expect(await usdcOf(account('alice'))).toBe(FUNDS)
  await expectNothingOpen('alice')
})

it('reclaim is the account’s alone: not the owner’s, not the admin’s', async () => {
  const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
  await chain().mineAt((await soon(chain())) + 8 * DAY)
  for (const role of ['owner', 'admin', 'bob'] as const) {
    expect(await reclaimRevert(role, orderId)).toEqual({
      name: 'NotOrderAccount',
      args: { expected: account('alice'), caller: account(role) },
    })
  }
})

it('reclaim needs neither KYC nor membership', async () => {
  const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
  await chain().send('owner', 'token', 'setKyc', account('alice'), false)
  await chain().send('admin', 'registry', 'setMember', account('alice'), false)
  await chain().mineAt((await soon(chain())) + 8 * DAY)
  await chain().send('alice', 'escrow', 'reclaim', orderId)
  expect(await usdcOf(account('alice'))).toBe(FUNDS)
})
