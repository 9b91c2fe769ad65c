import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import type { Authorization } from '../../protocol/authorization.js'
import { bytes32Schema } from '../../protocol/hex.js'

const order = { orderId: bytes32Schema, account: addressSchema }

/**
 * What an authorization's gas is for, and on whose quota it counts.
 * - `hold`: writes a portfolio for an open order, which begins to hold the order unless it is held already
 * - `finish`: ends an order that is held
 * - `account`: refunds an order that was never held, or pays a withdrawal
 * - `institution`: publishes a rulebook
 * - `platform`: mints or burns
 */
export const gasPurposeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('hold'), ...order }),
  z.strictObject({ kind: z.literal('finish'), ...order }),
  z.strictObject({ kind: z.literal('account'), account: addressSchema }),
  z.strictObject({ kind: z.literal('institution'), orgId: bytes32Schema }),
  z.strictObject({ kind: z.literal('platform') }),
])
export type GasPurpose = z.output<typeof gasPurposeSchema>

/** `OrderEscrow.State.OPEN`. */
const OPEN = 1n

/** As its own fields tell it, which the enclave has signed and the contracts hold against the order. */
export function gasPurposeOf({ primaryType, message }: Authorization): GasPurpose {
  switch (primaryType) {
    case 'PortfolioUpdate':
      return ofOrder(message.state === OPEN ? 'hold' : 'finish', message)
    case 'OrderSettlement':
      return ofOrder(message.payout === 0n ? 'finish' : 'account', message)
    case 'OrderRefund':
      return ofOrder(message.enclaveBlob === '0x' ? 'account' : 'finish', message)
    case 'PolicyUpdate':
      return { kind: 'institution', orgId: message.orgId }
    case 'BatchMint':
    case 'BatchBurn':
      return { kind: 'platform' }
  }
}

function ofOrder(
  kind: 'hold' | 'finish' | 'account',
  { orderId, account }: Pick<Extract<GasPurpose, { kind: 'hold' }>, 'orderId' | 'account'>,
): GasPurpose {
  return kind === 'account' ? { kind, account } : { kind, orderId, account }
}
