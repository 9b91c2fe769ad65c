import { describe, expect, test } from 'vitest'
import type { Authorization } from '../../../src/protocol/authorization.js'
import { type Hex, ZERO_BYTES32 } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { portfolioHashAfter } from '../../../src/protocol/ledgerBlob.js'
import { gasPurposeOf } from '../../../src/server/relay/authorization.js'
import {
  type BoundOrder,
  batchBurn,
  batchMint,
  digestOf,
  ENCLAVE_BLOB,
  grantedOrder,
  orderOf,
  policyUpdate,
  portfolioUpdate,
  refund,
  settlement,
  USER_BLOB,
} from '../../support/authorizations.js'
import { AAPL, bytes32, shares, soon } from '../../support/institution.js'
import type { Role } from '../../support/roles.js'
import { useUtcDay } from '../../support/utcDay.js'
import { useMintChain } from './mint.js'
import { asKilledNow, startRelay } from './relayUnderTest.js'

useUtcDay(60_000)

const { chain } = useMintChain()

const EMPTY = { enclaveBlob: '0x', userBlob: '0x' } as const

const start = (env: Record<string, string>) => startRelay({ chain: chain(), env })

/** An open request of that wallet. */
async function open(who: Role, name: string): Promise<BoundOrder> {
  const orderId = bytes32(name)
  await chain().send(who, 'escrow', 'openRequest', orderId, bytes32(`${name} sealed`), await soon(chain()))
  return orderOf(chain(), orderId)
}

/** A write of the portfolio on top of the first one that the support's authorizations make. */
const SECOND_WRITE = {
  version: 2n,
  previous: portfolioHashAfter(ZERO_BYTES32, { version: 1n, enclaveBlob: ENCLAVE_BLOB, userBlob: USER_BLOB }),
}

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

describe('a quota that is used up', () => {
  test('refuses what is new of that account, also after a kill, and finishes what it holds', async () => {
    const [held, other, ofBob] = [await open('alice', '1'), await open('alice', '2'), await open('bob', '3')]
    const env = { RELAY_ACCOUNT_DAILY_GAS: '21000' }
    const relay = await start(env)
    expect((await relay.relay(portfolioUpdate(held))).body.status).toBe('confirmed')
    const news = [
      portfolioUpdate(other, SECOND_WRITE),
      refund(other, { ...SECOND_WRITE, version: 1n, ...EMPTY }),
    ]
    const again = await startRelay({ chain: chain(), env, dataDir: await asKilledNow(relay.dataDir) })
    for (const under of [relay, again]) {
      for (const authorization of news) {
        const refused = await under.relay(authorization)
        expect([refused.status, refused.body.code, refused.body.quota]).toEqual([
          429,
          'relay-quota-exhausted',
          'account',
        ])
        expect((await under.get(digestOf(chain(), authorization))).status).toBe(404)
      }
      // Posted again, it has taken effect.
      expect((await under.relay(portfolioUpdate(held))).body.status).toBe('confirmed')
    }
    expect((await again.relay(portfolioUpdate(ofBob))).body.status).toBe('confirmed')
    expect((await again.relay(refund(held, SECOND_WRITE))).body.status).toBe('confirmed')
  })
})
