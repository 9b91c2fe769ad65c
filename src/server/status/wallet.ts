import type { WalletFacts } from '../../chain/lenses.js'
import { sameAddress } from '../../protocol/address.js'
import type { WalletView } from '../../protocol/api.js'
import { type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'

/** Which screen a wallet sees. */
export function walletView(address: Hex, facts: WalletFacts): WalletView {
  if (facts.orgId !== ZERO_BYTES32) return inside(address, facts)
  return facts.foundingId === ZERO_BYTES32 ? outside(address, facts) : founder(address, facts)
}

function outside(address: Hex, facts: WalletFacts): WalletView {
  return {
    address,
    screen: 'found',
    orgId: null,
    role: null,
    waitingFor: [],
    leavingAt: null,
    invitation: invitationOf(facts),
  }
}

/** It has founded an institution that the platform has not admitted. It may still join another one. */
function founder(address: Hex, facts: WalletFacts): WalletView {
  return {
    ...outside(address, facts),
    screen: 'wait',
    orgId: facts.foundingId,
    role: 'founder',
    waitingFor: facts.kyc ? ['admission', 'policy'] : ['admission', 'kyc', 'policy'],
  }
}

/** An admin trades as an employee does, and waits for the same. */
function inside(
  address: Hex,
  { orgId, kyc, admin, admitted, leavingAt, policyVersion }: WalletFacts,
): WalletView {
  const waitingFor: WalletView['waitingFor'] = []
  if (!admitted) waitingFor.push('admission')
  if (!kyc) waitingFor.push('kyc')
  if (policyVersion === 0) waitingFor.push('policy')
  return {
    address,
    screen: waitingFor.length === 0 ? 'trade' : 'wait',
    orgId,
    role: sameAddress(admin, address) ? 'admin' : 'employee',
    waitingFor,
    leavingAt: leavingAt === 0 ? null : leavingAt,
    // A wallet in an institution can join no other.
    invitation: null,
  }
}

function invitationOf({ invitationId, invitedBy }: WalletFacts): WalletView['invitation'] {
  return invitationId === ZERO_BYTES32 ? null : { orgId: invitationId, admin: invitedBy }
}
