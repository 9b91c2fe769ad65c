import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.js'
import { useDesk } from './support/desk.js'
import { post, signedBy } from './support/signedBodies.js'

// Enough for one opening and its settlement.
const desk = useDesk({ serverSettings: { RELAY_ACCOUNT_DAILY_GAS: '300000' } })
const ONE = 1_000_000n
const DEPOSIT = { side: 'DEPOSIT', symbol: 'USDC', maxSpend: 25n * ONE } as const

test('a sponsored deposit is opened for an account without ether, becomes cash once, and then meets the end of its quota', async () => {
  const [alice] = desk().traders
  await desk().sandbox.provider.send('anvil_setBalance', [alice.account.address, '0x0'])
  const before = await alice.wallet()
  const body = await signedBy(desk(), alice.account.privateKey, DEPOSIT)
  for (let times = 0; times < 3; times++) expect(await post(desk(), body)).toMatchObject({ status: 202 })
  expect(await alice.ended(body.orderId)).toMatchObject({ state: 'SETTLED', amount: 25n * ONE })
  expect(await post(desk(), body)).toMatchObject({ status: 202 })
  expect(before - (await alice.wallet())).toBe(25n * ONE)
  expect((await alice.portfolio()).cash).toBe(25n * ONE)
  const second = await signedBy(desk(), alice.account.privateKey, DEPOSIT)
  await eventually('the quota is used up', async () => {
    const { status, code } = await post(desk(), second)
    return status === 429 && code === 'relay-quota-exhausted'
  })
  expect(before - (await alice.wallet())).toBe(25n * ONE)
})
