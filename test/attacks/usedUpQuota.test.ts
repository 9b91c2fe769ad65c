// Actor: an employee, cleared and admitted, who has the platform open order after order.
// Cost: nothing; the platform pays the gas.
// Effect: without a bound, one account could spend the relayer's ether, or the day's gas of all others.
// Now: openings count on their account's gas quota of the day. Once that is used up, nothing more is stored or sent for it, and others
// are served as before. The employee can still open orders with the wallet's own gas.
import { expect, test } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { useDesk } from '../e2e/support/desk.js'
import { isKnown, post, signedBy } from '../e2e/support/signedBodies.js'
import { eventually } from '../support/eventually.js'

/** Less than one opening. The first of a day always fits. */
const desk = useDesk({ serverSettings: { RELAY_ACCOUNT_DAILY_GAS: '21000' } })

const isOpen = (orderId: Hex) =>
  eventually('it is open', async () => (await desk().contracts.escrow.orders(orderId)).state === 'OPEN')

test('an account that has used up its quota gets no further opening, and others do', async () => {
  const [alice, bob] = desk().traders
  const first = await signedBy(desk(), alice.account.privateKey)
  expect((await post(desk(), first)).status).toBe(202)
  await isOpen(first.orderId)
  const more = await signedBy(desk(), alice.account.privateKey)
  for (let times = 0; times < 3; times++) {
    expect(await post(desk(), more)).toMatchObject({ status: 429, code: 'relay-quota-exhausted' })
  }
  expect(await isKnown(desk(), more.orderId)).toBe(false)
  const his = await signedBy(desk(), bob.account.privateKey)
  expect((await post(desk(), his)).status).toBe(202)
  await isOpen(his.orderId)
})
