import type { Authorization } from '../../protocol/authorization.js'
import type { GasPurpose } from '../store/receipts.js'

/** `OrderEscrow.State.OPEN`. */
const OPEN = 1n

/** Derived from fields that the enclave signs and the contracts check. */
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
