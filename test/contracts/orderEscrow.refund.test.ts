import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { type BoundOrder, portfolioUpdate, refund, settlement } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import {
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
