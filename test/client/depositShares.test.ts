// Shares that were withdrawn, as the client shows them and brings them back.
import { expect, it } from 'vitest'
import { sharesAddressOf } from '../../src/protocol/identifiers.js'
import { useApi } from '../support/apiStandIn.js'
import { orderOf } from '../support/authorizations.js'
import { type SetUp, useChain } from '../support/chain.js'
import { enact } from '../support/corporateActions.js'
import { AAPL, shares } from '../support/institution.js'
import { giveShares } from '../support/orderEnds.js'
import { answerAsServer, clearForTrading, clientOf } from './clientSetting.js'

/** Alice's wallet has three shares of AAPL. */
const setUp: SetUp = async (set) => {
  await clearForTrading(set)
  await set.send('owner', 'token', 'setListed', AAPL, true)
  // Bob's, so that nothing stands in Alice's portfolio that no enclave has sealed.
  await set.send('owner', 'token', 'setKyc', set.account('bob'), true)
  await giveShares(set, 'bob', shares(3))
  await set.send('bob', 'aapl', 'transfer', set.account('alice'), shares(3))
}
const chain = useChain(setUp)
const api = await useApi()

async function setting() {
  answerAsServer(api, chain())
  const deadline = (await chain().now()) + 3_600
  const deposit = { side: 'DEPOSIT', symbol: 'AAPL', shares: shares(2), deadline } as const
  return { client: clientOf(chain(), api, 'alice'), deposit }
}

it('shares in the wallet are listed with their token', async () => {
  const { client } = await setting()
  const token = sharesAddressOf(chain().addressOf('token'), 'AAPL')
  expect(await client.getShares({ others: ['NEVER'] })).toEqual([
    { symbol: 'AAPL', token, balance: shares(3) },
  ])
})

it('shares in the wallet are listed after a change of symbol too, under the former one', async () => {
  const { client } = await setting()
  const change = { kind: 'SYMBOL_CHANGE', symbol: 'AAPL', successor: 'APPL' } as const
  await enact(chain(), { ...change, recordAt: await chain().now() })
  expect(await client.getShares()).toMatchObject([{ symbol: 'AAPL', balance: shares(3) }])
})

it('shares in the wallet are approved and deposited', async () => {
  const { client, deposit } = await setting()
  const steps: string[] = []
  const { order } = await client.placeOrder(deposit, { onStep: (step) => void steps.push(step) })
  expect(steps).toEqual(['unlocking', 'signing', 'approving', 'opening', 'submitting'])
  expect(order.escrowed).toBe(0n)
  expect(await orderOf(chain(), order.orderId)).toMatchObject({ asset: AAPL, amount: shares(2) })
  expect((await client.getShares())[0]?.balance).toBe(shares(1))
})

it('shares in the wallet are not deposited beyond what the wallet holds, nor by the platform', async () => {
  const { client, deposit } = await setting()
  const tooMany = { ...deposit, shares: shares(3) + 1n }
  await expect(client.placeOrder(tooMany)).rejects.toMatchObject({ code: 'insufficient-shares' })
  await expect(client.placeOrder(deposit, { sponsored: true })).rejects.toMatchObject({
    code: 'opening-unsupported',
  })
})
