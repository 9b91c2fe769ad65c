// Shares in a wallet, and on their way to it. test/attacks/blacklistedAccount.test.ts has USDC that a wallet cannot receive.
import { expect, it } from 'vitest'
import { sharesAddressOf } from '../../src/protocol/identifiers.js'
import { batchMint, signedCall } from '../support/authorizations.js'
import { enact } from '../support/corporateActions.js'
import { AAPL, shares } from '../support/institution.js'
import { giveShares, settleOrder } from '../support/orderEnds.js'
import { usePlacing } from './placing.js'

const { chain, setting } = await usePlacing()

it('shares in the wallet are listed with their token, and not deposited beyond what it holds', async () => {
  // Bob's, so that nothing stands in Alice's portfolio that no enclave has sealed.
  await giveShares(chain(), 'bob', shares(3))
  await chain().send('bob', 'aapl', 'transfer', chain().account('alice'), shares(3))
  const { client } = await setting()
  const token = sharesAddressOf(chain().addressOf('token'), 'AAPL')
  const held = [{ symbol: 'AAPL', token, balance: shares(3) }]
  expect(await client.getShares({ others: ['NEVER'] })).toEqual(held)
  const tooMany = client.placeOrder({ side: 'DEPOSIT', symbol: 'AAPL', shares: shares(3) + 1n })
  await expect(tooMany).rejects.toMatchObject({ code: 'insufficient-shares' })
  // After a change of symbol too, under the former one.
  const change = { kind: 'SYMBOL_CHANGE', symbol: 'AAPL', successor: 'APPL' } as const
  await enact(chain(), { ...change, recordAt: await chain().now() })
  expect(await client.getShares()).toEqual(held)
})

it('shares that a frozen wallet was to receive are found of a delisted symbol when it is named', async () => {
  await chain().send('relayer', ...signedCall(chain(), batchMint(AAPL, shares(3))))
  const { client } = await setting()
  const { order } = await client.placeOrder({ side: 'WITHDRAW', symbol: 'AAPL', shares: shares(3) })
  await chain().send('owner', 'token', 'setFrozen', AAPL, chain().account('alice'), true)
  await settleOrder(chain(), order.orderId, { payoutAsset: AAPL, payout: shares(3) })
  await chain().send('owner', 'token', 'setListed', AAPL, false)
  expect(await client.getClaims()).toEqual([])
  const waiting = [{ asset: 'AAPL', amount: shares(3), recipient: null }]
  expect(await client.getClaims({ others: ['AAPL'] })).toEqual(waiting)
})
