// A wallet that is a contract, or signs as one: alice's belongs to bob, who signs twice for it.
import { expect, it } from 'vitest'
import { cannotDerive } from '../../src/client/index.js'
import { makeContractWallet } from '../contracts/fixtures/contractWallet.js'
import { usePlacing } from './placing.js'
import { createTestWallet } from './testWallet.js'

const { chain, posted, sent, setting } = await usePlacing()

const SPONSORED = { sponsored: true }

/** @param owner whose two signatures the wallet takes @param isDelegated by EIP-7702, where alice has a key as well */
async function placing(owner: 'bob' | 'carol', isDelegated = false) {
  await makeContractWallet(chain(), 'alice', owner, isDelegated)
  const asked: string[] = []
  const wallet = createTestWallet(chain(), { isContract: true, asked })
  return { ...(await setting({ wallet })), asked }
}

it('a contract wallet orders by its own transactions, under a drawn key, with the signature that it takes, and is offered no other', async () => {
  const { client, buy, asked } = await placing('bob')
  await expect(client.placeOrder(buy)).rejects.toMatchObject({ code: 'contract-wallet' })
  await expect(client.plan(buy)).rejects.toMatchObject({ code: 'contract-wallet' })
  await client.importKeys(await client.drawKey())
  expect(await client.canSponsor()).toBe(false)
  for (const attempt of [client.plan(buy, SPONSORED), client.placeOrder(buy, SPONSORED)]) {
    await expect(attempt).rejects.toMatchObject({ code: 'contract-wallet' })
  }
  expect(asked).toEqual([])
  const { order } = await client.placeOrder(buy)
  expect(order.intent.sig).toHaveLength(2 + 2 * 130)
  expect(posted()).toHaveLength(1)
})

it('a contract wallet that would refuse its own signature is told before it sends anything', async () => {
  const { client, buy } = await placing('carol')
  const before = await sent()
  await client.importKeys(await client.drawKey())
  await expect(client.placeOrder(buy)).rejects.toMatchObject({ code: 'signature-invalid' })
  expect([await sent(), posted()]).toEqual([before, []])
})

it('an account that signs by its delegate (EIP-7702) is offered a drawn key and its own gas, as a contract is', async () => {
  const { client, buy } = await placing('bob', true)
  expect(await client.canSponsor()).toBe(true)
  const refused = await client.placeOrder(buy).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'contract-wallet' })
  expect(cannotDerive(refused)).toBe(true)
  expect(await client.canSponsor()).toBe(false)
  await client.importKeys(await client.drawKey())
  await client.placeOrder(buy)
  expect(posted()).toHaveLength(1)
})

it('an opening that a delegate (EIP-7702) would sign is refused before the wallet is asked for it', async () => {
  const { client, buy, asked } = await placing('bob', true)
  await client.importKeys(await client.drawKey())
  const placed = client.placeOrder(buy, SPONSORED)
  await expect(placed).rejects.toMatchObject({ code: 'contract-wallet' })
  expect([asked, posted()]).toEqual([['eth_signTypedData_v4'], []])
})
