import { expect, it } from 'vitest'
import * as z from 'zod'
import { afterWrite, NOTHING_WRITTEN } from '../../../src/client/history/derive.js'
import { addressSchema, ZERO_ADDRESS } from '../../../src/protocol/address.js'
import { bytes32Schema, ZERO_BYTES32 } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { portfolioHashAfter } from '../../../src/protocol/ledgerBlob.js'
import { portfolioSchema } from '../../../src/protocol/portfolio.js'
import { uint64Schema, uint256Schema } from '../../../src/protocol/units.js'
import { readVectors } from '../../support/vectors.js'

const versionSchema = z.strictObject({
  primaryType: z.enum(['PortfolioUpdate', 'OrderSettlement', 'OrderRefund']),
  orderId: bytes32Schema,
  amount: uint256Schema,
  payoutAsset: bytes32Schema,
  payout: uint256Schema,
  version: uint64Schema,
  portfolio: portfolioSchema,
})
const vectors = readVectors(
  'history',
  z.strictObject({ versions: z.array(versionSchema), entries: z.array(z.record(z.string(), z.unknown())) }),
)

/** Only the values of the vectors count here: blobs and signatures have vectors of their own. */
const REST = { commit: ZERO_BYTES32, actions: ZERO_BYTES32, enclaveBlob: '0x01', userBlob: '0x01' } as const
const SIGNATURE = `0x${'01'.repeat(64)}1b` as const

it('the entries of the frozen versions are the frozen ones', () => {
  let known = NOTHING_WRITTEN
  const entries = vectors.versions.flatMap(({ primaryType, payoutAsset, payout, portfolio, ...write }) => {
    const asset = write.amount === 0n ? ZERO_BYTES32 : nameToBytes32('USDC')
    const previous = known.hash ?? ZERO_BYTES32
    const order = { ...REST, ...write, account: addressSchema.parse(ZERO_ADDRESS), asset, previous }
    const signed = {
      PortfolioUpdate: { primaryType: 'PortfolioUpdate', message: { ...order, state: 1n } },
      OrderSettlement: { primaryType: 'OrderSettlement', message: { ...order, payoutAsset, payout } },
      OrderRefund: { primaryType: 'OrderRefund', message: order },
    } as const
    const { version } = write
    const call = { ...REST, version, previous, signed: { ...signed[primaryType], signature: SIGNATURE } }
    const step = afterWrite(known, { version, call, opened: portfolio })
    expect(step.known.hash).toBe(portfolioHashAfter(previous, order))
    known = step.known
    return step.bodies
  })
  const text = JSON.stringify(entries, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
  expect(JSON.parse(text)).toEqual(vectors.entries)
})
