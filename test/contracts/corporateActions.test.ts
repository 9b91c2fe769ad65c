import { expect, it } from 'vitest'
import { bytes32Schema, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { type BoundOrder, batchMint, orderOf, settlement } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, bytes32, DAY, MSFT, setUpInstitution, shares, usd } from '../support/institution.js'
import { orderActions } from '../support/orderActions.js'

const chain = useChain(setUpInstitution)
const { buy, nextOf, relay, relayRevert, request } = orderActions(chain)

/** Enacts a split of MSFT, and returns the list hash after it. */
async function split() {
  const action = [0, await chain().now(), 2, 1, 0, MSFT, ZERO_BYTES32]
  await chain().send('owner', 'actions', 'propose', action)
  await chain().mineAt((await chain().now()) + 1)
  await chain().send('dave', 'actions', 'enact', action)
  return bytes32Schema.parse(await chain().read('actions', 'listHash'))
}

it('an authorization from before a corporate action acts after it unless it moves or mints shares', async () => {
  await relay(batchMint(AAPL, shares(5)))
  const withdrawn = settlement(await request('alice', 'withdrawal'), { payoutAsset: AAPL, payout: shares(2) })
  await relay(withdrawn)
  await chain().send('alice', 'aapl', 'approve', chain().addressOf('escrow'), shares(1))
  const deadline = (await chain().now()) + DAY
  const terms = [bytes32('deposit'), bytes32('sealed'), AAPL, shares(1), deadline]
  await chain().send('alice', 'escrow', 'openDeposit', ...terms)
  const deposit = await orderOf(chain(), bytes32('deposit'))
  const [trade, withdrawal] = [await buy('alice', 'trade', usd(10)), await request('alice', 'another')]
  const settled = async (order: BoundOrder, actions = ZERO_BYTES32, payout = {}) =>
    settlement(order, { ...(await nextOf('alice')), actions, ...payout })
  const paid = { payoutAsset: AAPL, payout: shares(1) }

  const listHash = await split()
  const conflict = { name: 'ActionsConflict', args: { expected: listHash, got: ZERO_BYTES32 } }
  await relay(await settled(trade))
  expect(await relayRevert(await settled(deposit))).toMatchObject(conflict)
  expect(await relayRevert(await settled(withdrawal, ZERO_BYTES32, paid))).toMatchObject(conflict)
  // A supply of zero shows no split.
  expect(await relayRevert(batchMint(MSFT, shares(1)))).toMatchObject(conflict)

  await relay(await settled(deposit, listHash))
  await relay(await settled(withdrawal, listHash, paid))
  await relay(batchMint(MSFT, shares(1), { actions: listHash }))
})
