// Payouts that the wallet could not receive: USDC that has blacklisted it, shares of a frozen holding.
// test/attacks/blacklistedAccount.test.ts has one paid to another wallet.
import { beforeEach, expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { usdcFixture } from '../contracts/fixtures/usdc.js'
import { useApi } from '../support/apiStandIn.js'
import { batchMint, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { refundOrder, settleOrder } from '../support/orderEnds.js'
import type { Role } from '../support/roles.js'
import { answerAsServer, clearForTrading, clientOf, WALLET_USDC } from './clientSetting.js'

const ONE = 1_000_000n
const SHARES = 3_000_000_000n
const AAPL = nameToBytes32('AAPL')
const { deployUsdc, turn } = await usdcFixture('BlacklistingUsdc')
const chain = useChain(
  async (started) => {
    await clearForTrading(started)
    await started.send('owner', 'token', 'setListed', AAPL, true)
    await started.send('relayer', ...signedCall(started, batchMint(AAPL, SHARES)))
  },
  { deployUsdc },
)
const api = await useApi()
beforeEach(() => answerAsServer(api, chain()))

const alice = () => clientOf(chain(), api, 'alice')
const blacklist = (role: Role, on: boolean) => turn(chain(), 'setBlacklisted', chain().account(role), on)
const balance = (role: Role) => chain().read('usdc', 'balanceOf', chain().account(role))

/** Alice's buy is refunded while USDC refuses to pay her. */
async function refundInVain(amount: bigint): Promise<void> {
  const deadline = (await chain().now()) + 3_600
  const { order } = await alice().placeOrder({ side: 'BUY', symbol: 'AAPL', usdc: amount, deadline })
  await blacklist('alice', true)
  await refundOrder(chain(), order.orderId)
}

it('a refund that USDC refuses to pay waits until the wallet can receive it', async () => {
  await refundInVain(25n * ONE)
  expect(await balance('alice')).toBe(WALLET_USDC - 25n * ONE)
  expect(await alice().getClaims()).toEqual([{ asset: 'USDC', amount: 25n * ONE, recipient: null }])
  await expect(alice().claim('USDC')).rejects.toMatchObject({ name: 'ContractError', method: 'claim' })
  await blacklist('alice', false)
  await alice().claim('USDC')
  expect(await balance('alice')).toBe(WALLET_USDC)
  expect(await alice().getClaims()).toEqual([])
})

it('shares that a frozen wallet was to receive are found of a delisted symbol when it is named', async () => {
  const withdrawal = { side: 'WITHDRAW', symbol: 'AAPL', shares: SHARES } as const
  const { order } = await alice().placeOrder({ ...withdrawal, deadline: (await chain().now()) + 3_600 })
  await chain().send('owner', 'token', 'setFrozen', AAPL, chain().account('alice'), true)
  await settleOrder(chain(), order.orderId, { payoutAsset: AAPL, payout: SHARES })
  await chain().send('owner', 'token', 'setListed', AAPL, false)
  expect(await alice().getClaims()).toEqual([])
  expect(await alice().getClaims({ others: ['AAPL'] })).toEqual([
    { asset: 'AAPL', amount: SHARES, recipient: null },
  ])
})
