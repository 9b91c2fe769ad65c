import { expect, it } from 'vitest'
import { bytes32Schema, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { bytes32ToName, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { type BoundOrder, batchMint, orderOf, settlement } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { enact, propose } from '../support/corporateActions.js'
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

const refused = (action: readonly unknown[]) => chain().revert('dave', 'actions', 'enact', action)
const digestOf = async (action: readonly unknown[]) =>
  bytes32Schema.parse(await chain().read('actions', 'digestOf', action))
const outOfOrder = async (first: readonly unknown[]) => ({
  name: 'ActionOutOfOrder',
  args: { digest: await digestOf(first) },
})

it('actions of one symbol enter by their record moments, then as proposed, in whatever order they are called', async () => {
  const now = await chain().now()
  const change = { kind: 'SYMBOL_CHANGE', symbol: 'AAPL', successor: 'MSFT' } as const
  const ratio = { kind: 'SPLIT', ratio: [2n, 1n] } as const
  const split = await propose(chain(), { ...ratio, symbol: 'AAPL', recordAt: now })
  const changed = await propose(chain(), { ...change, recordAt: now })
  const late = await propose(chain(), { ...ratio, symbol: 'MSFT', recordAt: now - 1 })
  const other = await propose(chain(), { ...ratio, symbol: 'TSLA', recordAt: now })
  await chain().send('dave', 'actions', 'enact', other)
  expect(await refused(changed)).toEqual(await outOfOrder(split))
  await chain().send('dave', 'actions', 'enact', split)
  expect(await refused(changed)).toEqual(await outOfOrder(late))
  await chain().send('owner', 'actions', 'withdraw', await digestOf(late))
  await chain().send('dave', 'actions', 'enact', changed)
  expect(await chain().read('actions', 'carry', AAPL, 1n, 0)).toEqual([2n, 1n])
  expect(await chain().read('actions', 'carry', MSFT, 1n, 0)).toEqual([1n, 0n])
})

it('a payment of a dividend waits for no other action, and none waits for it', async () => {
  const now = await chain().now()
  await enact(chain(), { kind: 'ENTITLEMENT', symbol: 'AAPL', recordAt: now })
  const split = { kind: 'SPLIT', symbol: 'AAPL', ratio: [2n, 1n] } as const
  const [first, payment, last] = [
    await propose(chain(), { ...split, recordAt: now + 1 }),
    await propose(chain(), { kind: 'PAYMENT', symbol: 'AAPL', recordAt: now + 2, ratio: [1n, 1n] }),
    await propose(chain(), { ...split, recordAt: now + 3 }),
  ]
  await chain().mineAt(now + 60)
  await chain().send('dave', 'actions', 'enact', first)
  await chain().send('dave', 'actions', 'enact', last)
  await chain().send('dave', 'actions', 'enact', payment)
})

it('a symbol never comes back to an equity, nor takes the place of two', async () => {
  const recordAt = await chain().now()
  const change = async (symbol: string, successor: string) =>
    propose(chain(), { kind: 'SYMBOL_CHANGE', symbol, successor, recordAt })
  await chain().send('dave', 'actions', 'enact', await change('AAPL', 'MSFT'))
  const retired = (symbol: string) => ({ name: 'SymbolRetired', args: { symbol } })
  for (const [symbol, successor] of [
    ['MSFT', AAPL],
    ['TSLA', MSFT],
  ] as const) {
    const action = await change(symbol, bytes32ToName(successor) ?? '')
    expect(await refused(action)).toEqual(retired(successor))
    await chain().send('owner', 'actions', 'withdraw', await digestOf(action))
  }
})

it('an equity has sixteen names at most, so that no transfer costs more without bound', async () => {
  const recordAt = await chain().now()
  const change = (at: number) =>
    ({ kind: 'SYMBOL_CHANGE', symbol: `A${at}`, successor: `A${at + 1}`, recordAt }) as const
  for (let at = 1; at < 16; at++) await enact(chain(), change(at))
  const seventeenth = nameToBytes32('A17')
  const tooMany = { name: 'TooManyNames', args: { successor: seventeenth } }
  expect(await refused(await propose(chain(), change(16)))).toEqual(tooMany)
  const names = Array.from({ length: 16 }, (_, at) => nameToBytes32(`A${at + 1}`))
  for (const name of names) expect(await chain().read('actions', 'namesOf', name)).toEqual(names)
  expect(await chain().read('actions', 'namesOf', seventeenth)).toEqual([seventeenth])
})
