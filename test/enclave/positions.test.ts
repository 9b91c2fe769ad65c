import { expect, it } from 'vitest'
import { z } from 'zod'
import { MAX_POSITIONS } from '../../src/enclave/order/admission.js'
import { signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { sealBlob } from '../../src/protocol/ledgerBlob.js'
import { portfolioSchema } from '../../src/protocol/portfolio.js'
import { sealUserBlob } from '../../src/protocol/userBlob.js'

const ALICE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const KEY: Hex = '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
const ID: Hex = `0x${'ab'.repeat(32)}`
/** More shares, and more USDC, than there are of anything. A sale may name any amount. */
const MOST = 10n ** 24n
const ESCROW_LIMIT = 20
const symbols = Array.from(
  { length: MAX_POSITIONS },
  (_, index) => `LONGEST${String(index).padStart(4, '0')}`,
)

it('the symbols of one account fit into an authorization with as many orders as the escrow allows, and the longest numbers', async () => {
  const positions = Object.fromEntries(symbols.map((symbol) => [symbol, { qty: MOST, locked: MOST }]))
  const limit = { price: 2n ** 64n - 1n, timeInForce: 'GTD' } as const
  const limited = { side: 'SELL', notional: 2n ** 64n - 1n, escrow: MOST, locked: MOST, limit } as const
  const longest = { side: 'WITHDRAW', notional: 2n ** 256n - 1n, escrow: MOST, locked: MOST } as const
  const openOrders = Object.fromEntries(
    symbols.slice(-ESCROW_LIMIT).map((symbol, index) => [
      `0x${String(index).padStart(64, '0')}`,
      {
        ...(index % 2 ? longest : limited),
        symbol,
        brokerOrderId: 'never-placed',
        placedAt: 4_000_000_000,
      },
    ]),
  )
  const { MAX_SAFE_INTEGER: nonce } = Number
  const value = z.encode(portfolioSchema, { cash: MOST, positions, openOrders, nonce, userPubKey: KEY })
  const place = { chainId: 1, ledger: ALICE, id: ID, version: 1n } as const
  const enclaveBlob = await sealBlob(value, new Uint8Array(32).fill(1), place)
  const userBlob = await sealUserBlob(value, KEY, ID, 1n)
  const order = { orderId: ID, account: ALICE, asset: ID, amount: '1', commit: ID, state: '1' }
  const message = { ...order, version: '1', previous: ID, enclaveBlob, userBlob }
  const signed = { primaryType: 'PortfolioUpdate', message, signature: `0x${'11'.repeat(64)}1b` }
  expect(signedAuthorizationSchema.safeParse(signed).success).toBe(true)
})
