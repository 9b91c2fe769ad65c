import { describe, expect, it } from 'vitest'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { portfolioUpdate, refund, settlement } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import {
  bytes32,
  DAY,
  FUNDS,
  openBuy,
  openRequest,
  setUpInstitution,
  soon,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import { EMPTY, orderActions, STATE } from '../support/orderActions.js'

const chain = useChain(setUpInstitution)
const {
  account,
  expectNothingOpen,
  orderEvents,
  reclaimRevert,
  relay,
  relayRevert,
  stateOf,
  usdcOf,
  versionOf,
} = orderActions(chain)

describe('refund', () => {
  it('gives the USDC back and writes the portfolio', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    expect(await orderEvents(relay(refund(orderId)))).toEqual([
      ['OrderRefunded', orderId, account('alice'), usd(1_000)],
      ['PortfolioUpdated', accountIdOf(account('alice')), 1n],
    ])
    expect(await stateOf(orderId)).toBe(STATE.REFUNDED)
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
    await expectNothingOpen('alice')
  })

  it('writes no portfolio with empty blobs', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    expect(await orderEvents(relay(refund(orderId, { version: 0n, ...EMPTY })))).toEqual([
      ['OrderRefunded', orderId, account('alice'), usd(1_000)],
    ])
    expect(await versionOf('alice')).toBe(0n)
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
  })

  it('with empty blobs is void once the portfolio was written', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    await relay(portfolioUpdate(account('alice')))
    expect(await relayRevert(refund(orderId, { version: 0n, ...EMPTY }))).toEqual({
      name: 'VersionConflict',
      args: { expected: '1', got: '0' },
    })
    expect(await relayRevert(refund(orderId, { version: 1n, ...EMPTY }))).toBeNull()
  })

  it('with blobs refuses any version but the next; one blob alone is refused', async () => {
    const orderId = await openBuy(chain(), 'alice', 'buy', usd(1_000))
    expect(await relayRevert(refund(orderId, { version: 0n }))).toEqual({
      name: 'VersionConflict',
      args: { expected: '1', got: '0' },
    })
    expect(await relayRevert(refund(orderId, { enclaveBlob: '0x' }))).toEqual({ name: 'EmptyBlob', args: {} })
    expect(await relayRevert(refund(orderId, { userBlob: '0x' }))).toEqual({ name: 'EmptyBlob', args: {} })
  })

  it('of a request pays nothing', async () => {
    const orderId = await openRequest(chain(), 'carol', 'sale')
    await relay(refund(orderId))
    expect(await usdcOf(account('carol'))).toBe(FUNDS)
    expect(await chain().read('escrow', 'openOrdersOf', ZERO_BYTES32)).toBe(0n)
  })
})

describe('an order that is not open', () => {
  const NONE = bytes32('never opened')
  const late = async () => chain().mineAt((await soon(chain())) + 8 * DAY)

  it.each([
    ['never opened', '0', async () => NONE],
    [
      'settled',
      '2',
      async () => {
        const orderId = await openBuy(chain(), 'alice', 'buy', usd(9))
        await relay(settlement(orderId))
        return orderId
      },
    ],
    [
      'refunded',
      '3',
      async () => {
        const orderId = await openBuy(chain(), 'alice', 'buy', usd(9))
        await relay(refund(orderId))
        return orderId
      },
    ],
    [
      'reclaimed',
      '3',
      async () => {
        const orderId = await openBuy(chain(), 'alice', 'buy', usd(9))
        await late()
        await chain().send('alice', 'escrow', 'reclaim', orderId)
        return orderId
      },
    ],
  ])('(%s) is neither settled, nor refunded, nor reclaimed', async (_, state, prepare) => {
    const orderId = await prepare()
    const refusal = { name: 'OrderNotOpen', args: { orderId, state } }
    expect(await relayRevert(settlement(orderId, { version: 2n }))).toEqual(refusal)
    expect(await relayRevert(refund(orderId, { version: 2n }))).toEqual(refusal)
    expect(await reclaimRevert('alice', orderId)).toEqual(refusal)
  })
})
