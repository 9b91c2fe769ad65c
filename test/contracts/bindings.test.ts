// A reorganization can put another order in the place of the one that the enclave decided on. Each authorization names
// the whole order, so it has no effect on any other.

import { describe, expect, it } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type BoundOrder, orderOf, portfolioUpdate, refund, settlement } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import {
  AAPL,
  bytes32,
  DAY,
  FUNDS,
  setUpInstitution,
  soon,
  USDC,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import { EMPTY, orderActions, STATE } from '../support/orderActions.js'
import type { Role } from '../support/roles.js'

const chain = useChain(setUpInstitution)
const { account, buy, relay, relayRevert, request, stateOf, usdcOf } = orderActions(chain)

const FORMS: [name: string, build: (order: BoundOrder) => Authorization][] = [
  ['a write-ahead', (order) => portfolioUpdate(order)],
  ['a settlement', (order) => settlement(order)],
  ['a refund with a portfolio', (order) => refund(order)],
  ['a refund without one', (order) => refund(order, { version: 0n, ...EMPTY })],
]

/** Each names something else than the escrow has. */
function others(order: BoundOrder): BoundOrder[] {
  return [
    { ...order, account: account('bob') },
    { ...order, asset: order.asset === USDC ? ZERO_BYTES32 : USDC },
    { ...order, asset: AAPL },
    { ...order, amount: order.amount + 1n },
    { ...order, amount: order.amount === 0n ? usd(5_000) : 0n },
    { ...order, amount: order.amount === 0n ? 1n : order.amount - 1n },
    { ...order, commit: bytes32('another intent') },
  ]
}

const stringOf = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)

describe.each(FORMS)('%s', (_, build) => {
  it.each([
    ['buy', () => buy('alice', 'buy', usd(5_000))],
    ['request', () => request('alice', 'sale')],
  ] as const)('is for one %s: account, asset, amount and commit', async (_kind, open) => {
    const order = await open()
    for (const other of others(order)) {
      expect(await relayRevert(build(other)), JSON.stringify(other, stringOf)).toEqual({
        name: 'OrderMismatch',
        args: { orderId: order.orderId },
      })
    }
    expect(await relayRevert(build(order))).toBeNull()
  })
})

it('a write of a portfolio names OPEN or REFUNDED; no other state is ever the right one', async () => {
  const open = await buy('alice', 'open', usd(1))
  const settled = await buy('bob', 'settled', usd(1))
  await relay(settlement(settled))
  const refunded = await buy('alice', 'refunded', usd(1))
  await relay(refund(refunded, { version: 0n, ...EMPTY }))
  const at = { [open.orderId]: '1', [settled.orderId]: '2', [refunded.orderId]: '3' }
  for (const order of [open, settled, refunded]) {
    const { orderId } = order
    const state = at[orderId]
    const next = order === settled ? { version: 2n } : {}
    const refusalOf = (named: bigint) => relayRevert(portfolioUpdate(order, { state: named, ...next }))
    const notRefunded = { name: 'OrderNotRefunded', args: { orderId, state } }
    expect(await refusalOf(0n)).toEqual(notRefunded)
    expect(await refusalOf(2n)).toEqual(notRefunded)
    expect(await refusalOf(1n)).toEqual(
      state === '1' ? null : { name: 'OrderNotOpen', args: { orderId, state } },
    )
    expect(await refusalOf(3n)).toEqual(state === '3' ? null : notRefunded)
    // Not a value of the enum: the struct does not decode.
    expect(await refusalOf(4n)).toMatchObject({ name: 'unknown' })
  }
})

it('a write of a portfolio after a reclaim is for one order', async () => {
  const order = await buy('alice', 'buy', usd(5_000))
  await chain().mineAt((await soon(chain())) + 8 * DAY)
  await chain().send('alice', 'escrow', 'reclaim', order.orderId)
  for (const other of others(order)) {
    expect(await relayRevert(portfolioUpdate(other, { state: 3n }))).toEqual({
      name: 'OrderMismatch',
      args: { orderId: order.orderId },
    })
  }
  expect(await relayRevert(portfolioUpdate(order, { state: 3n }))).toBeNull()
})

const [id, commit] = [bytes32('buy'), bytes32('buy sealed')]
const open = async (from: Role, amount: bigint, sealed: Hex = commit) => {
  await chain().send(from, 'escrow', 'openBuy', id, sealed, amount, await soon(chain()))
  return orderOf(chain(), id)
}

it.each([
  ['the same account, a unit', 'alice', 1n, commit],
  ['another account that copied id and commit', 'bob', usd(5_000), commit],
  ['the same amount for another intent', 'alice', usd(5_000), bytes32('another intent')],
] as const)(
  'when a reorganization replaces a buy of 5,000 USDC by one of a unit, under the same id %s: the settlement that was signed moves nothing',
  async (_, from, amount, sealed) => {
    const snapshot = await chain().provider.send('evm_snapshot', [])
    const signed = settlement(await open('alice', usd(5_000)))
    const ahead = portfolioUpdate(await orderOf(chain(), id))
    expect(await relayRevert(signed)).toBeNull()
    await chain().provider.send('evm_revert', [snapshot])
    await open(from, amount, sealed)
    const mismatch = { name: 'OrderMismatch', args: { orderId: id } }
    expect(await relayRevert(signed)).toEqual(mismatch)
    expect(await relayRevert(ahead)).toEqual(mismatch)
    expect(await stateOf(id)).toBe(STATE.OPEN)
    expect(await usdcOf(account(from))).toBe(FUNDS - amount)
  },
)
