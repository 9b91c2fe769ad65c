import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type Authorization,
  signAuthorization,
  signedAuthorizationSchema,
} from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'

const key: Hex = `0x${'33'.repeat(32)}`
const id: Hex = `0x${'ab'.repeat(32)}`
const domain = { chainId: 31_337, verifyingContract: '0x5FbDB2315678afecb367f032d93F642f64180aa3' } as const
const order = {
  orderId: id,
  account: '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2',
  asset: `0x55534443${'00'.repeat(28)}`,
  amount: 5_000_000n,
  commit: `0x${'cd'.repeat(32)}`,
} as const
const write = {
  version: 3n,
  previous: `0x${'ef'.repeat(32)}`,
  enclaveBlob: '0x01aa',
  userBlob: '0x01bb',
} as const
const batch = { symbol: id, amount: 5n, expectedSupply: 9n, batch: 2n, countedUntil: 1_893_456_000n }

const authorizations: Authorization[] = [
  { primaryType: 'PortfolioUpdate', message: { ...order, state: 1n, ...write } },
  {
    primaryType: 'PolicyUpdate',
    message: { orgId: id, admin: domain.verifyingContract, version: 1n, policyBlob: '0x01' },
  },
  { primaryType: 'OrderSettlement', message: { ...order, payoutAsset: id, payout: 7n, ...write } },
  { primaryType: 'OrderRefund', message: { ...order, ...write, enclaveBlob: '0x', userBlob: '0x' } },
  { primaryType: 'BatchMint', message: batch },
  { primaryType: 'BatchBurn', message: batch },
]

describe.each(authorizations)('$primaryType', (authorization) => {
  const signed = signAuthorization(authorization, domain, key)

  it('refuses an unknown member and a JSON number', () => {
    const wire = z.encode(signedAuthorizationSchema, signed)
    const extra = { ...wire, message: { ...wire.message, extra: '1' } }
    const number = { ...wire, message: { ...wire.message, [integerOf(authorization)]: 1 } }
    expect(signedAuthorizationSchema.safeParse(extra).success).toBe(false)
    expect(signedAuthorizationSchema.safeParse(number).success).toBe(false)
  })
})

function integerOf({ primaryType }: Authorization): string {
  return primaryType.startsWith('Batch') ? 'amount' : 'version'
}

it.each(['account', 'asset', 'amount', 'commit', 'previous'])(
  'refuses a settlement without its %s',
  (name) => {
    const settles: Authorization = {
      primaryType: 'OrderSettlement',
      message: { ...order, payoutAsset: id, payout: 7n, ...write },
    }
    const { message, ...rest } = z.encode(signedAuthorizationSchema, signAuthorization(settles, domain, key))
    const less = Object.fromEntries(Object.entries(message).filter(([member]) => member !== name))
    expect(signedAuthorizationSchema.safeParse({ ...rest, message }).success).toBe(true)
    expect(signedAuthorizationSchema.safeParse({ ...rest, message: less }).success).toBe(false)
  },
)

it('an authorization has no state that is no uint8', () => {
  const update: Authorization = {
    primaryType: 'PortfolioUpdate',
    message: { ...order, state: 255n, ...write },
  }
  const wire = z.encode(signedAuthorizationSchema, signAuthorization(update, domain, key))
  const of = (state: string) => ({ ...wire, message: { ...wire.message, state } })
  expect(signedAuthorizationSchema.safeParse(of('255')).success).toBe(true)
  expect(signedAuthorizationSchema.safeParse(of('256')).success).toBe(false)
})
