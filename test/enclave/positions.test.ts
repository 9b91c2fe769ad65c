import { expect, it } from 'vitest'
import { z } from 'zod'
import { MAX_POSITIONS } from '../../src/enclave/order/admission.js'
import { signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { sealBlob } from '../../src/protocol/ledgerBlob.js'
import { type Portfolio, portfolioSchema } from '../../src/protocol/portfolio.js'
import { sealUserBlob } from '../../src/protocol/userBlob.js'

const ALICE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const KEY: Hex = '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
const ID: Hex = `0x${'ab'.repeat(32)}`
/** More shares, and more USDC, than there are of anything. A sale may name any amount. */
const MOST = 10n ** 24n
const ESCROW_LIMIT = 20

function symbolOf(index: number): string {
  return `LONGEST${String(index).padStart(4, '0')}`
}

function portfolioOf(positions: number, orders: number): Portfolio {
  const held = Array.from({ length: positions }, (_, index) => [symbolOf(index), { qty: MOST, locked: MOST }])
  const open = Array.from({ length: orders }, (_, index) => [
    `0x${String(index).padStart(64, '0')}`,
    {
      side: 'WITHDRAW',
      symbol: symbolOf(positions + index),
      notional: 2n ** 256n - 1n,
      escrow: MOST,
      locked: MOST,
      brokerOrderId: 'never-placed',
      placedAt: 4_000_000_000,
    },
  ])
  const { MAX_SAFE_INTEGER: nonce } = Number
  const encoded = { cash: MOST, positions: Object.fromEntries(held), openOrders: Object.fromEntries(open) }
  return { ...encoded, nonce, userPubKey: KEY }
}

it('the symbols of one account fit into an authorization with as many orders as the escrow allows, and the longest numbers', async () => {
  const portfolio = portfolioOf(MAX_POSITIONS - ESCROW_LIMIT, ESCROW_LIMIT)
  const value = z.encode(portfolioSchema, {
    ...portfolioOf(MAX_POSITIONS, 0),
    openOrders: portfolio.openOrders,
  })
  const key = new Uint8Array(32).fill(1)
  const place = { chainId: 1, ledger: ALICE, id: ID, version: 1n } as const
  const enclaveBlob = await sealBlob(value, key, place)
  const userBlob = await sealUserBlob(value, KEY, ID, 1n)
  const order = { orderId: ID, account: ALICE, asset: ID, amount: '1', commit: ID, state: '1' }
  const message = { ...order, version: '1', previous: ID, enclaveBlob, userBlob }
  const signature = `0x${'11'.repeat(64)}1b`
  expect(
    signedAuthorizationSchema.safeParse({ primaryType: 'PortfolioUpdate', message, signature }).success,
  ).toBe(true)
})
