import { describe, expect, test } from 'vitest'
import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { gasPurposeOf } from '../../../src/server/relay/authorization.js'
import {
  batchBurn,
  batchMint,
  grantedOrder,
  policyUpdate,
  portfolioUpdate,
  refund,
  settlement,
} from '../../support/authorizations.js'
import { AAPL, shares } from '../../support/institution.js'

const EMPTY = { enclaveBlob: '0x', userBlob: '0x' } as const

describe('the purpose of an authorization’s gas', () => {
  const order = grantedOrder(`0x${'a1'.repeat(20)}`)
  const { orderId, account } = order
  const orgId: Hex = nameToBytes32('Umbrella')

  test.each<[string, Authorization, object]>([
    ['a write for an open order', portfolioUpdate(order), { kind: 'hold', orderId, account }],
    [
      'the write after a reclaim',
      portfolioUpdate(order, { state: 3n }),
      { kind: 'finish', orderId, account },
    ],
    ['a settlement', settlement(order), { kind: 'finish', orderId, account }],
    ['a withdrawal', settlement(order, { payoutAsset: AAPL, payout: 1n }), { kind: 'account', account }],
    ['a refund with a portfolio', refund(order), { kind: 'finish', orderId, account }],
    ['a refund without one', refund(order, EMPTY), { kind: 'account', account }],
    ['a rulebook', policyUpdate(orgId, account), { kind: 'institution', orgId }],
    ['a mint', batchMint(AAPL, shares(5)), { kind: 'platform' }],
    ['a burn', batchBurn(AAPL, shares(5)), { kind: 'platform' }],
  ])('%s', (_, authorization, purpose) => {
    expect(gasPurposeOf(authorization)).toEqual(purpose)
  })
})
