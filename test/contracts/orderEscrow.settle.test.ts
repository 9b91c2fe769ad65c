import { expect, it } from 'vitest'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { batchMint, ENCLAVE_BLOB, settlement, signedCall, USER_BLOB } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import {
  AAPL,
  DAY,
  FUNDS,
  setUpInstitution,
  shares,
  soon,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import { orderActions, STATE } from '../support/orderActions.js'

const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await set.send('relayer', ...signedCall(set, batchMint(AAPL, shares(100))))
})
const { account, buy, expectNothingOpen, orderEvents, relay, relayRevert, request, stateOf, usdcOf } =
  orderActions(chain)

it('settle moves all of the escrowed USDC to the pool and writes the account’s portfolio', async () => {
  const order = await buy('alice', 'buy', usd(1_000))
  expect(await orderEvents(relay(settlement(order)))).toEqual([
    ['OrderSettled', order.orderId, usd(1_000), ZERO_BYTES32, 0n],
    ['PortfolioUpdated', accountIdOf(account('alice')), 1n],
  ])
  expect(await stateOf(order.orderId)).toBe(STATE.SETTLED)
  expect(await usdcOf(chain().addressOf('pool'))).toBe(usd(1_000))
  expect(await usdcOf(account('alice'))).toBe(FUNDS - usd(1_000))
  expect(await chain().read('ledger', 'enclaveBlob', accountIdOf(account('alice')))).toBe(ENCLAVE_BLOB)
  expect(await chain().read('ledger', 'userBlob', accountIdOf(account('alice')))).toBe(USER_BLOB)
  await expectNothingOpen('alice')
})

it('settle may come after the deadline, as long as the order is open', async () => {
  const order = await buy('alice', 'buy', usd(10))
  await chain().mineAt((await soon(chain())) + 30 * DAY)
  await relay(settlement(order))
  expect(await stateOf(order.orderId)).toBe(STATE.SETTLED)
})

it('settle refuses an asset without an amount, and an amount without an asset', async () => {
  const order = await request('alice', 'withdrawal')
  expect(await relayRevert(settlement(order, { payoutAsset: AAPL }))).toEqual({
    name: 'InvalidPayout',
    args: { asset: AAPL, amount: '0' },
  })
  expect(await relayRevert(settlement(order, { payout: 1n }))).toEqual({
    name: 'InvalidPayout',
    args: { asset: ZERO_BYTES32, amount: '1' },
  })
})
