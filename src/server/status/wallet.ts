import type { WalletFacts } from '../../chain/lenses.js'
import { sameAddress } from '../../protocol/address.js'
import type { WalletView } from '../../protocol/api.js'
import { type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'

/** Which screen a wallet sees. */
export function walletView(address: Hex, facts: WalletFacts): WalletView {
  return facts.orgId === ZERO_BYTES32 ? outside(address, facts) : inside(address, facts)
}

function outside(address: Hex, { invitation }: WalletFacts): WalletView {
  return {
    address,
    screen: 'found',
    orgId: null,
    role: null,
    waitingFor: [],
    invitedBy: invitation === ZERO_BYTES32 ? null : invitation,
  }
}

/** An admin trades as an employee does, and waits for the same. */
function inside(address: Hex, { orgId, kyc, admin, policyVersion }: WalletFacts): WalletView {
  const waitingFor: WalletView['waitingFor'] = []
  if (!kyc) waitingFor.push('kyc')
  if (policyVersion === 0) waitingFor.push('policy')
  return {
    address,
    screen: waitingFor.length === 0 ? 'trade' : 'wait',
    orgId,
    role: sameAddress(admin, address) ? 'admin' : 'employee',
    waitingFor,
    // One that is in an institution can join no other.
    invitedBy: null,
  }
}
