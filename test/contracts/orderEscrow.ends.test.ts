import { describe, expect, it } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import {
  type BoundOrder,
  ENCLAVE_BLOB,
  orderOf,
  portfolioUpdate,
  refund,
  settlement,
  USER_BLOB,
} from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import {
  AAPL,
  bytes32,
  DAY,
  FUNDS,
  openBuy,
  setUpInstitution,
  soon,
  USDC,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import { EMPTY, orderActions, STATE } from '../support/orderActions.js'
import type { Role } from '../support/roles.js'

const chain = useChain(setUpInstitution)
const {
  account,
  buy,
  expectNothingOpen,
  nextOf,
  orderEvents,
  presentOf,
  reclaimRevert,
  relay,
  relayRevert,
  request,
  stateOf,
  usdcOf,
} = orderActions(chain)

it('refund gives the USDC back and writes the portfolio', async () => {
  const order = await buy('alice', 'buy', usd(1_000))
  expect(await orderEvents(relay(refund(order)))).toEqual([
    ['OrderRefunded', order.orderId, account('alice'), usd(1_000)],
    ['PortfolioUpdated', accountIdOf(account('alice')), 1n],
  ])
  expect(await stateOf(order.orderId)).toBe(STATE.REFUNDED)
  expect(await usdcOf(account('alice'))).toBe(FUNDS)
  await expectNothingOpen('alice')
})

it('a refund with empty blobs is void once the portfolio was written', async () => {
  const order = await buy('alice', 'buy', usd(1_000))
  await relay(portfolioUpdate(order))
  const { version, previous } = await presentOf('alice')
  const unwritten = (at: { version: bigint; previous: Hex }) =>
    relayRevert(refund(order, { ...at, ...EMPTY }))
  expect(await unwritten({ version: 0n, previous: ZERO_BYTES32 })).toEqual({
    name: 'VersionConflict',
    args: { expected: '1', got: '0' },
  })
  expect(await unwritten({ version, previous: ZERO_BYTES32 })).toEqual({
    name: 'HistoryConflict',
    args: { expected: previous, got: ZERO_BYTES32 },
  })
  expect(await unwritten({ version, previous })).toBeNull()
})

const never = (): BoundOrder => ({
  orderId: bytes32('never opened'),
  account: account('alice'),
  asset: USDC,
  amount: usd(9),
  commit: bytes32('never sealed'),
})
const late = async () => chain().mineAt((await soon(chain())) + 8 * DAY)

it.each([
  ['never opened', '0', async () => never()],
  [
    'settled',
    '2',
    async () => {
      const order = await buy('alice', 'buy', usd(9))
      await relay(settlement(order))
      return order
    },
  ],
  [
    'refunded',
    '3',
    async () => {
      const order = await buy('alice', 'buy', usd(9))
      await relay(refund(order))
      return order
    },
  ],
  [
    'reclaimed',
    '3',
    async () => {
      const order = await buy('alice', 'buy', usd(9))
      await late()
      await chain().send('alice', 'escrow', 'reclaim', order.orderId)
      return order
    },
  ],
])(
  'an order that is not open (%s) is neither written ahead, settled, refunded nor reclaimed',
  async (_, state, prepare) => {
    const order = await prepare()
    const { orderId } = order
    const next = await nextOf('alice')
    const refusal = { name: 'OrderNotOpen', args: { orderId, state } }
    // Otherwise than before, or its digest is used.
    const again = { ...next, enclaveBlob: '0x02' } as const
    expect(await relayRevert(portfolioUpdate(order, again))).toEqual(refusal)
    expect(await relayRevert(settlement(order, again))).toEqual(refusal)
    expect(await relayRevert(refund(order, again))).toEqual(refusal)
    expect(await reclaimRevert('alice', orderId)).toEqual(refusal)
  },
)

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

it('reclaim is the account’s from exactly seven days after the deadline', async () => {
  const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
  const order = await chain().read('escrow', 'orders', orderId)
  const availableAt = Number(Array.isArray(order) ? order[2] : 0) + 7 * DAY
  await chain().mineAt(availableAt - 1)
  expect(await reclaimRevert('alice', orderId)).toEqual({
    name: 'ReclaimTooEarly',
    args: { availableAt: `${availableAt}`, currentTime: `${availableAt - 1}` },
  })
  await chain().provider.send('evm_setNextBlockTimestamp', [availableAt])
  expect(await orderEvents(chain().send('alice', 'escrow', 'reclaim', orderId))).toEqual([
    ['OrderRefunded', orderId, account('alice'), usd(1_000)],
  ])
  expect(await chain().now()).toBe(availableAt)
  expect(await stateOf(orderId)).toBe(STATE.REFUNDED)
  expect(await usdcOf(account('alice'))).toBe(FUNDS)
  await expectNothingOpen('alice')
})

it('reclaim is the account’s alone: not the owner’s, not the admin’s', async () => {
  const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
  await chain().mineAt((await soon(chain())) + 8 * DAY)
  for (const role of ['owner', 'admin', 'bob'] as const) {
    expect(await reclaimRevert(role, orderId)).toEqual({
      name: 'NotOrderAccount',
      args: { expected: account('alice'), caller: account(role) },
    })
  }
})

it('reclaim needs neither KYC nor membership', async () => {
  const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
  await chain().send('owner', 'token', 'setKyc', account('alice'), false)
  await chain().send('admin', 'registry', 'setMember', account('alice'), false)
  await chain().mineAt((await soon(chain())) + 8 * DAY)
  await chain().send('alice', 'escrow', 'reclaim', orderId)
  expect(await usdcOf(account('alice'))).toBe(FUNDS)
})

// A reorganization can put another order in the place of the one that the enclave decided on. Each authorization names
// the whole order, so it has no effect on any other.
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
